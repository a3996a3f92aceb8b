package chat

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead/app/transcript"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// message adds the rows of messages[i], and records the first one.
func (b *builder) message(items []transcript.Item, ms []protocol.Message, i int, cur *cursor, s State, now time.Time, last bool) []transcript.Item {
	before, was := len(items), *cur
	items = b.newDay(items, ms[i], cur, now)
	n := len(items)
	items = b.rowsOf(items, ms, i, cur, s, now, last)
	switch {
	case len(items) == n: // the message has no visible content
		cur.day, cur.speaker = was.day, was.speaker
		return items[:before]
	case ms[i].ID != "":
		b.rows[ms[i].ID] = items[n].Key
	}
	return items
}

func (b *builder) rowsOf(items []transcript.Item, ms []protocol.Message, i int, cur *cursor, s State, now time.Time, last bool) []transcript.Item {
	m := ms[i]
	newest := i == len(ms)-1 && !slices.ContainsFunc(s.Runs, func(r protocol.RunInfo) bool { return !r.Over() })
	id := string(m.ID)
	if id == "" {
		id = fmt.Sprint("at", i)
	}
	switch m.Role {
	case protocol.RoleUser:
		if m.Origin == protocol.OriginNotice {
			return b.item(items, "m/"+id, kindNotice, 32, noticeData{icon: "info", text: m.Content.Text()})
		}
		if m.Origin == protocol.OriginEvent {
			return b.event(items, "m/"+id, m, cur)
		}
		from := "You"
		if m.Origin != protocol.OriginPerson && m.Origin != protocol.OriginDirect {
			from = m.Origin
		}
		cur.speaker = from
		return b.text(items, "m/"+id, messageData{
			id: m.ID, run: m.RunID, from: from, time: clock(m.Timestamp, now), exact: exact(m.Timestamp, now),
			text: m.Content.Text(), plain: true, images: imageKeys(m.Content),
		})

	case protocol.RoleAssistant:
		if m.Origin == protocol.OriginNotice {
			return b.ending(items, "m/"+id, m, s, newest)
		}
		base := "m/" + id
		if m.RunID != "" { // reuse the rows of the streamed text
			cur.steps[m.RunID]++
			base = fmt.Sprintf("r/%s/%d", m.RunID, cur.steps[m.RunID])
		}
		results := map[string]*protocol.Message{}
		open := false // no later message, so calls may still be in progress
		j := i + 1
		for ; j < len(ms) && ms[j].Role == protocol.RoleToolResult; j++ {
			results[ms[j].ToolCallID] = &ms[j]
		}
		open = last && j == len(ms)
		texts, calls := 0, 0
		for k := range m.Content {
			block := &m.Content[k]
			switch block.Type {
			case protocol.BlockThinking:
				if block.Redacted || strings.TrimSpace(block.Thinking) != "" {
					items = b.head(items, base+"/head", m, cur, now)
				}
				items = b.thought(items, fmt.Sprintf("%s/think%d", base, k), block.Thinking, block.Redacted, false)
			case protocol.BlockText:
				if strings.TrimSpace(block.Text) != "" {
					items = b.answer(items, fmt.Sprintf("%s/text%d", base, texts), m, block.Text, cur, now)
					texts++
				}
			case protocol.BlockImage:
				if key := imageKeys(protocol.Content{*block}); key != "" {
					items = b.item(items, fmt.Sprintf("%s/image%d", base, k), kindMessage, 140, messageData{id: m.ID, images: key})
				}
			case protocol.BlockToolCall:
				items = b.head(items, base+"/head", m, cur, now)
				view := callView{block: block, result: results[block.ID]}
				if view.result == nil {
					view.info, view.question = find(s, m.RunID, block.ID)
					view.away = away(s, view.info)
				}
				items = b.call(items, fmt.Sprintf("%s/call%d", base, calls), view, now, last, open)
				if view.result != nil {
					b.rows[view.result.ID] = items[len(items)-1].Key
				}
				calls++
			}
		}
		if m.ErrorMessage != "" && m.StopReason == "error" && !known(s, m.RunID) {
			p, act := problem(&protocol.Error{Message: m.ErrorMessage, Code: protocol.CodeModel})
			if !newest {
				p, act = widgets.Problem{What: p.What}, actNone
			}
			items = b.item(items, base+"/error", kindProblem, 90, problemData{p, act, m.RunID})
		}
		return items

	case protocol.RoleToolResult:
		for j := i - 1; j >= 0; j-- { // the result belongs to the card of its call
			if ms[j].Role == protocol.RoleAssistant {
				for _, c := range ms[j].Content.Calls() {
					if c.ID == m.ToolCallID {
						return items
					}
				}
			}
			if ms[j].Role != protocol.RoleToolResult {
				break
			}
		}
		return b.call(items, "m/"+id, callView{result: &ms[i]}, now, true, false)
	}
	return items
}

// event adds a row about an event that the agent will answer.
func (b *builder) event(items []transcript.Item, key string, m protocol.Message, cur *cursor) []transcript.Item {
	cur.speaker = ""
	d := noticeData{icon: "info", text: "Fairlead received an event."}
	if c, ok := m.Completion(); ok {
		d.text = c.Words(b.machines.Name(string(c.NodeID)))
		if d.icon = "check"; c.Event != protocol.ExecFinished {
			d.icon = "warning"
		}
	}
	return b.item(items, key, kindNotice, 32, d)
}

// call adds a card. open reports that the call may be in progress although no record of it has
// arrived.
func (b *builder) call(items []transcript.Item, key string, v callView, now time.Time, fresh, open bool) []transcript.Item {
	if v.question != nil {
		v.seen = b.seen[v.question.ID]
	}
	t := v.tool(b.machines, now)
	if v.info == nil && v.result == nil && v.question == nil {
		t.Time, t.CanStop = "", false
		if open {
			t.Time = "starting"
		} else {
			t.State, t.Status = transcript.CallStopped, "not run"
		}
	}
	d := toolData{id: key, tool: t}
	info := v.info
	if info == nil && v.result != nil {
		info = v.result.Call
	}
	if info != nil {
		d.call = info.CallID
		if d.call != "" {
			d.id = string(d.call)
		}
	}
	if v.question != nil {
		d.approval, d.hash = v.question.ID, v.question.Hash
	}
	ran := t.Verb == "Bash" || info != nil && info.Effect == protocol.EffectExec
	d.open = v.question != nil || fresh && ran && t.State != transcript.CallDenied && t.State != transcript.CallWaiting
	estimate := float32(44)
	if d.open {
		estimate = 160
	}
	items = b.item(items, key, kindTool, estimate, d)
	if v.result != nil {
		if images := imageKeys(v.result.Content); images != "" {
			items = b.item(items, key+"/images", kindMessage, 140, messageData{id: v.result.ID, images: images})
		}
	}
	return items
}

// imageKeys returns the keys of a message's pictures: media keys, or data: with base64 data.
func imageKeys(c protocol.Content) string {
	var keys []string
	for _, b := range c {
		if b.Type != protocol.BlockImage {
			continue
		}
		switch {
		case b.MediaKey != "":
			keys = append(keys, b.MediaKey)
		case b.Data != "":
			keys = append(keys, "data:"+b.Data)
		}
	}
	return strings.Join(keys, "\n")
}

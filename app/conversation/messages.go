package conversation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead/app/markdown"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// message adds the rows of a message, and records the first one.
func (p *pass) message(i int) {
	m := p.state.Messages[i]
	begin, before := len(p.items), p.cursor
	p.newDay(m)
	first := len(p.items)
	p.messageRows(i)
	switch {
	case len(p.items) == first: // the message has no visible content
		p.cursor.day, p.cursor.speaker = before.day, before.speaker
		p.items = p.items[:begin]
	case m.ID != "":
		p.rows[m.ID] = p.items[first].Key
	}
}

func (p *pass) messageRows(i int) {
	m := p.state.Messages[i]
	key := widgets.Choose(m.ID == "", fmt.Sprint("m/at", i), "m/"+string(m.ID))
	switch {
	case m.Role == protocol.RoleUser && m.Origin == protocol.OriginNotice:
		p.add(key, kindNotice, 32, noticeData{icon: "info", text: m.Content.Text()})
	case m.Role == protocol.RoleUser && m.Origin == protocol.OriginEvent:
		p.event(key, m)
	case m.Role == protocol.RoleUser:
		byPerson := m.Origin == protocol.OriginPerson || m.Origin == protocol.OriginDirect
		sender := widgets.Choose(byPerson, "You", format.Capital(m.Origin))
		p.cursor.speaker = sender
		p.text(key, messageData{
			sentBy: p.sentBy(sender, m), id: m.ID, run: m.RunID, text: m.RequestText(), plain: true, images: ImageKeys(m.Content),
		})
	case m.Role == protocol.RoleAssistant && m.Origin == protocol.OriginNotice:
		p.runEnd(key, m, p.isNewest(i))
	case m.Role == protocol.RoleAssistant:
		p.assistant(key, i)
	case m.Role == protocol.RoleToolResult && !p.hasCard(i):
		p.call(key, callView{result: &p.state.Messages[i]}, true, false)
	}
}

// isNewest reports whether no message and no run follows a message.
func (p *pass) isNewest(i int) bool {
	return i == len(p.state.Messages)-1 && !slices.ContainsFunc(p.state.Runs, func(r protocol.RunInfo) bool { return !r.Over() })
}

// hasCard reports whether a result is shown in the card of its call.
func (p *pass) hasCard(i int) bool {
	ms := p.state.Messages
	for j := i - 1; j >= 0; j-- {
		if ms[j].Role == protocol.RoleAssistant && slices.ContainsFunc(ms[j].Content.Calls(), func(c protocol.Block) bool { return c.ID == ms[i].ToolCallID }) {
			return true
		}
		if ms[j].Role != protocol.RoleToolResult {
			return false
		}
	}
	return false
}

// assistant adds the rows of an answer: text, thinking, pictures, and the cards of its calls.
func (p *pass) assistant(key string, i int) {
	ms := p.state.Messages
	m := ms[i]
	if m.RunID != "" { // reuse the rows of the streamed text
		p.cursor.steps[m.RunID]++
		key = fmt.Sprintf("r/%s/%d", m.RunID, p.cursor.steps[m.RunID])
	}
	results := map[string]*protocol.Message{}
	next := i + 1
	for ; next < len(ms) && ms[next].Role == protocol.RoleToolResult; next++ {
		results[ms[next].ToolCallID] = &ms[next]
	}
	open := p.latest && next == len(ms) // no later message, so calls may still be in progress
	texts, calls := 0, 0
	for k := range m.Content {
		block := &m.Content[k]
		switch block.Type {
		case protocol.BlockThinking:
			if block.Redacted || strings.TrimSpace(block.Thinking) != "" {
				p.sender(key+"/head", m)
			}
			p.thinking(fmt.Sprintf("%s/think%d", key, k), block.Thinking, block.Redacted, false)
		case protocol.BlockText:
			if strings.TrimSpace(block.Text) != "" {
				p.answer(fmt.Sprintf("%s/text%d", key, texts), m, block.Text)
				texts++
			}
		case protocol.BlockImage:
			if images := ImageKeys(protocol.Content{*block}); images != "" {
				p.add(fmt.Sprintf("%s/image%d", key, k), kindMessage, 140, messageData{id: m.ID, images: images})
			}
		case protocol.BlockToolCall:
			p.sender(key+"/head", m)
			v := callView{block: block, result: results[block.ID]}
			if v.result == nil {
				v.info, v.approval = p.state.liveCall(m.RunID, block.ID)
				v.offline = v.info != nil && p.state.IsOffline(v.info.Node)
			}
			p.call(fmt.Sprintf("%s/call%d", key, calls), v, p.latest, open)
			if v.result != nil {
				p.rows[v.result.ID] = p.items[len(p.items)-1].Key
			}
			calls++
		}
	}
	if m.ErrorMessage != "" && m.StopReason == "error" && !(p.latest && p.state.showsFailure(m.RunID)) {
		problem, action := runProblem(protocol.ErrModel.With(m.ErrorMessage))
		if !p.isNewest(i) {
			problem, action = widgets.Problem{Title: problem.Title}, actionNone
		}
		p.add(key+"/error", kindProblem, 90, problemData{problem, action, m.RunID})
	}
}

// event adds a row about an event that the agent will answer.
func (p *pass) event(key string, m protocol.Message) {
	p.cursor.speaker = ""
	d := noticeData{icon: "info", text: "Fairlead received an event."}
	if c, ok := m.Completion(); ok {
		d.text = c.Words(p.machines.Name(string(c.NodeID)))
		d.icon = "check"
		if c.Event != protocol.ExecFinished {
			d.icon = "warning"
		}
	}
	p.add(key, kindNotice, 32, d)
}

// runEnd adds a row for a run that failed or was stopped. While the run itself is known, its own
// row says more. It can be retried while it is the latest run of the chat.
func (p *pass) runEnd(key string, m protocol.Message, newest bool) {
	if m.ErrorMessage == "" {
		icon := widgets.Choose(m.StopReason == protocol.StopBlind, "info", "stop")
		p.add(key, kindNotice, 32, noticeData{icon: icon, text: m.Content.Text()})
		return
	}
	if p.latest && p.state.showsFailure(m.RunID) {
		return
	}
	d := problemData{problem: widgets.Problem{Title: format.Sentence(m.ErrorMessage)}, run: m.RunID}
	if newest && m.StopReason == "error" { // otherwise it would end in the same way
		d.problem.Button, d.action = "Try again", actionRetry
	}
	p.add(key, kindProblem, 60, d)
}

// pieceSize is the size in bytes from which a message is split into several rows.
const pieceSize = 2500

func (p *pass) text(key string, d messageData) {
	split := widgets.Choose(d.plain, markdown.SplitPlain, markdown.SplitParts)
	images := d.images
	parts := split(d.text, pieceSize)
	for i, part := range parts {
		k := key
		if i > 0 {
			k = fmt.Sprintf("%s/%d", key, i)
			d.sentBy = sentBy{}
		}
		d.text, d.images = part, ""
		if i == len(parts)-1 {
			d.images = images
		}
		p.add(k, kindMessage, 40+float32(len(part))/3.5, d)
	}
}

// startSpeech reports whether the agent's name must be shown: above the first row of a run.
func (p *pass) startSpeech(run protocol.RunID) bool {
	speaker := "Fairlead/" + string(run)
	if p.cursor.speaker == speaker {
		return false
	}
	p.cursor.speaker = speaker
	return true
}

func (p *pass) sentBy(sender string, m protocol.Message) sentBy {
	return sentBy{sender, formatTime(m.Timestamp, p.now), wording.FullTime(m.Timestamp, p.now)}
}

// answer adds the agent's text, with its name above the first text of a run.
func (p *pass) answer(key string, m protocol.Message, text string) {
	d := messageData{id: m.ID, run: m.RunID, text: text}
	if p.startSpeech(m.RunID) {
		d.sentBy = p.sentBy("Fairlead", m)
	}
	p.text(key, d)
}

// sender adds the agent's name alone, above a card that comes first.
func (p *pass) sender(key string, m protocol.Message) {
	if p.startSpeech(m.RunID) {
		p.add(key, kindMessage, 40, messageData{sentBy: p.sentBy("Fairlead", m), id: m.ID, run: m.RunID})
	}
}

func (p *pass) thinking(key, text string, hidden, live bool) {
	title := "Thought"
	switch {
	case hidden:
		title, text = "Thinking, hidden by the provider", ""
	case strings.TrimSpace(text) == "":
		return
	case live:
		title = "Thinking…"
	}
	p.add(key, kindThinking, 28, thinkingData{key, title, strings.TrimSpace(text)})
}

// newDay adds a row with the date of a new day. A chat that began today needs none.
func (p *pass) newDay(m protocol.Message) {
	if m.Timestamp == 0 {
		return
	}
	text := wording.DayName(time.UnixMilli(m.Timestamp).In(p.now.Location()), p.now)
	if text == p.cursor.day || p.cursor.day == "" && text == "Today" {
		p.cursor.day = text
		return
	}
	p.cursor.day, p.cursor.speaker = text, ""
	p.add("day/"+string(m.ID), kindDay, 44, dayData{text})
}

// ImageKeys returns the keys of a message's pictures: media keys, or data: with base64 data.
func ImageKeys(c protocol.Content) string {
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

package chat

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead/app/state"
	"fairlead/app/transcript"
	"fairlead/gateway/protocol"
)

// live adds the activity in progress: streamed text, calls without a stored message, approvals, and
// the runs' states.
func (b *builder) live(items []transcript.Item, s State, cur *cursor, now time.Time) []transcript.Item {
	shown := map[string]bool{}
	for _, it := range items[min(len(b.kept), len(items)):] {
		shown[it.Key] = true
		if d, ok := it.Data.(toolData); ok {
			shown["call/"+string(d.call)], shown["ask/"+string(d.approval)] = true, true
		}
	}
	add := func(extra []transcript.Item) {
		for _, it := range extra {
			if !shown[it.Key] {
				shown[it.Key] = true
				items = append(items, it)
			}
		}
	}
	for _, r := range s.Runs {
		step := r.Step
		if step == 0 {
			step = cur.steps[r.RunID] + 1
		}
		base := fmt.Sprintf("r/%s/%d", r.RunID, step)
		m := protocol.Message{RunID: r.RunID, Timestamp: r.StartedAt}
		if !r.Over() {
			if strings.TrimSpace(r.Thinking) != "" && !shown[base+"/think0"] {
				add(b.head(nil, base+"/head", m, cur, now))
			}
			add(b.thought(nil, base+"/think0", r.Thinking, false, r.Text == "" && r.State != protocol.RunTools))
			if strings.TrimSpace(r.Text) != "" && !shown[base+"/text0"] {
				add(b.answer(nil, base+"/text0", m, r.Text, cur, now))
			}
		}
		for i := range s.Calls {
			c := s.Calls[i]
			if c.RunID == r.RunID && !shown["call/"+string(c.CallID)] {
				if !c.Direct {
					add(b.head(nil, base+"/head", m, cur, now))
				}
				add(b.call(nil, "call/"+string(c.CallID), callView{info: &c, question: question(s, c), away: away(s, &c)}, now, true, true))
			}
		}
		items = b.run(items, r, now)
	}
	for i := range s.Calls { // a call by the person, outside any run
		c := s.Calls[i]
		if !shown["call/"+string(c.CallID)] {
			shown["call/"+string(c.CallID)] = true
			add(b.call(nil, "own/"+string(c.CallID), callView{info: &c, question: question(s, c), away: away(s, &c)}, now, true, true))
		}
	}
	for i := range s.Approvals {
		q := s.Approvals[i]
		if q.Kind == protocol.AskContinue {
			t := transcript.Call{
				Verb: "Continue?", Argument: q.Why, State: transcript.CallWaiting, Status: state.WaitingWord(q), CanAnswer: true,
				AllowEnabled: b.seen[q.ID].armed(q, now),
			}
			items = b.item(items, "ask/"+string(q.ID), kindTool, 80, toolData{id: string(q.ID), tool: t, approval: q.ID, hash: q.Hash, open: true})
		}
	}
	return items
}

// run adds the row of a run's state.
func (b *builder) run(items []transcript.Item, r protocol.RunInfo, now time.Time) []transcript.Item {
	key := "run/" + string(r.RunID)
	switch r.State {
	case protocol.RunQueued:
		return b.item(items, key, kindQueued, 40, queuedData{r.RunID, r.Message})
	case protocol.RunThinking:
		text := "Working…"
		if r.Thinking != "" {
			return items
		}
		if d := time.Duration(now.UnixMilli()-r.StartedAt) * time.Millisecond; r.StartedAt > 0 && d >= 3*time.Second {
			text = fmt.Sprintf("Working… %s", strings.Replace(span(d.Truncate(time.Second)), ".0 s", " s", 1))
		}
		return b.item(items, key, kindNotice, 32, noticeData{icon: "activity", text: text})
	case protocol.RunRetrying:
		text := r.Notice
		if text == "" {
			text = "Trying again…"
		}
		return b.item(items, key, kindNotice, 32, noticeData{icon: "reset", text: text})
	case protocol.RunFailed:
		p, act := problem(r.Error)
		return b.item(items, key, kindProblem, 90, problemData{p, act, r.RunID})
	case protocol.RunCancelled:
		return b.item(items, key, kindNotice, 32, noticeData{icon: "stop", text: "Stopped."})
	}
	if r.Notice != "" && !r.Over() {
		return b.item(items, key, kindNotice, 32, noticeData{icon: "info", text: r.Notice})
	}
	return items
}

// known reports whether the end of a run is shown by its own row.
func known(s State, run protocol.RunID) bool {
	for _, r := range s.Runs {
		if r.RunID == run && r.State == protocol.RunFailed {
			return true
		}
	}
	return false
}

// away reports whether a call's machine is not connected.
func away(s State, c *protocol.CallInfo) bool { return c != nil && offline(s, c.Node) }

// offline reports whether a machine is known and not connected.
func offline(s State, id protocol.NodeID) bool {
	return slices.ContainsFunc(s.Nodes, func(n protocol.NodeInfo) bool { return n.ID == id && !n.Online })
}

// find returns the known state of a call without a result.
func find(s State, run protocol.RunID, toolCall string) (*protocol.CallInfo, *protocol.Approval) {
	for i := range s.Calls {
		c := &s.Calls[i]
		if c.ToolCallID == toolCall && (c.RunID == run || c.RunID == "" || run == "") {
			return c, question(s, *c)
		}
	}
	return nil, nil
}

func question(s State, c protocol.CallInfo) *protocol.Approval {
	for i := range s.Approvals {
		q := &s.Approvals[i]
		if q.State != protocol.ApprovalPending && q.State != "" {
			continue
		}
		if q.CallID != "" && q.CallID == c.CallID || c.ApprovalID != "" && q.ID == c.ApprovalID {
			return q
		}
	}
	return nil
}

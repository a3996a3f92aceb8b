package chat

import (
	"time"

	"fairlead/app/style"
	"fairlead/app/transcript"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// Kinds of rows.
const (
	kindMessage = iota
	kindTool
	kindFold
	kindNotice
	kindProblem
	kindQueued
	kindDay
)

// Data of the rows. All types are comparable: a row is redrawn only when its data changed.
type (
	messageData struct {
		id     protocol.MessageID // ID of the stored message; empty while streaming
		run    protocol.RunID
		from   string
		time   string
		exact  string
		text   string
		plain  bool
		images string // keys, one per line
	}
	toolData struct {
		id       string // ID of the card, for its expanded state
		tool     transcript.Call
		call     protocol.CallID
		approval protocol.ApprovalID
		hash     string // hash of the approval
		open     bool   // default, unless the reader changed it
	}
	foldData struct{ id, title, text string }
	// noticeData and problemData include their button's action.
	noticeData struct {
		icon, text, button, act string
	}
	problemData struct {
		problem widgets.Problem
		act     string
		run     protocol.RunID
	}
	dayData    struct{ text string }
	queuedData struct {
		run  protocol.RunID
		text string
	}
)

// Actions of notices.
const (
	actReload = "reload"
	actResume = "resume"
)

// builder creates rows from states. It caches the rows of messages that can no longer change, so
// that a streamed piece after 20,000 messages costs little more than a comparison.
type builder struct {
	machines *style.Machines
	stamps   map[string]stamped
	seen     map[protocol.ApprovalID]sight
	rows     map[protocol.MessageID]string // key of a message's first row; of a result, its card

	day        int
	kept       []transcript.Item // rows of messages[:keptN]
	keptN      int
	keptFirst  protocol.MessageID
	keptLast   protocol.MessageID
	keptCursor cursor
}

type stamped struct {
	data  any
	stamp uint64
}

// cursor is the context that a message's rows need from earlier messages.
type cursor struct {
	speaker string // previous author, with the run
	day     string // latest day with a heading
	steps   map[protocol.RunID]int
}

func (c cursor) clone() cursor {
	steps := make(map[protocol.RunID]int, len(c.steps))
	for k, v := range c.steps {
		steps[k] = v
	}
	return cursor{c.speaker, c.day, steps}
}

func newBuilder(machines *style.Machines) *builder {
	return &builder{
		machines: machines, stamps: map[string]stamped{}, seen: map[protocol.ApprovalID]sight{},
		rows: map[protocol.MessageID]string{}, keptCursor: cursor{steps: map[protocol.RunID]int{}},
	}
}

func (b *builder) item(items []transcript.Item, key string, kind int, estimate float32, data any) []transcript.Item {
	s, ok := b.stamps[key]
	if !ok || s.data != data {
		s = stamped{data, s.stamp + 1}
		b.stamps[key] = s
	}
	return append(items, transcript.Item{Key: key, Kind: kind, Stamp: s.stamp, Estimate: estimate, Data: data})
}

// build returns the rows of a state.
func (b *builder) build(s State, now time.Time) []transcript.Item {
	ms := s.Messages
	day := now.Year()*1000 + now.YearDay()
	if day != b.day || b.keptN > len(ms) || b.keptN > 0 && (ms[0].ID != b.keptFirst || ms[b.keptN-1].ID != b.keptLast) {
		b.day, b.kept, b.keptN, b.keptCursor = day, nil, 0, cursor{steps: map[protocol.RunID]int{}}
	}
	settled := 0 // messages before the person's latest one
	for i := len(ms) - 1; i >= b.keptN; i-- {
		if ms[i].Role == protocol.RoleUser {
			settled = i
			break
		}
	}
	for b.keptN < settled {
		b.kept = b.message(b.kept, ms, b.keptN, &b.keptCursor, s, now, false)
		b.keptN++
	}
	if b.keptN > 0 {
		b.keptFirst, b.keptLast = ms[0].ID, ms[b.keptN-1].ID
	}

	items := make([]transcript.Item, 0, len(b.kept)+32)
	if s.More {
		items = b.item(items, "older", kindNotice, 32, noticeData{icon: "clock", text: "Loading earlier messages…"})
	}
	items = append(items, b.kept...)
	cur := b.keptCursor.clone()
	for i := b.keptN; i < len(ms); i++ {
		items = b.message(items, ms, i, &cur, s, now, true)
	}
	items = b.live(items, s, &cur, now)
	if s.Offline != "" {
		items = b.item(items, "offline", kindNotice, 32, noticeData{icon: "warning", text: s.Offline})
	}
	if s.Paused {
		items = b.item(items, "paused", kindNotice, 32, noticeData{"pause", "The agent is paused and starts no new work.", "Resume", actResume})
	}
	return items
}

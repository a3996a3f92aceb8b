package chat

import (
	"bytes"
	"encoding/json"
	"time"

	"fairlead/app/state"
	"fairlead/app/transcript"
	"fairlead/gateway/protocol"
)

// sight records since when a card has shown the whole question. The zero value is never.
type sight struct {
	hash string // hash of the approval
	at   time.Time
}

// armAfter is the time of visibility after which the card's Allow is enabled, so that a click meant
// for something else does not allow: one second, plus one for the inaccuracy of the chat's clock.
const armAfter = 2 * time.Second

func (s sight) armed(q protocol.Approval, now time.Time) bool {
	return !s.at.IsZero() && s.hash == q.Hash && now.Sub(s.at) >= armAfter
}

// saw records whether a card shows the whole question. A question that changed or was partly hidden
// must be seen again.
func (b *builder) saw(id protocol.ApprovalID, hash string, whole bool, now time.Time) {
	switch s, ok := b.seen[id]; {
	case id == "":
	case !whole:
		delete(b.seen, id)
	case !ok || s.hash != hash:
		b.seen[id] = sight{hash, now}
	}
}

// oneText reports whether the arguments consist of a single text.
func oneText(in map[string]any) bool {
	for _, v := range in {
		_, ok := v.(string)
		return ok && len(in) == 1
	}
	return false
}

// ask makes a card show the whole question rather than a summary: all arguments of unknown tools,
// and hidden characters. A call with a warning of the review cannot be allowed from a card.
func ask(t *transcript.Call, q protocol.Approval, args json.RawMessage) {
	switch q.Tool {
	case "", "Bash", "Read", "Write", "Edit", "Glob", "Grep":
	default:
		var in map[string]any
		var all bytes.Buffer
		if json.Unmarshal(args, &in) == nil && len(in) > 0 && !oneText(in) && json.Compact(&all, args) == nil {
			t.Argument, t.Input = all.String(), ""
		}
	}
	var hidden [3]bool
	t.Argument, hidden[0] = state.Reveal(t.Argument)
	t.Input, hidden[1] = state.Reveal(t.Input)
	t.Diff, hidden[2] = state.Reveal(t.Diff)
	t.NeedsReview = hidden != [3]bool{} || q.Preview != nil && q.Preview.Truncated ||
		state.Lookalikes(t.Argument+"\n"+t.Input+"\n"+t.Diff) != nil
}

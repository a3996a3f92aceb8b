package chat

import (
	"bytes"
	"encoding/json"
	"time"

	"fairlead/app/state"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// sight is since when a card shows all of a question. The zero value is not at all.
type sight struct {
	hash string // of what was asked
	at   time.Time
}

// armAfter is how long that must be before the card's Allow can be pressed, so that a click meant for something else does not allow it: a second, and
// the one that the clock of a chat may be behind.
const armAfter = 2 * time.Second

func (s sight) armed(q protocol.Approval, now time.Time) bool {
	return !s.at.IsZero() && s.hash == q.Hash && now.Sub(s.at) >= armAfter
}

// saw notes whether a card shows all of a question. A question that was changed must be seen again, and so must one of which not all was shown since.
func (b *builder) saw(id protocol.ApprovalID, hash string, whole bool, now time.Time) {
	switch s, ok := b.seen[id]; {
	case id == "":
	case !whole:
		delete(b.seen, id)
	case !ok || s.hash != hash:
		b.seen[id] = sight{hash, now}
	}
}

// oneText reports whether arguments are a text and nothing else.
func oneText(in map[string]any) bool {
	for _, v := range in {
		_, ok := v.(string)
		return ok && len(in) == 1
	}
	return false
}

// ask makes a card show what is asked, and not only what tells its line from others: of a tool that is not ours all arguments, and what would not be
// seen. What the review warns of is not allowed from a card.
func ask(t *widgets.Tool, q protocol.Approval, args json.RawMessage) {
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
	t.Review = hidden != [3]bool{} || q.Preview != nil && q.Preview.Truncated ||
		state.Lookalikes(t.Argument+"\n"+t.Input+"\n"+t.Diff) != nil
}

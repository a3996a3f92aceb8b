package chat

import (
	"bytes"
	"encoding/json"
	"time"

	"fairlead/app/state"
	"fairlead/app/transcript"
	"fairlead/gateway/protocol"
)

// sighting records since when a card has shown the whole approval. The zero value is never.
type sighting struct {
	hash  string // hash of the approval
	since time.Time
}

// armAfter is the time of visibility after which the card's Allow is enabled, so that a click meant
// for something else does not allow: one second, plus one for the inaccuracy of the chat's clock.
const armAfter = 2 * time.Second

// allows reports whether the card may allow the approval now.
func (s sighting) allows(q protocol.Approval, now time.Time) bool {
	return !s.since.IsZero() && s.hash == q.Hash && now.Sub(s.since) >= armAfter
}

// recordSighting records whether a card shows the whole approval. One that changed or was partly
// hidden must be seen again.
func (b *builder) recordSighting(id protocol.ApprovalID, hash string, whole bool, now time.Time) {
	switch s, ok := b.seen[id]; {
	case id == "":
	case !whole:
		delete(b.seen, id)
	case !ok || s.hash != hash:
		b.seen[id] = sighting{hash, now}
	}
}

// isSingleText reports whether the arguments consist of a single text.
func isSingleText(in map[string]any) bool {
	for _, v := range in {
		_, ok := v.(string)
		return ok && len(in) == 1
	}
	return false
}

// showWholeCall makes a card show the whole question rather than a summary: all arguments of
// unknown tools, and hidden characters. A call with a warning of the review cannot be allowed from
// a card.
func showWholeCall(c *transcript.Call, q protocol.Approval, args json.RawMessage) {
	switch q.Tool {
	case "", "Bash", "Read", "Write", "Edit", "Glob", "Grep":
	default:
		var in map[string]any
		var all bytes.Buffer
		if json.Unmarshal(args, &in) == nil && len(in) > 0 && !isSingleText(in) && json.Compact(&all, args) == nil {
			c.Argument, c.Input = all.String(), ""
		}
	}
	var hidden [3]bool
	c.Argument, hidden[0] = state.Reveal(c.Argument)
	c.Input, hidden[1] = state.Reveal(c.Input)
	c.Diff, hidden[2] = state.Reveal(c.Diff)
	c.NeedsReview = hidden != [3]bool{} || q.Preview != nil && q.Preview.Truncated ||
		state.Lookalikes(c.Argument+"\n"+c.Input+"\n"+c.Diff) != nil
}

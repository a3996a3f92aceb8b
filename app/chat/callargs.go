package chat

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"fairlead/app/state"
	"fairlead/app/transcript"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// maxOutput is how much of the end of a result a card shows, in bytes. Copy copies the same part.
const maxOutput = 256 << 10

// outputEnd returns the end of a result, from a line's beginning if one is near the limit.
func outputEnd(s string) string {
	s = s[len(s)-maxOutput:]
	if i := strings.IndexByte(s, '\n'); i >= 0 && i < maxOutput/8 {
		return s[i+1:]
	}
	return strings.TrimLeftFunc(s, func(r rune) bool { return r == utf8.RuneError })
}

// argument returns a one-line summary of a call's arguments, and the full text if that is longer.
func argument(raw json.RawMessage) (line, whole string) {
	var args map[string]any
	if json.Unmarshal(raw, &args) != nil {
		return "", ""
	}
	get := func(keys ...string) string {
		for _, k := range keys {
			if s, ok := args[k].(string); ok && s != "" {
				return s
			}
		}
		return ""
	}
	path := get("path", "file_path", "filePath", "file")
	switch {
	case get("command") != "":
		whole = get("command")
	case get("pattern") != "":
		whole = get("pattern")
		if path != "" && path != "." {
			line = whole + "  in " + path
		}
	case path != "":
		line = path
		if content := get("content"); content != "" {
			whole = content
		} else if old, new := get("oldString", "old_string"), get("newString", "new_string"); old != "" || new != "" {
			whole = "− " + strings.ReplaceAll(old, "\n", "\n− ") + "\n+ " + strings.ReplaceAll(new, "\n", "\n+ ")
		}
	case get("query", "url", "name", "text") != "":
		whole = get("query", "url", "name", "text")
	case len(args) > 0:
		var b bytes.Buffer
		if json.Compact(&b, raw) == nil {
			line = b.String()
		}
		var pretty bytes.Buffer
		if json.Indent(&pretty, raw, "", "  ") == nil && len(line) > 60 {
			whole = pretty.String()
		}
	}
	if line == "" {
		line = whole
	}
	first, _, many := strings.Cut(strings.TrimSpace(line), "\n")
	if many {
		first += " …"
	}
	if !many && len(first) < 60 && whole != "" && strings.HasPrefix(line, whole) {
		whole = ""
	}
	return first, whole
}

// sighting records since when a card has shown the whole approval. The zero value is never.
type sighting struct {
	hash  string // hash of the approval
	since time.Time
}

// armAfter is the time of visibility after which the card's Allow is enabled, so that a click meant
// for something else does not allow: one second, plus one for the inaccuracy of the chat's clock.
const armAfter = 2 * time.Second

func (s sighting) allows(q protocol.Approval, now time.Time) bool {
	return !s.since.IsZero() && s.hash == q.Hash && now.Sub(s.since) >= armAfter
}

// allowHint says why Allow waits on the card of a question, as in the dialog.
func allowHint(c transcript.Call) string {
	return widgets.Choose(c.AllowEnabled, "", state.WhyAllowWaits)
}

// recordSighting records whether a card shows the whole approval; a changed one must be seen again.
func (b *builder) recordSighting(id protocol.ApprovalID, hash string, whole bool, now time.Time) {
	switch s, ok := b.seen[id]; {
	case id == "":
	case !whole:
		delete(b.seen, id)
	case !ok || s.hash != hash:
		b.seen[id] = sighting{hash, now}
	}
}

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

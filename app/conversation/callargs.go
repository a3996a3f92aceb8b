package conversation

import (
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"fairlead/app/question"
	"fairlead/app/transcript"
	"fairlead/app/widgets"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
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
		whole = display.ArgumentLines(raw)
		line = strings.ReplaceAll(whole, "\n", ", ")
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

func (s sighting) allows(q protocol.Question, now time.Time) bool {
	return !s.since.IsZero() && s.hash == q.Hash && now.Sub(s.since) >= armAfter
}

// allowHint says why Allow waits on the card of a question, as in the dialog.
func allowHint(c transcript.Call) string {
	return widgets.Choose(c.AllowEnabled, "", question.WhyWaits("Allow"))
}

// recordSighting records whether a card shows the whole approval; a changed one must be seen again.
func (b *builder) recordSighting(id protocol.QuestionID, hash string, whole bool, now time.Time) {
	switch s, ok := b.seen[id]; {
	case id == "":
	case !whole:
		delete(b.seen, id)
	case !ok || s.hash != hash:
		b.seen[id] = sighting{hash, now}
	}
}

// showWholeCall makes a card show the whole question rather than a summary: the subject with all
// arguments, what the dialog shows beside it, and hidden characters.
func showWholeCall(c *transcript.Call, q protocol.Question) {
	if len(q.Args) > 0 {
		subject, _ := wording.Reveal(display.Subject(q))
		c.Argument, c.Input = subject, ""
		if first, _, many := strings.Cut(subject, "\n"); many {
			c.Argument, c.Input = first+" …", subject
		}
	}
	c.Diff, _ = wording.Reveal(c.Diff)
	c.Facts, _ = wording.Reveal(question.CardFacts(q))
	c.NeedsReview = !question.FitsOnCard(q)
	if display.IsKeep(q) {
		c.Verb, c.DenyText = display.AnswerWords(q)
	}
}

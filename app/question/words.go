package question

import (
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"fairlead/app/feed"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
)

// Words are what a question says outside its dialog.
type Words struct {
	Title string // of the dialog, a card and a notification
	Line  string // in lists and the menu of the tray; empty is Title
	Body  string // of a notification, below Title
	// Whole reports whether Title and Body have everything that the person must see, so that a
	// notification may allow it.
	Whole bool
	// CanDeny reports whether a notification may deny it.
	CanDeny bool
}

// UnknownWords are the words about a question of a kind that this version does not know.
func UnknownWords(q protocol.Question, _ feed.View, _ time.Time) Words {
	return Words{Title: "A question that this version cannot show", Body: "Update Fairlead on this computer to answer it."}
}

// editable are the arguments that a person may change before a call runs, with their labels.
var editable = map[string]struct{ name, label string }{
	"Bash":  {"command", "The command"},
	"Write": {"content", "The content"},
	"Edit":  {"newString", "The new text"},
}

// onMachine says where a call runs; it is empty for the gateway's own tools.
func onMachine(id protocol.NodeID, name string) string {
	if id == protocol.NativePrefix {
		return " on the gateway"
	}
	return " on " + name
}

// WaitingText says that an approval needs the person.
const WaitingText = "waiting for you"

var answerWords = map[string]string{
	protocol.QuestionAllowed: "allowed",
	protocol.QuestionEdited:  "changed and allowed",
	protocol.QuestionDenied:  "denied",
}

// OutcomeText describes how an approval was closed, and by whom.
func OutcomeText(a protocol.Question) string {
	answer := answerWords[a.State]
	if a.State == protocol.QuestionAllowed && a.Scope == protocol.ScopeSession {
		answer += " in this chat"
	}
	switch {
	case answer != "":
		return answer + wording.By(a.AnsweredBy)
	case a.State == protocol.QuestionSuperseded:
		return "decided by your rules"
	case a.State == protocol.QuestionExpired:
		return "not answered in time"
	}
	return "no longer needed"
}

// EndText says how a question ended that was not answered here, after its name: "was answered
// elsewhere: denied by phone".
func EndText(q protocol.Question) string {
	switch {
	case answerWords[q.State] != "":
		return "was answered elsewhere: " + OutcomeText(q)
	case q.State == protocol.QuestionSuperseded, q.State == protocol.QuestionExpired:
		return "was " + OutcomeText(q)
	}
	return "is " + OutcomeText(q)
}

// Lookalikes returns up to five different words that mix Latin letters with similar Greek or
// Cyrillic ones, together with those letters: "аpple (а is U+0430)".
func Lookalikes(s string) []string {
	var out []string
	for _, word := range strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) }) {
		latin := false
		var other []string
		for _, r := range word {
			latin = latin || unicode.Is(unicode.Latin, r)
			if letter := fmt.Sprintf("%c is U+%04X", r, r); unicode.In(r, unicode.Greek, unicode.Cyrillic) && !slices.Contains(other, letter) {
				other = append(other, letter)
			}
		}
		if entry := word + " (" + strings.Join(other, ", ") + ")"; latin && other != nil && !slices.Contains(out, entry) && len(out) < 5 {
			out = append(out, entry)
		}
	}
	return out
}

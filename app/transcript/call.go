package transcript

import (
	"strings"
	"unicode/utf8"

	"fyne.io/fyne/v2"

	"fairlead/app/code"
	"fairlead/app/diff"
	"fairlead/app/style"
)

// CallState is the state of a tool call.
type CallState int

const (
	CallWaiting CallState = iota // waiting for the person
	CallRunning
	CallDone
	CallFailed
	CallDenied
	CallStopped
	CallUnknown // the outcome is unknown
)

// Call is the content of a call's card. Its texts are formatted for display.
type Call struct {
	Verb     string
	Machine  string
	Color    fyne.ThemeColorName // of the machine
	Argument string              // one line
	State    CallState
	// for the state, such as "waiting for you", "exit 2", "denied"; empty if the icon suffices
	Status  string
	Time    string // "0.2 s", "running 12 s"
	Added   int    // lines of a diff
	Removed int
	// the full command or input text, shown in the expanded card if it says more than Argument
	Input        string
	Diff         string // unified diff; shown instead of Input
	Output       string // output so far, or its end
	Facts        string // about a question, beside its subject
	Size         string // of the output, if it is more than its lines
	CanLoad      bool   // the whole output can be loaded
	Brief        string // a brief note beside the size, such as "exit 0"
	Note         string // a sentence below the output
	Undo         string // text of the button that reverts a change of a file or repeats it, or empty
	CanAnswer    bool   // the person can answer here
	AllowEnabled bool   // Allow is enabled, provided that the card shows the whole question
	AllowHint    string // why Allow is not enabled, or empty
	NeedsReview  bool   // the card cannot show the whole question: it can be allowed in the review only
	DenyText     string // of the button that denies; empty for "Deny"
	CanStop      bool
}

// stateIcons are the icons of the states, and their colours.
var stateIcons = map[CallState]struct {
	name  string
	color fyne.ThemeColorName
}{
	CallWaiting: {"", style.ColorNeedsYou},
	CallRunning: {"", style.ColorMuted},
	CallDone:    {"check", style.ColorGood},
	CallFailed:  {"cross", style.ColorBad},
	CallDenied:  {"denied", style.ColorBad},
	CallStopped: {"stop", style.ColorMuted},
	CallUnknown: {"question", style.ColorNeedsYou},
}

// Texts returns a card's line, input and output. It may be called on any goroutine.
func (t Call) Texts() [3]string {
	in := code.PlainText(t.Input)
	if t.Diff != "" {
		in = code.JoinLines(diff.Lines(t.Diff))
	}
	return [3]string{code.PlainText(t.Argument), in, code.CleanOutput(t.Output)}
}

// SearchTexts returns the texts in which search results count, while the card is collapsed and
// while it is expanded: a line that the input repeats at its beginning counts once.
func (t Call) SearchTexts() (folded, open []string) {
	texts := t.Texts()
	if repeatsIn(texts[0], texts[1]) {
		return texts[:1], texts[1:]
	}
	return texts[:1], texts[:]
}

// repeatsIn reports whether a line is the beginning of the input.
func repeatsIn(line, in string) bool {
	line = strings.TrimSuffix(line, " …")
	return line != "" && strings.HasPrefix(strings.TrimSpace(in), line)
}

// CopyText returns a card's texts as they are copied.
func (t Call) CopyText(open bool) string {
	texts := t.Texts()
	if !open {
		return texts[0]
	}
	if repeatsIn(texts[0], texts[1]) {
		texts[0] = ""
	}
	var list []string
	for _, s := range texts {
		if s = strings.Trim(s, "\n"); s != "" {
			list = append(list, s)
		}
	}
	return strings.Join(list, "\n\n")
}

// minOverlap is the minimum overlap of two states of an output, in bytes.
const minOverlap = 64

// outputShift returns by how many runes a displayed output moves towards the end in its next state;
// negative is towards the beginning. Live output loses its beginning, and a call's result contains
// all of it. ok is false if the two texts are unrelated.
func outputShift(old, now string) (by int, ok bool) {
	if at := strings.Index(now, strings.TrimRight(old, "\n")); at >= 0 {
		return displayedRunes(now[:at]), true
	}
	for at := 0; now != "" && at <= len(old)-min(len(now), minOverlap); at++ {
		if strings.HasPrefix(now, old[at:]) {
			return -displayedRunes(old[:at]), true
		}
	}
	return 0, false
}

// displayedRunes returns the number of runes of a text as displayed.
func displayedRunes(s string) int { return utf8.RuneCountInString(code.CleanOutput(s)) }

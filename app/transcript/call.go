package transcript

import (
	"fyne.io/fyne/v2"

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
	Note         string // below the output, such as "exit 0 · 1.2 MB, showing the end"
	CanAnswer    bool   // the person can answer here
	AllowEnabled bool   // Allow is enabled, provided that the card shows the whole question
	NeedsReview  bool   // the card cannot show the whole question: it can be allowed in the review only
	CanStop      bool
}

// shorten shortens text to n characters.
func shorten(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

func stateIcon(s CallState) (icon string, color fyne.ThemeColorName) {
	switch s {
	case CallWaiting:
		return "", style.ColorNeedsYou
	case CallDone:
		return "check", style.ColorGood
	case CallFailed:
		return "cross", style.ColorBad
	case CallDenied:
		return "denied", style.ColorBad
	case CallStopped:
		return "stop", style.ColorMuted
	case CallUnknown:
		return "question", style.ColorNeedsYou
	}
	return "", style.ColorMuted
}

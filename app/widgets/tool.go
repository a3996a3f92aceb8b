package widgets

import (
	"fairlead/app/style"
	"fyne.io/fyne/v2"
)

// ToolState is the state of a tool call.
type ToolState int

const (
	ToolWaiting ToolState = iota // waiting for the person
	ToolRunning
	ToolDone
	ToolFailed
	ToolDenied
	ToolStopped
	ToolUnknown // the outcome is unknown
)

// Tool is the content of a call's card. Its texts are formatted for display.
type Tool struct {
	Verb     string
	Machine  string
	Color    fyne.ThemeColorName // of the machine
	Argument string              // one line
	State    ToolState
	// for the state, such as "waiting for you", "exit 2", "denied"; empty if the icon suffices
	Word    string
	Time    string // "0.2 s", "running 12 s"
	Added   int    // lines of a diff
	Removed int
	// the full command or input text, shown in the expanded card if it says more than Argument
	Input    string
	Diff     string // unified diff; shown instead of Input
	Output   string // output so far, or its end
	Note     string // below the output, such as "exit 0 · 1.2 MB, the end is shown"
	Question bool   // the person can answer here
	Armed    bool   // Allow is enabled, provided that the card shows the whole question
	Review   bool   // the card cannot show the whole question: it can be allowed in the review only
	CanStop  bool
}

// shorten shortens text to n characters.
func shorten(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

func stateIcon(s ToolState) (icon string, color fyne.ThemeColorName) {
	switch s {
	case ToolWaiting:
		return "", style.ColorNeedsYou
	case ToolDone:
		return "check", style.ColorGood
	case ToolFailed:
		return "cross", style.ColorBad
	case ToolDenied:
		return "denied", style.ColorBad
	case ToolStopped:
		return "stop", style.ColorMuted
	case ToolUnknown:
		return "question", style.ColorNeedsYou
	}
	return "", style.ColorMuted
}

package widgets

import (
	"fyne.io/fyne/v2"

	"fairlead/app/style"
)

// ToolState says how a tool call stands.
type ToolState int

const (
	ToolWaiting ToolState = iota // for the person
	ToolRunning
	ToolDone
	ToolFailed
	ToolDenied
	ToolStopped
	ToolUnknown // nobody knows how it ended
)

// Tool is what a card shows of a call. Texts are ready to be read.
type Tool struct {
	Verb     string
	Machine  string
	Color    fyne.ThemeColorName // of the machine
	Argument string              // one line
	State    ToolState
	Word     string // of the state, such as "waiting for you", "exit 2", "denied"; empty when the icon says enough
	Time     string // "0.2 s", "running 12 s"
	Added    int    // lines of a diff
	Removed  int
	Input    string // the whole command or text that goes in, shown when the card is open and it says more than Argument
	Diff     string // unified; shown instead of Input
	Output   string // so far, or its last part
	Note     string // under the output, such as "exit 0 · 1.2 MB, the end is shown"
	Question bool   // the person can answer here
	Armed    bool   // Allow can be pressed, where the card shows all there is to see
	Review   bool   // there is more to see than a card shows: it is allowed in the review only
	CanStop  bool
}

// shorten cuts text to n letters.
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

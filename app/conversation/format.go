package conversation

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"fairlead/app/widgets"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

func formatTime(at int64, now time.Time) string {
	if at == 0 {
		return ""
	}
	return time.UnixMilli(at).In(now.Location()).Format("15:04")
}

// formatSeconds formats a duration of at least a second in whole seconds.
func formatSeconds(d time.Duration) string {
	return strings.Replace(formatDuration(d.Truncate(time.Second)), ".0 s", " s", 1)
}

// formatDuration formats a duration: "4 ms", "0.2 s", "12 s", "3 min 5 s", "2 h 4 min".
func formatDuration(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return "under 1 ms"
	case d < 50*time.Millisecond:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < 10*time.Second:
		return fmt.Sprintf("%.1f s", d.Seconds())
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min %d s", int(d.Minutes()), int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d h %d min", int(d.Hours()), int(d.Minutes())%60)
}

// Actions of a problem's button.
const (
	actionNone     = ""
	actionSettings = "settings"
	actionBudget   = "budget"
	actionReset    = "reset"
	actionRetry    = "retry"
)

// runProblem explains a run's error and what to do about it.
func runProblem(e *protocol.Error) (widgets.Problem, string) {
	if e == nil {
		return widgets.Problem{Title: "The answer was interrupted.", Button: "Try again"}, actionRetry
	}
	is := func(target error) bool { return errors.Is(e, target) }
	retry := widgets.Problem{Title: format.Sentence(e.Message), Button: "Try again"}
	other := widgets.Problem{Title: retry.Title, Button: "Open settings", CanRetry: true}
	switch {
	case is(protocol.ErrModelAuth):
		other.Advice = "Check this provider's key in the settings, then try again."
		return other, actionSettings
	case is(protocol.ErrModelRateLimit) && !e.Retryable: // waiting does not help
		other.Advice = "Check your plan or balance with the provider, or choose another model."
		return other, actionSettings
	case is(protocol.ErrModelRateLimit):
		retry.Advice = "The provider's rate limit was reached. Wait a moment and try again, or choose another model."
	case is(protocol.ErrBudget):
		other.Button = "Change the budget"
		return other, actionBudget
	case is(protocol.ErrIncomplete):
		return widgets.Problem{Title: retry.Title}, actionNone
	case is(protocol.ErrContextOverflow):
		other.Advice, other.Button = "Start the chat over, or choose a model with a larger context.", "Start over"
		return other, actionReset
	case is(protocol.ErrModel), is(protocol.ErrNotFound):
		if !strings.Contains(e.Message, "another model") { // the message itself says what to do
			retry.Advice = "Try again, or choose another model at the top."
		}
	case is(protocol.ErrStorage):
		retry.Advice = "Free up disk space or check permissions. No saved messages were lost."
	}
	return retry, actionRetry
}

package chat

import (
	"errors"
	"strings"
	"unicode/utf8"

	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// Actions of a problem's button.
const (
	actionNone     = ""
	actionSettings = "settings"
	actionReset    = "reset"
	actionRetry    = "retry"
)

// runProblem explains a run's error and what to do about it.
func runProblem(e *protocol.Error) (widgets.Problem, string) {
	if e == nil {
		return widgets.Problem{Title: "The answer was interrupted.", Button: "Try again"}, actionRetry
	}
	is := func(target error) bool { return errors.Is(e, target) }
	p := widgets.Problem{Title: sentence(e.Message)}
	switch {
	case is(protocol.ErrModelAuth):
		p.Advice, p.Button, p.CanRetry = "Check this provider's key in the settings, then try again.", "Open settings", true
		return p, actionSettings
	case is(protocol.ErrModelRateLimit) && !e.Retryable: // waiting does not help
		p.Advice, p.Button, p.CanRetry = "Check your plan or balance with the provider, or choose another model.", "Open settings", true
		return p, actionSettings
	case is(protocol.ErrModelRateLimit):
		p.Advice, p.Button = "The provider's rate limit was reached. Wait a moment and try again, or choose another model.", "Try again"
		return p, actionRetry
	case is(protocol.ErrContextOverflow):
		p.Advice, p.Button, p.CanRetry = "Clear the chat, or choose a model with a larger context.", "Clear chat", true
		return p, actionReset
	case is(protocol.ErrModel), is(protocol.ErrNotFound):
		p.Button = "Try again"
		if !strings.Contains(e.Message, "another model") { // the message itself says what to do
			p.Advice = "Try again, or choose another model at the top."
		}
		return p, actionRetry
	case is(protocol.ErrStorage):
		p.Advice, p.Button = "Free up disk space or check permissions. No saved messages were lost.", "Try again"
		return p, actionRetry
	}
	p.Button = "Try again"
	return p, actionRetry
}

// sentence starts with a capital letter and ends with a full stop.
func sentence(s string) string {
	s = strings.TrimSpace(s)
	if s == "" {
		return "Something went wrong."
	}
	s = protocol.Capital(s)
	if end, _ := utf8.DecodeLastRuneInString(s); !strings.ContainsRune(".!?…。！？", end) {
		s += "."
	}
	return s
}

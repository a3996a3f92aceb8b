package chat

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"fairlead/app/state"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// clock formats a time in the transcript, below the day's heading: "10:41".
func clock(at int64, now time.Time) string {
	if at == 0 {
		return ""
	}
	return time.UnixMilli(at).In(now.Location()).Format("15:04")
}

func exact(at int64, now time.Time) string {
	if at == 0 {
		return ""
	}
	return time.UnixMilli(at).In(now.Location()).Format("Monday, 2 January 2006, 15:04:05")
}

// span formats a duration: "4 ms", "0.2 s", "12 s", "3 min 5 s", "2 h 4 min".
func span(d time.Duration) string {
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

func size(n int64) string {
	switch {
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	case n < 1_000_000:
		return fmt.Sprintf("%d kB", n/1000)
	case n < 1_000_000_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	}
	return fmt.Sprintf("%.1f GB", float64(n)/1e9)
}

// meter formats "42k · $0.12": the context size of the last step, and the cost of the whole chat.
func meter(s protocol.SessionEntry) string {
	var parts []string
	switch {
	case s.ContextTokens > 0 && s.ContextWindow > 0:
		parts = append(parts, state.Tokens(s.ContextTokens)+" of "+state.Tokens(s.ContextWindow))
	case s.ContextTokens > 0:
		parts = append(parts, state.Tokens(s.ContextTokens))
	case s.Usage != nil && s.Usage.Total > 0:
		parts = append(parts, state.Tokens(s.Usage.Total))
	}
	if s.Usage != nil && s.Usage.Cost != nil {
		if c := *s.Usage.Cost; c > 0 && c < 0.01 {
			parts = append(parts, "under $0.01")
		} else if c > 0 {
			parts = append(parts, fmt.Sprintf("$%.2f", c))
		}
	}
	return strings.Join(parts, " · ")
}

// Actions of a problem's button.
const (
	actNone     = ""
	actSettings = "settings"
	actReset    = "reset"
	actRetry    = "retry"
)

// problem explains a run's error and what to do about it.
func problem(e *protocol.Error) (widgets.Problem, string) {
	if e == nil {
		return widgets.Problem{What: "The answer was interrupted.", Button: "Try again"}, actRetry
	}
	is := func(target error) bool { return errors.Is(e, target) }
	p := widgets.Problem{What: sentence(e.Message)}
	switch {
	case is(protocol.ErrModelAuth):
		p.Do, p.Button, p.Again = "Check this provider's key in the settings, then try again.", "Open settings", true
		return p, actSettings
	case is(protocol.ErrModelRateLimit) && !e.Retryable: // waiting does not help
		p.Do, p.Button, p.Again = "Check your plan or balance with the provider, or choose another model.", "Open settings", true
		return p, actSettings
	case is(protocol.ErrModelRateLimit):
		p.Do, p.Button = "The provider's rate limit was reached. Wait a moment and try again, or choose another model.", "Try again"
		return p, actRetry
	case is(protocol.ErrContextOverflow):
		p.Do, p.Button, p.Again = "Clear the chat, or choose a model with a larger context.", "Clear chat", true
		return p, actReset
	case is(protocol.ErrModel), is(protocol.ErrNotFound):
		p.Button = "Try again"
		if !strings.Contains(e.Message, "another model") { // the message itself says what to do
			p.Do = "Try again, or choose another model at the top."
		}
		return p, actRetry
	case is(protocol.ErrStorage):
		p.Do, p.Button = "Free up disk space or check permissions. No saved messages were lost.", "Try again"
		return p, actRetry
	}
	p.Button = "Try again"
	return p, actRetry
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

// title returns the conversation's name in the header.
func title(s protocol.SessionEntry) string {
	switch {
	case s.Title != "":
		return s.Title
	case s.Label != "":
		return s.Label
	}
	return "New chat"
}

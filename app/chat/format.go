package chat

import (
	"fmt"
	"strings"
	"time"

	"fairlead/app/state"
	"fairlead/gateway/protocol"
)

// timeOfDay formats a time in the transcript, below the day's heading: "10:41".
func timeOfDay(at int64, now time.Time) string {
	if at == 0 {
		return ""
	}
	return time.UnixMilli(at).In(now.Location()).Format("15:04")
}

func fullTime(at int64, now time.Time) string {
	if at == 0 {
		return ""
	}
	return time.UnixMilli(at).In(now.Location()).Format("Monday, 2 January 2006, 15:04:05")
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

func formatSize(n int64) string {
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

// usageText formats "42k · $0.12": the context size of the last step, and the cost of the whole
// chat.
func usageText(s protocol.SessionEntry) string {
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

// dayName formats a day as a heading: "Today", "Yesterday", "Sunday, 3 May", "3 May 2025".
func dayName(t, now time.Time) string {
	day := func(t time.Time) int { return t.Year()*1000 + t.YearDay() }
	switch {
	case day(t) == day(now):
		return "Today"
	case day(t) == day(now.AddDate(0, 0, -1)):
		return "Yesterday"
	case t.Year() == now.Year():
		return t.Format("Monday, 2 January")
	}
	return t.Format("2 January 2006")
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

package state

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"fairlead/app/feed"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// Heartbeat is the state of the main agent's heartbeat.
type Heartbeat struct {
	protocol.HeartbeatState
	// Every is the interval from the configuration; "0m" is off, and empty unknown.
	Every string
	// Hours are the active hours from the configuration, such as 08:00 and 23:00.
	Start, End string
}

// HeartbeatChoices are the intervals to choose from, from the shortest.
var HeartbeatChoices = []struct{ Every, Text string }{
	{"15m", "Every 15 min"}, {"30m", "Every 30 min"}, {"1h", "Every hour"}, {"4h", "Every 4 hours"}, {"24h", "Once a day"},
}

// usualHeartbeat is the interval of a heartbeat that is switched on.
const usualHeartbeat = "30m"

func readHeartbeat(ctx context.Context, a feed.Gateway) (h Heartbeat, err error) {
	st, err := feed.Call(ctx, a, protocol.HeartbeatStatus, protocol.Empty{})
	if err != nil {
		return h, err
	}
	h.HeartbeatState = st.Agents[protocol.MainAgent]
	settings, _ := feed.ConfigAt[struct { // unknown without the right to read it
		Every       string
		ActiveHours struct{ Start, End string }
	}](ctx, a, "agents.defaultHeartbeat")
	h.Every, h.Start, h.End = settings.Every, settings.ActiveHours.Start, settings.ActiveHours.End
	return h, nil
}

// On reports whether the heartbeat is switched on.
func (h Heartbeat) On() bool { return h.interval() > 0 }

// interval returns the interval, or 0.
func (h Heartbeat) interval() time.Duration {
	d, err := time.ParseDuration(strings.ReplaceAll(h.Every, " ", ""))
	if err != nil && h.NextHeartbeatAt != nil {
		return time.Hour // an interval in words
	}
	return d
}

// IntervalText is the interval in words: every 30 min.
func (h Heartbeat) IntervalText() string {
	for _, c := range HeartbeatChoices {
		if c.Every == cmp.Or(h.Every, usualHeartbeat) {
			return c.Text
		}
	}
	if !h.On() {
		return HeartbeatChoices[1].Text
	}
	return "Every " + h.Every
}

// PurposeText says what the heartbeat does.
func (h Heartbeat) PurposeText() string {
	if !h.On() {
		return "Off. You can let the agent check HEARTBEAT.md for things to do, such as every 30 min."
	}
	text := h.IntervalText() + " the agent checks HEARTBEAT.md for things to do"
	if h.Start != "" && h.End != "" {
		text += ", from " + h.Start + " to " + h.End
	}
	return text + "."
}

// CostText says what a check costs, from the past ones or an estimate.
func (h Heartbeat) CostText() string {
	text := ""
	switch {
	case h.Runs > 0 && h.Usage != nil:
		text = fmt.Sprintf("Each check uses about %s tokens", roundTokens(h.Usage.Total/int64(h.Runs)))
		if h.Usage.Cost != nil && *h.Usage.Cost > 0 {
			each := *h.Usage.Cost / float64(h.Runs)
			text += fmt.Sprintf(" ($%.3f)", each)
			if n := h.perDay(); n > 0 {
				text += fmt.Sprintf(", which is up to $%.2f a day", each*float64(n))
			}
		}
		text += "."
	case h.EstimatedTokens > 0:
		text = fmt.Sprintf("Each check uses about %s tokens", roundTokens(h.EstimatedTokens))
		if n := h.perDay(); n > 0 {
			text += fmt.Sprintf(", up to %s a day", wording.Plural(n, "time", "times"))
		}
		text += "."
	default:
		text = "Each check uses the model."
	}
	return text + " While HEARTBEAT.md is empty, the model is not asked."
}

// roundTokens formats a number of tokens in words of a sentence: "950", "3,100", "30,000".
func roundTokens(n int64) string {
	switch {
	case n < 1000 || n >= 999_500:
		return wording.Tokens(n)
	case n < 10_000:
		n = (n + 50) / 100 * 100
	default:
		n = (n + 500) / 1000 * 1000
	}
	return fmt.Sprintf("%d,%03d", n/1000, n%1000)
}

// perDay returns the number of checks in a day's active hours, or 0 if it is off.
func (h Heartbeat) perDay() int {
	d := h.interval()
	if d <= 0 {
		return 0
	}
	day := 24 * time.Hour
	start, err1 := time.Parse("15:04", h.Start)
	end, err2 := time.Parse("15:04", h.End)
	if active := end.Sub(start); err1 == nil && err2 == nil && active != 0 {
		day = (active + day) % day
	}
	return max(1, int(day/d))
}

// skipReasons explain why a heartbeat was skipped.
var skipReasons = map[string]string{
	protocol.SkipOutsideHours: "it is outside its active hours", protocol.SkipNoFile: "there is no HEARTBEAT.md",
	protocol.SkipEmptyFile: "HEARTBEAT.md is empty", protocol.SkipBusy: "the chat was busy",
}

// LastText says when the next and the last check are, and how the last one ended.
func (h Heartbeat) LastText(now time.Time) string {
	var parts []string
	if h.NextHeartbeatAt != nil && h.On() {
		parts = append(parts, "Next: "+wording.UntilText(*h.NextHeartbeatAt, now)+".")
	}
	if h.LastHeartbeatAt != nil {
		parts = append(parts, "Last: "+wording.When(*h.LastHeartbeatAt, now)+".")
	}
	switch h.LastStatus {
	case protocol.CronSkipped:
		parts = append(parts, "The last one was skipped: "+cmp.Or(skipReasons[h.LastError], h.LastError)+".")
	case protocol.CronError:
		parts = append(parts, "The last one failed: "+strings.TrimRight(h.LastError, ".")+".")
	}
	return strings.Join(parts, " ")
}

// RunHeartbeat triggers a heartbeat now.
func (s *Schedules) RunHeartbeat() {
	s.Do(func(ctx context.Context) error {
		r, err := feed.Call(ctx, s.app, protocol.HeartbeatTrigger, protocol.HeartbeatTriggerParams{})
		if err == nil {
			s.app.Notify("info", format.Capital(r.Message))
		}
		return err
	})
}

// SwitchHeartbeat switches the heartbeat on, at the usual interval, or off.
func (s *Schedules) SwitchHeartbeat(on bool) {
	every := "0m"
	if on {
		every = usualHeartbeat
	}
	s.SetHeartbeat(every)
}

// SetHeartbeat sets the heartbeat's interval, such as 30m, or 0m for never.
func (s *Schedules) SetHeartbeat(every string) {
	s.Do(func(ctx context.Context) error { return s.app.Set(ctx, "agents.defaultHeartbeat.every", every) })
}

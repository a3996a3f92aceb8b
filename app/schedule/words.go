package schedule

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/repeat"
)

// nextRuns says whether and when a schedule runs next.
func nextRuns(j protocol.CronJob, p protocol.CronPreviewResult, now time.Time) string {
	switch {
	case j.State.NeedsApproval:
		return "Waiting for your approval since " + format.When(j.State.RunningAtMs, now) + "."
	case j.State.RunningAtMs > 0:
		return "Running since " + format.When(j.State.RunningAtMs, now) + "."
	case isFinished(j, now):
		return "Finished. Edit it to set another time."
	case !j.Enabled:
		return "Paused."
	case j.State.NextRunAtMs > 0 && len(p.NextRunsMs) > 1 && p.NextRunsMs[0] == j.State.NextRunAtMs:
		return repeat.NextText(p.NextRunsMs, p.TimeZone, now)
	case j.State.NextRunAtMs > 0:
		return repeat.NextText([]int64{j.State.NextRunAtMs}, "", now)
	}
	return "No further runs."
}

// wordsOf returns the words of a value; for an unknown one, the value.
func wordsOf(list []option, value string) string {
	for _, o := range list {
		if o.value == value {
			return o.words
		}
	}
	return value
}

// heartbeatChoices are the intervals to choose from, from the shortest.
var heartbeatChoices = []struct{ Every, Text string }{
	{"15m", "Every 15 min"}, {"30m", "Every 30 min"}, {"1h", "Every hour"}, {"4h", "Every 4 hours"}, {"24h", "Once a day"},
}

// IntervalText is the interval in words: every 30 min.
func (h Heartbeat) IntervalText() string {
	for _, c := range heartbeatChoices {
		if c.Every == cmp.Or(h.Every, usualHeartbeat) {
			return c.Text
		}
	}
	if !h.On() {
		return heartbeatChoices[1].Text
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
			text += fmt.Sprintf(", up to %s a day", format.Plural(n, "time"))
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
		parts = append(parts, "Last: "+format.When(*h.LastHeartbeatAt, now)+".")
	}
	switch h.LastStatus {
	case protocol.CronSkipped:
		parts = append(parts, "The last one was skipped: "+cmp.Or(skipReasons[h.LastError], h.LastError)+".")
	case protocol.CronError:
		parts = append(parts, "The last one failed: "+strings.TrimRight(h.LastError, ".")+".")
	}
	return strings.Join(parts, " ")
}

type option struct{ value, words string }

var (
	repeats = []option{
		{repeatDaily, "Every day"},
		{repeatWeekdays, "Every weekday"},
		{repeatWeekly, "On days of the week"},
		{repeatMonthly, "Every month"},
		{repeatEvery, "Every few minutes, hours or days"},
		{repeatOnce, "Once"},
		{repeatCron, "Cron"},
	}
	units   = []option{{"minutes", "minutes"}, {"hours", "hours"}, {"days", "days"}}
	seconds = option{"seconds", "seconds"}
	modes   = []option{{protocol.CronTask, "Its own chat"}, {protocol.CronSystemEvent, "The main chat"}}
	missed  = []option{
		{protocol.MissedLatest, "Run once"}, {protocol.MissedAll, "Run for each missed time"}, {protocol.MissedSkip, "Skip"}, {protocol.MissedAsk, "Ask me"},
	}
	notifies = []option{
		{protocol.NotifyAlways, "Always"}, {protocol.NotifyNews, "When there is something to say, or it failed"}, {protocol.NotifyNever, "Never"},
	}
)

// whenText describes a schedule, with its time zone if that has another time.
func whenText(s protocol.CronSchedule, now time.Time) string {
	text := format.Capital(repeat.Text(s, now))
	if zone, err := time.LoadLocation(s.TZ); err == nil && s.TZ != "" && now.In(zone).Format("15:04") != now.Format("15:04") {
		text += " (" + s.TZ + ")"
	}
	return text
}

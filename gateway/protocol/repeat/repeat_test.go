package repeat

import (
	"fmt"
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

func TestFormsAndExpressionsAreTheSame(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		form       Form
		expr, text string
	}{
		{Form{Times: []Clock{540}}, "0 9 * * *", "every day at 09:00"},
		{Form{Days: Workdays, Times: []Clock{450}}, "30 7 * * 1-5", "every weekday at 07:30"},
		{Form{Days: weekend, Times: []Clock{540, 1020}}, "0 9,17 * * 0,6", "every Saturday and Sunday at 09:00 and 17:00"},
		{Form{Days: []time.Weekday{0, 1, 3}, Times: []Clock{540}}, "0 9 * * 0,1,3", "every Monday, Wednesday and Sunday at 09:00"},
		{Form{Times: []Clock{540, 570, 1050}}, "0,30 9 * * *; 30 17 * * *", "every day at 09:00, 09:30 and 17:30"},
		{Form{Day: 1, Times: []Clock{0}}, "0 0 1 * *", "on day 1 of every month at 00:00"},
		{Form{Day: 31, Times: []Clock{540}}, "0 9 31 * *", "on day 31 of every month that has it at 09:00"},
		{Form{Day: LastDay, Times: []Clock{1439}}, "59 23 L * *", "on the last day of every month at 23:59"},
	} {
		t.Run(c.expr, func(t *testing.T) {
			t.Parallel()
			if got := c.form.Expr(); got != c.expr {
				t.Errorf("the expression is %q, want %q", got, c.expr)
			}
			back, ok := Parse(c.expr)
			if got, want := fmt.Sprint(back), fmt.Sprint(c.form); !ok || got != want {
				t.Errorf("it is parsed as %s, %v, want %s", got, ok, want)
			}
			if got := back.String(); got != c.text {
				t.Errorf("the text is %q, want %q", got, c.text)
			}
		})
	}
}

func TestExpressionsOfOthersAreDescribed(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 28, 20, 0, 0, 0, time.UTC)
	for expr, want := range map[string]string{
		"0 9 * * 1,2,3,4,5": "every weekday at 09:00", "0 9 * * 6-7": "every Saturday and Sunday at 09:00", "0 9 * * 0-6": "every day at 09:00",
		"*/15 * * * *": "every 15 minutes", "*/1 * * * *": "every minute", "5 * * * *": "every hour at 5 past",
		"0 9 1 1 *": "cron 0 9 1 1 *", "0 9 * * 9": "cron 0 9 * * 9", "0-59 9 * * *": "cron 0-59 9 * * *",
		"0 9 * * 1; 0 9 * * 2": "cron 0 9 * * 1; 0 9 * * 2", "x": "cron x",
		"*/45 * * * *":       `cron */45 * * * * (*/45 begins anew each hour, so that its last pause is 15 minutes; for every 45 minutes write "every 45 minutes")`,
		"*/90 * * * *":       `cron */90 * * * * (*/90 means minute 0 only; for every 90 minutes write "every 90 minutes")`,
		"0 */36 * * *":       `cron 0 */36 * * * (*/36 means hour 0 only; for every 36 hours write "every 36 hours")`,
		"0 */23 * * *":       `cron 0 */23 * * * (*/23 begins anew each day, so that its last pause is 1 hour; for every 23 hours write "every 23 hours")`,
		"0 */6 * * *":        "cron 0 */6 * * *",
		"0 9 1-7 * 1":        "cron 0 9 1-7 * 1 (a day of the month (1-7) and a day of the week (1): it runs on the days that fit either)",
		"0 9 */2 * 1":        "cron 0 9 */2 * 1",
		"0/15 * * * *":       "cron 0/15 * * * * (0/15 means minute 0 only; for every 15 minutes write */15)",
		"0 0 9; 3 5/6 * * *": "cron 0 0 9; 3 5/6 * * * (5/6 means hour 5 only; for every 6 hours write 5-23/6)",
	} {
		t.Run(expr, func(t *testing.T) {
			t.Parallel()
			if got := Text(protocol.CronSchedule{Kind: protocol.CronExpr, Expr: expr}, now); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestIntervalsAreDescribedInTheirLongestUnit(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		time.Minute: "minute", 90 * time.Minute: "90 minutes", 24 * time.Hour: "day", 48 * time.Hour: "2 days", 36 * time.Hour: "36 hours", 90 * time.Second: "90 seconds",
	} {
		if got := Interval(d); got != want {
			t.Errorf("%s is %q, want %q", d, got, want)
		}
	}
}

func TestTimesOfDayAreParsedAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"9:00": "[09:00]", "9": "[09:00]", "17.30, 9:00": "[09:00 17:30]", "9am and 5:30 pm": "[09:00 17:30]", "09:00,9:00": "[09:00]", " 0:00 ;": "[00:00]",
		"": "", "soon": "", "25:00": "", "9:00, x": "",
	} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			got, err := ParseTimes(text)
			if want == "" != (err != nil) || err == nil && fmt.Sprint(got) != want {
				t.Errorf("got %v, %v, want %s", got, err, want)
			}
		})
	}
}

func TestSentenceNamesTheNextRuns(t *testing.T) {
	t.Parallel()
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 3, 26, 20, 0, 0, 0, berlin) // Thursday
	ms := func(day, hour int) int64 { return time.Date(2026, 3, day, hour, 0, 0, 0, berlin).UnixMilli() }
	weekdays := protocol.CronPreviewResult{
		Schedule: protocol.CronSchedule{Kind: protocol.CronExpr, Expr: "0 9 * * 1-5"}, TimeZone: "Europe/Berlin", NextRunsMs: []int64{ms(27, 9), ms(30, 9), ms(31, 9)},
	}
	once := protocol.CronPreviewResult{Schedule: protocol.CronSchedule{Kind: protocol.CronAt, AtMs: new(ms(26, 21))}, NextRunsMs: []int64{ms(26, 21)}}
	for want, got := range map[string]string{
		"Every weekday at 09:00 (Europe/Berlin). Next: tomorrow at 09:00, Monday at 09:00, Tuesday at 09:00.":                    Sentence(weekdays, now),
		"Every weekday at 09:00 (Europe/Berlin). Next, in your time zone: tomorrow at 08:00, Monday at 07:00, Tuesday at 07:00.": Sentence(weekdays, now.UTC()),
		"Once, today at 21:00.": Sentence(once, now),
		"No further runs.":      NextText(nil, "", now),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

package cron

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"
	_ "time/tzdata"

	"fairlead/gateway/protocol"

	"fairlead/gateway/cron/when"
)

func zone(t testing.TB, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	if err != nil {
		t.Fatal(err)
	}
	return loc
}

func TestNextAcrossChangesOfTheClock(t *testing.T) {
	const form = "2006-01-02 15:04 -0700"
	for _, c := range []struct {
		name, zone, expr, from string
		want                   []string
	}{
		{
			"skipped hour comes once at the skip", "Europe/Berlin", "30 2 * * *", "2026-03-28 12:00 +0100",
			[]string{"2026-03-29 03:00 +0200", "2026-03-30 02:30 +0200"},
		},
		{"many skipped times come once", "Europe/Berlin", "*/10 2 * * *", "2026-03-28 12:00 +0100", []string{"2026-03-29 03:00 +0200", "2026-03-30 02:00 +0200"}},
		{
			"a skipped time and the first one after are one", "Europe/Berlin", "0 2,3 * * *", "2026-03-28 12:00 +0100",
			[]string{"2026-03-29 03:00 +0200", "2026-03-30 02:00 +0200"},
		},
		{"repeated hour comes once", "Europe/Berlin", "30 2 * * *", "2026-10-24 12:00 +0200", []string{"2026-10-25 02:30 +0200", "2026-10-26 02:30 +0100"}},
		{"asked within the repetition", "Europe/Berlin", "30 2 * * *", "2026-10-25 02:10 +0100", []string{"2026-10-26 02:30 +0100"}},
		{"right after the repetition", "Europe/Berlin", "0 3 * * *", "2026-10-25 02:10 +0100", []string{"2026-10-25 03:00 +0100"}},
		{
			"every half hour goes by real time back", "Europe/Berlin", "*/30 * * * *", "2026-10-25 02:10 +0200",
			[]string{"2026-10-25 02:30 +0200", "2026-10-25 02:00 +0100", "2026-10-25 02:30 +0100", "2026-10-25 03:00 +0100"},
		},
		{"every hour goes by real time forth", "Europe/Berlin", "30 * * * *", "2026-03-29 01:10 +0100", []string{"2026-03-29 01:30 +0100", "2026-03-29 03:30 +0200"}},
		{"New York skips", "America/New_York", "15 2 * * *", "2026-03-07 12:00 -0500", []string{"2026-03-08 03:00 -0400", "2026-03-09 02:15 -0400"}},
		{"New York repeats", "America/New_York", "15 1 * * *", "2026-10-31 12:00 -0400", []string{"2026-11-01 01:15 -0400", "2026-11-02 01:15 -0500"}},
		{"New York skips on a weekday list", "America/New_York", "0 2 * * 0", "2026-03-07 12:00 -0500", []string{"2026-03-08 03:00 -0400", "2026-03-15 02:00 -0400"}},
		{"Lord Howe skips half an hour", "Australia/Lord_Howe", "15 2 * * *", "2026-10-03 12:00 +1030", []string{"2026-10-04 02:30 +1100", "2026-10-05 02:15 +1100"}},
		{"Lord Howe keeps the other half", "Australia/Lord_Howe", "45 2 * * *", "2026-10-03 12:00 +1030", []string{"2026-10-04 02:45 +1100", "2026-10-05 02:45 +1100"}},
		{
			"Lord Howe repeats half an hour", "Australia/Lord_Howe", "15,45 1 * * *", "2026-04-04 12:00 +1100",
			[]string{"2026-04-05 01:15 +1100", "2026-04-05 01:45 +1100", "2026-04-06 01:15 +1030"},
		},
		{
			"Lord Howe by real time", "Australia/Lord_Howe", "*/15 * * * *", "2026-04-05 01:40 +1100",
			[]string{"2026-04-05 01:45 +1100", "2026-04-05 01:30 +1030", "2026-04-05 01:45 +1030", "2026-04-05 02:00 +1030"},
		},
		{"a day that Samoa left out", "Pacific/Apia", "0 12 30 12 *", "2011-12-29 20:00 -1000", []string{"2011-12-31 00:00 +1400", "2012-12-30 12:00 +1400"}},
		{"midnight that Cairo skips", "Africa/Cairo", "0 0 * * *", "2026-04-23 12:00 +0200", []string{"2026-04-24 01:00 +0300", "2026-04-25 00:00 +0300"}},
		{"29 February over a century", "UTC", "0 0 29 2 *", "2096-03-01 00:00 +0000", []string{"2104-02-29 00:00 +0000"}},
		{"Sunday is 7 too", "UTC", "0 0 * * 7", "2026-10-03 12:00 +0000", []string{"2026-10-04 00:00 +0000", "2026-10-11 00:00 +0000"}},
		{"either day", "UTC", "0 0 13 * 5", "2026-11-01 00:00 +0000", []string{"2026-11-06 00:00 +0000", "2026-11-13 00:00 +0000", "2026-11-20 00:00 +0000"}},
		{"a stepped star restricts", "UTC", "0 0 */10 * 1", "2026-11-01 00:00 +0000", []string{"2026-11-02 00:00 +0000", "2026-11-09 00:00 +0000", "2026-11-11 00:00 +0000"}},
		{"a stepped number is itself", "UTC", "5/10 * * * *", "2026-11-01 00:00 +0000", []string{"2026-11-01 00:05 +0000", "2026-11-01 01:05 +0000"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e, err := parseExpr(c.expr, zone(t, c.zone))
			if err != nil {
				t.Fatal(err)
			}
			at, err := time.Parse(form, c.from)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range c.want {
				if at = e.Next(at); at.Format(form) != want {
					t.Fatalf("%s, want %s", at.Format(form), want)
				}
			}
		})
	}
}

func TestExprRefusesUnknownWords(t *testing.T) {
	for text, want := range map[string]string{
		"": "exactly 5 fields", "* * * *": "exactly 5 fields", "* * * * * *": "exactly 5 fields", "@daily": "exactly 5 fields",
		"60 * * * *": "minute", "* 24 * * *": "hour", "* * 0 * *": "day of month", "* * * 13 *": "month", "* * * * 8": "day of week",
		"* * * JAN *": "must be a number", "5-1 * * * *": "before its start", "*/0 * * * *": "minute", "1,,2 * * * *": "minute", "-1 * * * *": "minute",
		"0 0 31 2 *": "no day matches", "0 0 LW * *": "must be a number", "1-2-3 * * * *": "must be a number", "*-5 * * * *": "must be a number",
	} {
		t.Run(text, func(t *testing.T) {
			if _, err := parseExpr(text, time.UTC); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, want %q", text, err, want)
			}
		})
	}
}

// reference checks every minute of real time. skipped and repeated follow the rule as documented,
// by the time that a wall clock shows.
func reference(e *Expr, t time.Time) time.Time {
	match := func(c time.Time) bool {
		return e.minute&(1<<c.Minute()) != 0 && e.hour&(1<<c.Hour()) != 0 && e.month&(1<<c.Month()) != 0 && e.day(c)
	}
	for at := t.Truncate(time.Minute).Add(time.Minute); at.Before(t.Add(40 * 24 * time.Hour)); at = at.Add(time.Minute) {
		now, before := when.ClockTime(at.In(e.zone)), when.ClockTime(at.Add(-time.Minute).In(e.zone))
		if e.anyHour {
			if match(now) {
				return at
			}
			continue
		}
		hit := match(now)
		for m := before.Add(time.Minute); m.Before(now); m = m.Add(time.Minute) { // the clock jumped over m
			hit = hit || match(m)
		}
		// Check whether the clock has shown this time before.
		for ago := time.Minute; hit && ago <= 3*time.Hour; ago += time.Minute {
			if past := when.ClockTime(at.Add(-ago).In(e.zone)); !past.Before(now) {
				hit = false
			}
		}
		if hit {
			return at
		}
	}
	return time.Time{}
}

func TestNextFollowsTheWallClock(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	field := func(low, high int) string {
		n := func() int { return low + r.IntN(high-low+1) }
		switch r.IntN(5) {
		case 0, 1:
			return "*"
		case 2:
			return "*/" + strconv.Itoa(1+r.IntN(high))
		case 3:
			a, b := n(), n()
			return strconv.Itoa(min(a, b)) + "-" + strconv.Itoa(max(a, b))
		}
		return strconv.Itoa(n()) + "," + strconv.Itoa(n())
	}
	changes := map[string][]string{
		"Europe/Berlin":       {"2026-03-29T01:00:00Z", "2026-10-25T01:00:00Z"},
		"America/New_York":    {"2026-03-08T07:00:00Z", "2026-11-01T06:00:00Z"},
		"Australia/Lord_Howe": {"2026-10-03T15:30:00Z", "2026-04-04T15:00:00Z"},
		"Asia/Kathmandu":      {"2026-01-01T00:00:00Z"},
	}
	for name, times := range changes {
		t.Run(name, func(t *testing.T) {
			loc := zone(t, name)
			for range 60 {
				text := strings.Join([]string{field(0, 59), strconv.Itoa(r.IntN(4)), field(1, 28), "*", field(0, 6)}, " ")
				if r.IntN(3) == 0 {
					text = strings.Join([]string{field(0, 59), field(0, 23), field(1, 28), "*", field(0, 7)}, " ")
				}
				e, err := parseExpr(text, loc)
				if err != nil {
					t.Fatalf("%s: got error %v, want none", text, err)
				}
				at, _ := time.Parse(time.RFC3339, times[r.IntN(len(times))])
				at = at.Add(time.Duration(r.IntN(36*60)-24*60) * time.Minute).Add(time.Duration(r.IntN(60)) * time.Second)
				for range 4 {
					got, want := e.Next(at), reference(e, at)
					if want.IsZero() {
						break // beyond the range of the reference
					}
					if !got.Equal(want) || !got.After(at) {
						t.Fatalf("%s in %s after %s: %s, want %s", text, name, at.In(loc), got, want.In(loc))
					}
					at = got
				}
			}
		})
	}
}

func FuzzExpr(f *testing.F) {
	for _, s := range []string{"* * * * *", "*/5 1-3 1,15 2 0-7", "0 0 29 2 *", "5/10 * * * 7"} {
		f.Add(s, int64(1_800_000_000))
	}
	loc := zone(f, "America/New_York")
	f.Fuzz(func(t *testing.T, text string, at int64) {
		e, err := parseExpr(text, loc)
		if err != nil {
			return
		}
		from := time.Unix(at%(1<<33), 0)
		next := e.Next(from)
		if next.IsZero() || !next.After(from) {
			t.Fatalf("%q after %s: got %s, want a later time", text, from, next)
		}
	})
}

// TestNamesOfMonthsAndDaysAreStoredAsNumbers: a cron expression may use the names of crontab(5) for
// months and days.
func TestNamesOfMonthsAndDaysAreStoredAsNumbers(t *testing.T) {
	for expr, want := range map[string]string{
		"0 9 * * MON-FRI": "0 9 * * 1-5", "  0 9  * jan,Jul * ": "0 9 * 1,7 *", "0 9 * * fri-sun": "0 9 * * 5-7", "0 9 * * Sun": "0 9 * * 0", "0 0 1 */2 2,thu-sat": "0 0 1 */2 2,4-6",
	} {
		t.Run(expr, func(t *testing.T) {
			got, err := checkSchedule(protocol.CronSchedule{Kind: protocol.CronExpr, Expr: expr}, time.UTC)
			if err != nil || got.Expr != want {
				t.Errorf("%q is %q, %v; want %q", expr, got.Expr, err, want)
			}
		})
	}
	for _, expr := range []string{"mon * * * *", "0 9 * MON *", "0 9 * * JAN", "0 9 * * monday", "0 9 * * sunmon", "0 9 * * -mon"} {
		if got, err := checkSchedule(protocol.CronSchedule{Kind: protocol.CronExpr, Expr: expr}, time.UTC); err == nil {
			t.Errorf("%q: got %q, want an error", expr, got.Expr)
		}
	}
}

func TestSeveralExpressionsRunAtTheTimesOfAll(t *testing.T) {
	t.Parallel()
	all, err := parseExprs("0 9 * * 1-5; 30 17 * * 1-5; 0 12 L * *", zone(t, "Europe/Berlin"))
	if err != nil {
		t.Fatal(err)
	}
	at, err := time.Parse(time.RFC3339, "2026-02-27T10:00:00+01:00")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"2026-02-27 17:30", "2026-02-28 12:00", "2026-03-02 09:00", "2026-03-02 17:30"} {
		if at = all.Next(at); at.Format("2006-01-02 15:04") != want {
			t.Errorf("the next run is at %s, want %s", at, want)
		}
	}
	if _, err := parseExprs(strings.Repeat("0 9 * * *;", maxExprs)+"0 9 * * *", time.UTC); err == nil {
		t.Error("a schedule of too many expressions was accepted")
	}
}

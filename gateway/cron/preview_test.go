package cron_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

func TestPreviewComputesTheNextRuns(t *testing.T) {
	inBubble(t, func(t *testing.T, r *testScheduler) {
		for _, c := range []struct {
			name  string
			in    protocol.CronSchedule
			count int
			want  string
		}{
			{"weekdays", protocol.CronSchedule{Kind: protocol.CronExpr, Expr: "0 9 * * mon-fri"}, 0, "3 Jan 09:00, 4 Jan 09:00, 5 Jan 09:00"},
			{"last day", protocol.CronSchedule{Kind: protocol.CronExpr, Expr: "0 9 l * *"}, 2, "31 Jan 09:00, 29 Feb 09:00"},
			// 02:30 is skipped
			{"across a change of the clock", protocol.CronSchedule{Kind: protocol.CronExpr, Expr: "30 2 26 3 *", TZ: "Europe/Berlin"}, 1, "26 Mar 01:00"},
			{"interval", protocol.CronSchedule{Kind: protocol.CronEvery, EveryMs: 3600_000}, 2, "1 Jan 01:00, 1 Jan 02:00"},
			{"once", protocol.CronSchedule{Kind: protocol.CronAt, AtMs: at(time.Hour)}, 0, "1 Jan 01:00"},
			{"once, in words", protocol.CronSchedule{Kind: protocol.CronAt, CronWritten: protocol.CronWritten{At: "tomorrow 9am"}}, 0, "2 Jan 09:00"},
			{"once, in another zone", protocol.CronSchedule{Kind: protocol.CronAt, TZ: "America/New_York", CronWritten: protocol.CronWritten{At: "2000-01-02 09:00"}}, 0, "2 Jan 14:00"},
			{"over", protocol.CronSchedule{Kind: protocol.CronAt, AtMs: at(-time.Hour)}, 0, ""},
		} {
			{
				out, err := r.sched.Preview(t.Context(), protocol.CronPreviewParams{Schedule: &c.in, Count: c.count})
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, ms := range out.NextRunsMs {
					got = append(got, time.UnixMilli(ms).UTC().Format("2 Jan 15:04"))
				}
				if text := strings.Join(got, ", "); text != c.want {
					t.Errorf("%s: got %s, want %s", c.name, text, c.want)
				}
			}
		}
		_, err := r.sched.Preview(t.Context(), protocol.CronPreviewParams{Schedule: &protocol.CronSchedule{Kind: protocol.CronExpr, Expr: "61 * * * *"}})
		if !errors.Is(err, protocol.ErrBadRequest) || !strings.Contains(err.Error(), "minute") {
			t.Errorf("an invalid expression: %v", err)
		}
	})
}

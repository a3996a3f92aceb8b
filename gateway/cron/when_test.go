package cron

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

func TestTimesAreParsedAsPeopleWriteThem(t *testing.T) {
	berlin := zone(t, "Europe/Berlin")
	now := time.Date(2026, 3, 28, 17, 30, 15, 0, berlin)
	for text, want := range map[string]string{
		"1800000000":                      "2027-01-15T09:00:00+01:00",
		"1800000000123":                   "2027-01-15T09:00:00.123+01:00",
		"in 20 minutes":                   "2026-03-28T17:50:15+01:00",
		"In  2   Hours":                   "2026-03-28T19:30:15+01:00",
		"in 1.5h":                         "2026-03-28T19:00:15+01:00",
		"in 1 hour and 30 minutes":        "2026-03-28T19:00:15+01:00",
		"in an hour":                      "2026-03-28T18:30:15+01:00",
		"in 1d":                           "2026-03-29T18:30:15+02:00",
		"today":                           "2026-03-28T00:00:00+01:00",
		"tomorrow":                        "2026-03-29T00:00:00+01:00",
		"tomorrow 09:00":                  "2026-03-29T09:00:00+02:00",
		"tomorrow at 9am":                 "2026-03-29T09:00:00+02:00",
		"Today at 12 AM":                  "2026-03-28T00:00:00+01:00",
		"today, 12pm":                     "2026-03-28T12:00:00+01:00",
		"today 18":                        "2026-03-28T18:00:00+01:00",
		"18:00":                           "2026-03-28T18:00:00+01:00",
		"at 9:05":                         "2026-03-29T09:05:00+02:00",
		"2026-04-01T10:00:00Z":            "2026-04-01T12:00:00+02:00",
		"2026-04-01T10:00Z":               "2026-04-01T12:00:00+02:00",
		"2026-04-01 10:00:00 UTC":         "2026-04-01T12:00:00+02:00",
		"2026-04-01T10:00:00.5-04:00":     "2026-04-01T16:00:00.5+02:00",
		"2026-04-01T10:00":                "2026-04-01T10:00:00+02:00",
		"2026-04-01 10:00:07":             "2026-04-01T10:00:07+02:00",
		"2026-04-01":                      "2026-04-01T00:00:00+02:00",
		"2026-10-25 02:30":                "2026-10-25T02:30:00+02:00",
		"2026-10-25 03:00":                "2026-10-25T03:00:00+01:00",
		"2020-01-01":                      "2020-01-01T00:00:00+01:00",
		"Wed, 01 Apr 2026 10:00:00 +0200": "2026-04-01T10:00:00+02:00",
	} {
		t.Run(text, func(t *testing.T) {
			got, err := ParseTime(text, now, berlin)
			if err != nil || got.In(berlin).Format(time.RFC3339Nano) != want {
				t.Errorf("%q: %s %v, want %s", text, got.In(berlin).Format(time.RFC3339Nano), err, want)
			}
		})
	}
	for text, want := range map[string]string{
		"": "write it as", "soon": "write it as", "2026-03-29 02:30": "does not exist in Europe/Berlin", "tomorrow 02:30": "does not exist", "in 5": "not a unit", "in x": "not a duration",
		"in 0 minutes": "too short", "in 999999 weeks": "too long", "today 25:00": "does not exist", "today 13pm": "does not exist", "2026-02-30": "does not exist",
		"2026-04-01 24:00": "does not exist", "2026-04-01 10:00 EST": "not unique", "9999999999999999": "too far", "1969-01-01": "too far", "5": "never",
	} {
		t.Run(text, func(t *testing.T) {
			got, err := ParseTime(text, now, berlin)
			if text == "5" { // a bare hour is a time of day
				if err != nil || got.In(berlin).Hour() != 5 {
					t.Errorf("5: got %s, error %v, want five o'clock", got, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v, want %q", text, err, want)
			}
		})
	}
}

func TestSchedulesOfTheTool(t *testing.T) {
	berlin := zone(t, "Europe/Berlin")
	now := time.Date(2026, 6, 1, 12, 0, 0, 0, berlin) // 1780308000000
	for raw, want := range map[string]string{
		`{"kind":"at","at":"in 2 hours"}`:                             `{"kind":"at","atMs":1780315200000}`,
		`{"kind":"at","in":"30 minutes"}`:                             `{"kind":"at","atMs":1780309800000}`,
		`{"kind":"at","in":"in 30 minutes"}`:                          `{"kind":"at","atMs":1780309800000}`,
		`{"kind":"at","atMs":5}`:                                      `{"kind":"at","atMs":5}`,
		`{"kind":"at","at":1780315200}`:                               `{"kind":"at","atMs":1780315200000}`,
		`{"kind":"at","inMinutes":1.5,"inSeconds":"30"}`:              `{"kind":"at","atMs":1780308120000}`,
		`{"when":"tomorrow 09:00"}`:                                   `{"kind":"at","atMs":1780383600000}`,
		`"in 20 minutes"`:                                             `{"kind":"at","atMs":1780309200000}`,
		`{"kind":"every","everyMinutes":15,"everyHours":0}`:           `{"kind":"every","everyMs":900000,"anchorMs":1780308000000}`,
		`{"kind":"every","everyMinutes":15}`:                          `{"kind":"every","everyMs":900000,"anchorMs":1780308000000}`,
		`{"kind":"every","everyHours":2,"anchor":"2026-06-01 08:00"}`: `{"kind":"every","everyMs":7200000,"anchorMs":1780293600000}`,
		`{"kind":"every","everyDays":1,"anchorMs":7}`:                 `{"kind":"every","everyMs":86400000,"anchorMs":7}`,
		`{"every":"5 minutes"}`:                                       `{"kind":"every","everyMs":300000,"anchorMs":1780308000000}`,
		`"every 10 minutes"`:                                          `{"kind":"every","everyMs":600000,"anchorMs":1780308000000}`,
		`"every hour"`:                                                `{"kind":"every","everyMs":3600000,"anchorMs":1780308000000}`,
		`{"kind":"every","every":"Monday at 8"}`:                      `{"kind":"cron","expr":"0 8 * * 1","tz":"Europe/Berlin"}`,
		`"every other day"`:                                           `{"kind":"every","everyMs":172800000,"anchorMs":1780308000000}`,
		`"every day at 9:30"`:                                         `{"kind":"cron","expr":"30 9 * * *","tz":"Europe/Berlin"}`,
		`"every weekday at 9"`:                                        `{"kind":"cron","expr":"0 9 * * 1-5","tz":"Europe/Berlin"}`,
		`"mondays and fridays at 9:00 and 17:30"`:                     `{"kind":"cron","expr":"0 9 * * 1,5; 30 17 * * 1,5","tz":"Europe/Berlin"}`,
		`"every weekend at 10"`:                                       `{"kind":"cron","expr":"0 10 * * 0,6","tz":"Europe/Berlin"}`,
		`"*/5 * * * *"`:                                               `{"kind":"cron","expr":"*/5 * * * *","tz":"Europe/Berlin"}`,
		`"0 9 * * mon; 30 9 * * tue"`:                                 `{"kind":"cron","expr":"0 9 * * 1; 30 9 * * 2","tz":"Europe/Berlin"}`,
		`"every weekday at 8am"`:                                      `{"kind":"cron","expr":"0 8 * * 1-5","tz":"Europe/Berlin"}`,
		`"Mondays at 8"`:                                              `{"kind":"cron","expr":"0 8 * * 1","tz":"Europe/Berlin"}`,
		`"0 9 * * 1-5"`:                                               `{"kind":"cron","expr":"0 9 * * 1-5","tz":"Europe/Berlin"}`,
		`{"kind":"cron","expr":"0  9 * * *"}`:                         `{"kind":"cron","expr":"0 9 * * *","tz":"Europe/Berlin"}`,
		`{"kind":"cron","expr":"0 9 * * *","tz":"America/New_York"}`:  `{"kind":"cron","expr":"0 9 * * *","tz":"America/New_York"}`,
		`{"kind":"at","atMs":1780308000000,"expr":"","everyMs":null,"note":"unused"}`: `{"kind":"at","atMs":1780308000000}`,
	} {
		t.Run(raw, func(t *testing.T) {
			got, err := parseSchedule(json.RawMessage(raw), now, berlin)
			text, _ := protocol.Marshal(got)
			if err != nil || strings.TrimSpace(string(text)) != want {
				t.Errorf("%s: %s %v, want %s", raw, text, err, want)
			}
		})
	}
	for raw, want := range map[string]string{
		`{}`: "needs \"at\"", `[]`: "must be an object", `7`: "must be an object", `null`: "write it as", `{"kind":"weekly"}`: "must be at, every or cron",
		`{"kind":"every"}`: "needs everyMinutes", `{"kind":"every","everyMs":5}`: "1000 or more",
		`{"kind":"every","everyMinutes":90,"everyHours":1.5}`: "both everyMinutes and everyHours", `{"kind":"every","everyMinutes":"x"}`: "must be a number",
		`{"kind":"every","everyMinutes":-1}`: "negative", `{"kind":"cron","expr":"* *"}`: "exactly 5", `{"kind":"cron","expr":"* * * * *","tz":"Mars"}`: "no time zone",
		`{"kind":"cron","expr":"* * * * *","tz":"Local"}`: "no time zone", `{"kind":"at","at":-1}`: "must be a time", `"every now and then"`: "not a unit", `"61 * * * *"`: "minute", `"soon"`: "every weekday at 9:00", `""`: "write it as",
	} {
		t.Run(raw, func(t *testing.T) {
			if got, err := parseSchedule(json.RawMessage(raw), now, berlin); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %+v %v, want %q", raw, got, err, want)
			}
		})
	}
}

func TestIntervalsKeepTheirGrid(t *testing.T) {
	anchor := int64(100_000)
	for _, c := range []struct {
		anchor          *int64
		base, now, want int64
	}{
		{nil, 1000, 1000, 21_000},
		{nil, 1000, 20_999, 21_000},
		{nil, 1000, 21_000, 41_000},
		{nil, 100_000, 35_000, 40_000},
		{nil, 100_000, 40_000, 60_000},
		{&anchor, 1000, 5, 100_000},
		{&anchor, 1000, 100_000, 120_000},
	} {
		s := protocol.CronSchedule{Kind: protocol.CronEvery, EveryMs: 20_000, AnchorMs: c.anchor}
		if got := nextRun(s, c.base, c.now, time.UTC); got != c.want {
			t.Errorf("%+v: got %d, want %d", c, got, c.want)
		}
	}
}

func FuzzSchedule(f *testing.F) {
	for _, s := range []string{
		`"in 20 minutes"`, `"tomorrow at 9am"`, `{"kind":"at","at":"2026-03-29T02:30"}`, `{"kind":"every","everyMinutes":5,"anchor":"today 8:00"}`,
		`{"kind":"cron","expr":"*/5 * * * *","tz":"Europe/Berlin"}`, `"every monday at 8"`, `{"in":"1h 30m"}`, `{"atMs":1e300}`, `"at 12:60pm"`,
	} {
		f.Add(s)
	}
	loc := zone(f, "Australia/Lord_Howe")
	now := time.Date(2026, 4, 4, 20, 0, 0, 0, loc)
	f.Fuzz(func(t *testing.T, raw string) {
		s, err := parseSchedule(json.RawMessage(raw), now, loc)
		if err != nil {
			return
		}
		again, err := checkSchedule(s, loc)
		if err != nil || again.Kind != s.Kind {
			t.Fatalf("%s: got %+v, error %v, want one that cron.add accepts", raw, s, err)
		}
		if next := nextRun(s, now.UnixMilli(), now.UnixMilli(), loc); s.Kind != protocol.CronAt && next <= now.UnixMilli() {
			t.Fatalf("%s: got due at %d, want later than now", raw, next)
		}
	})
}

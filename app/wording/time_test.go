package wording

import (
	"strings"
	"testing"
	"time"
)

func TestTimesAreReadAsPeopleWriteThem(t *testing.T) {
	now := time.Date(2026, 3, 28, 20, 0, 0, 0, time.UTC)
	for text, want := range map[string]string{
		"18:30": "2026-03-29 18:30", "20:01": "2026-03-28 20:01", " Tomorrow  at 9:00": "2026-03-29 09:00", "today 18:30": "2026-03-28 18:30",
		"2026-05-03 18:30": "2026-05-03 18:30", "3.5.2026 18:30": "2026-05-03 18:30", "tomorrow": "", "25:00": "", "": "", "in a while": "",
	} {
		t.Run(text, func(t *testing.T) {
			got, err := ParseWhen(text, now)
			if want == "" != (err != nil) || err == nil && got.Format("2006-01-02 15:04") != want {
				t.Errorf("%q is %v, %v; want %q", text, got, err, want)
			}
		})
	}
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"tomorrow 2:30", "2:30", "2026-03-29 02:30"} {
		if got, err := ParseWhen(text, now.In(berlin)); err == nil || !strings.Contains(err.Error(), "02:30 does not exist on 29 March 2026") {
			t.Errorf(`%q is %v, %v; want an error with "02:30 does not exist on 29 March 2026"`, text, got, err)
		}
	}
}

func TestTimesAreWrittenInWords(t *testing.T) {
	now := time.Date(2026, 3, 28, 20, 0, 0, 0, time.UTC)
	for d, want := range map[time.Duration]string{
		-time.Minute: "due now", time.Minute: "in a minute", 20 * time.Minute: "in 20 minutes", 2*time.Hour + 5*time.Minute: "in 2 h 5 min, at 22:05",
		13 * time.Hour: "tomorrow at 09:00", 60 * time.Hour: "Tuesday at 08:00", 400 * 24 * time.Hour: "2 May 2027 at 20:00", 30 * 24 * time.Hour: "27 Apr at 20:00",
	} {
		if got := UntilText(now.Add(d).UnixMilli(), now); got != want {
			t.Errorf("%s is %q, want %q", d, got, want)
		}
	}
}

func TestTimeLeftCountsSecondsInTheLastHour(t *testing.T) {
	now := time.Date(2026, 3, 28, 12, 0, 0, 0, time.UTC)
	for left, want := range map[time.Duration]string{
		-time.Second: "0:00 left", 42 * time.Second: "0:42 left", 5 * time.Minute: "5:00 left", 90 * time.Minute: "1 h 30 min left", 7*24*time.Hour - time.Second: "7 days left",
	} {
		if got := TimeLeft(now.Add(left).UnixMilli(), now); got != want {
			t.Errorf("%s: got %q, want %q", left, got, want)
		}
	}
}

func TestMinutesLeftChangeOnceAMinute(t *testing.T) {
	now := time.Date(2026, 3, 28, 20, 0, 0, 0, time.UTC)
	for left, want := range map[time.Duration]string{
		15*time.Minute + time.Second: "15 min left", 23 * time.Minute: "23 min left", 65 * time.Minute: "1 h 5 min left", time.Hour: "1 h left",
		59*time.Minute + 40*time.Second: "1 h left", 2 * time.Minute: "2 min left", 80 * time.Second: "1 min left", time.Second: "1 min left",
	} {
		if got := MinutesLeft(now.Add(left).UnixMilli(), now); got != want {
			t.Errorf("%s: got %q, want %q", left, got, want)
		}
	}
}

func TestRemainingTimesAreShort(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "", 3 * time.Second: "a few seconds", 42 * time.Second: "about 40 s", 2 * time.Minute: "about 2 min", 3 * time.Hour: "about 3 h",
		72 * time.Hour: "about 3 days",
	} {
		if got := ETAText(d); got != want {
			t.Errorf("%s is %q, want %q", d, got, want)
		}
	}
}

package when

import (
	"errors"
	"testing"
	"time"
)

func TestDurationsAreParsedAsPeopleWriteThem(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{
		"20 minutes": 20 * time.Minute, "1.5h": 90 * time.Minute, "1 hour and 30 minutes": 90 * time.Minute, "an hour": time.Hour, "2h30m": 150 * time.Minute,
		" 1 Day, 2 hrs": 26 * time.Hour, "1w": 7 * 24 * time.Hour, "5ms": 5 * time.Millisecond,
	} {
		t.Run(text, func(t *testing.T) {
			if got, err := Parse(text); err != nil || got != want {
				t.Errorf("%q: got %s, error %v, want %s", text, got, err, want)
			}
		})
	}
	for _, text := range []string{"", "soon", "5", "-5m", "1 fortnight", "1h soon", "0m", "1e9h", "200 years", "99999999w", "0.0001ms"} {
		if got, err := Parse(text); err == nil {
			t.Errorf("%q: got %s, want an error", text, got)
		}
	}
}

func TestTimesOfDay(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"18:00": 1080, "9am": 540, "12am": 0, "12pm": 720, "9": 540, "0:05": 5, "6:30 pm": 1110} {
		t.Run(text, func(t *testing.T) {
			if hour, minute, err := OfDay(text); err != nil || hour*60+minute != want {
				t.Errorf("%q: got %d:%d, error %v, want %d minutes", text, hour, minute, err, want)
			}
		})
	}
	for _, text := range []string{"", "x", "900", "1:5", "18:00:00"} {
		if _, _, err := OfDay(text); !errors.Is(err, ErrOfDay) {
			t.Errorf("%q: got %v; want the error ErrOfDay", text, err)
		}
	}
	for _, text := range []string{"25:00", "18:60", "13pm", "0am"} {
		if _, _, err := OfDay(text); err == nil || errors.Is(err, ErrOfDay) {
			t.Errorf("%q: got %v; want another error than ErrOfDay", text, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("1 hour and 30 minutes")
	f.Add("a a a one an")
	f.Fuzz(func(t *testing.T, text string) {
		if d, err := Parse(text); err == nil && (d <= 0 || d > Most) {
			t.Errorf("%q: got %s, want more than 0 and at most %s", text, d, Most)
		}
	})
}

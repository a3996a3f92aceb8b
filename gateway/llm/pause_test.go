package llm

import (
	"testing"
	"time"
)

func TestPauseIsDescribedInPlainWords(t *testing.T) {
	for d, want := range map[time.Duration]string{
		500 * time.Millisecond: "0.5 s", 2 * time.Second: "2 s", 2099 * time.Millisecond: "2.1 s", 90 * time.Second: "90 s", 101 * time.Second: "2 min",
		99*time.Minute + time.Second: "100 min", 2 * time.Hour: "2 h", 25*time.Hour + 1: "26 h",
	} {
		if got := Pause(d); got != want {
			t.Errorf("%s: %s, want %s", d, got, want)
		}
	}
}

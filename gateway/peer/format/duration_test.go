package format

import (
	"testing"
	"time"
)

func TestDurationIsWrittenInWords(t *testing.T) {
	t.Parallel()
	for d, want := range map[time.Duration]string{
		5 * time.Minute: "5 minutes", time.Minute: "1 minute", 90 * time.Second: "1 minute 30 seconds", time.Second: "1 second",
		2 * time.Hour: "2 hours", 24*time.Hour + time.Second: "24 hours 1 second", 30 * time.Millisecond: "30 milliseconds",
		100 * time.Microsecond: "1 millisecond", 1600 * time.Millisecond: "2 seconds", 0: "0 milliseconds",
	} {
		if got := Duration(d); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
}

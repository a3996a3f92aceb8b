package llm

import (
	"fmt"
	"strconv"
	"time"
)

// Pause formats a duration for people: 0.5 s, 12 s, 3 min, 5 h. A long one is rounded up, because a
// request that comes too early is refused again.
func Pause(d time.Duration) string {
	switch {
	case d < 10*time.Second:
		return strconv.FormatFloat(d.Round(100*time.Millisecond).Seconds(), 'f', -1, 64) + " s"
	case d < 100*time.Second:
		return fmt.Sprintf("%d s", int(d.Round(time.Second).Seconds()))
	case d < 100*time.Minute:
		return fmt.Sprintf("%d min", int((d + time.Minute - 1).Minutes()))
	}
	return fmt.Sprintf("%d h", int((d + time.Hour - 1).Hours()))
}

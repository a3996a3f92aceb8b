// Package memory gives memory back to the system: while a window is hidden, and when the program rests.
package memory

import "time"

// Rest finds out when the program does nothing, so that it can return the memory that it has used.
type Rest struct {
	checked  time.Time     // time of the last check; zero before the first tick
	used     time.Duration // processor time until then
	released bool          // since the last use
}

const (
	restCheck = 15 * time.Second
	// busyTime is the processor time in restCheck that means that the program is used. At rest, it
	// uses about a tenth of it.
	busyTime = restCheck / 10
)

// Tick calls release once, when the program has rested from one check to the next. used is the
// processor time until now. The first tick starts the first check: what the start has used is
// released only when the program rests after it.
func (r *Rest) Tick(now time.Time, used func() time.Duration, release func()) {
	if now.Sub(r.checked) < restCheck {
		return
	}
	total := used()
	if r.checked.IsZero() {
		r.checked, r.used = now, total
		return
	}
	busy := total-r.used >= busyTime
	r.checked, r.used = now, total
	switch {
	case busy:
		r.released = false
	case !r.released:
		r.released = true
		release()
	}
}

package memory

import (
	"time"

	"fairlead/app/native"
)

// Releases give memory back while a window is hidden: what the window used, and later what the
// toolkit remembered of its pages.
type Releases struct {
	release func() // gives free memory back to the system
	steps   []step // in the order of their times
}

// NewReleases returns releases that have not started.
func NewReleases(release func()) Releases { return Releases{release: release} }

// step is something to do at a time.
type step struct {
	at time.Time
	do func()
}

// Start plans the releases after a window was hidden.
func (r *Releases) Start(now time.Time) {
	r.steps = []step{
		{now, r.release}, // at the next tick: the toolkit has closed the window by then
		{now.Add(native.RendererAge), native.FreeRenderers},
		{now.Add(native.RendererAge + 15*time.Second), r.release},
	}
}

// Cancel drops what is planned.
func (r *Releases) Cancel() { r.steps = nil }

// Tick does what is due.
func (r *Releases) Tick(now time.Time) {
	for len(r.steps) > 0 && !now.Before(r.steps[0].at) {
		r.steps[0].do()
		r.steps = r.steps[1:]
	}
}

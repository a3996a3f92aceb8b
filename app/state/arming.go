package state

import "time"

// Arming decides when Allow may be pressed, so that nobody allows by accident: the question was on the screen for a second, no key was
// pressed for a moment, its window was not just activated by the very click, and all of it was in view. A question that changes starts
// over. It has no clock of its own.
type Arming struct {
	hash  string
	since time.Time // shown
	key   time.Time // last key
	click time.Time // before when clicks do not count: the window was activated
	read  bool      // its end was in view
}

// How long a question must be seen, and how long keys must be quiet and the window active.
const (
	ArmAfter = time.Second
	QuietFor = 400 * time.Millisecond
)

// Show notes that a question with this hash is on the screen.
func (a *Arming) Show(hash string, now time.Time) {
	if hash != a.hash || a.since.IsZero() {
		*a = Arming{hash: hash, since: now, key: a.key, click: a.click}
	}
}

// Hide notes that it is not: it must be seen again.
func (a *Arming) Hide() { *a = Arming{key: a.key, click: a.click} }

// Key notes a key press, wherever it went.
func (a *Arming) Key(now time.Time) { a.key = now }

// Activated notes that the window came to the front: the click that did it does not count.
func (a *Arming) Activated(now time.Time) { a.click = now.Add(QuietFor) }

// Read notes that the end of the text is in view.
func (a *Arming) Read() { a.read = true }

// Armed reports whether Allow may be pressed, and how far it is, from 0 to 1.
func (a *Arming) Armed(now time.Time) (ok bool, progress float64) {
	if a.since.IsZero() {
		return false, 0
	}
	shown := min(1, float64(now.Sub(a.since))/float64(ArmAfter))
	quiet := 1.0
	if !a.key.IsZero() {
		quiet = min(1, float64(now.Sub(a.key))/float64(QuietFor))
	}
	if !a.click.IsZero() {
		quiet = min(quiet, 1-float64(a.click.Sub(now))/float64(QuietFor))
	}
	progress = max(0, min(shown, quiet))
	if !a.read {
		progress = min(progress, 0.99)
	}
	return shown >= 1 && quiet >= 1 && a.read, progress
}

// Deliberate reports whether a key pressed now is meant for the question, and not for what the person was typing elsewhere when it
// appeared: then it must not even deny.
func (a *Arming) Deliberate(now time.Time) bool {
	return !a.since.IsZero() && now.Sub(a.since) >= QuietFor && now.Sub(a.key) >= QuietFor
}

package state

import "time"

// Arming decides when Allow is enabled, to prevent accidental approval: the question has been
// visible for a second, no key was pressed recently, its window was not activated by this very
// click, and all of its text has been in view. When the question changes, everything starts over.
// The caller passes the time.
type Arming struct {
	hash  string
	since time.Time // start of visibility
	key   time.Time // last key press
	click time.Time // clicks before this time do not count, because they activated the window
	read  bool      // the end of the text was in view
}

// Required time of visibility, and of rest after a key press or an activation of the window.
const (
	ArmAfter = time.Second
	QuietFor = 400 * time.Millisecond
)

// Show records that the question with this hash is visible.
func (a *Arming) Show(hash string, now time.Time) {
	if hash != a.hash || a.since.IsZero() {
		*a = Arming{hash: hash, since: now, key: a.key, click: a.click}
	}
}

// Hide records that it is not: it must be seen again.
func (a *Arming) Hide() { *a = Arming{key: a.key, click: a.click} }

// Key records a key press in any window.
func (a *Arming) Key(now time.Time) { a.key = now }

// WindowActivated records that the window came to the front: the click that caused it does not
// count.
func (a *Arming) WindowActivated(now time.Time) { a.click = now.Add(QuietFor) }

// Read records that the end of the text is in view.
func (a *Arming) Read() { a.read = true }

// IsArmed reports whether Allow is enabled, and the progress towards it from 0 to 1.
func (a *Arming) IsArmed(now time.Time) (ok bool, progress float64) {
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

// Deliberate reports whether a key press now is meant for the question. Otherwise it was meant for
// whatever the person was typing when the question appeared, and must not even deny.
func (a *Arming) Deliberate(now time.Time) bool {
	return !a.since.IsZero() && now.Sub(a.since) >= QuietFor && now.Sub(a.key) >= QuietFor
}

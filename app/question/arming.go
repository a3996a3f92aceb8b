package question

import (
	"fmt"
	"strings"
	"time"
)

// Arming decides when Allow is enabled, to prevent accidental approval: the question has been
// visible and unchanged for two seconds, and its end has been in view. From then on a click counts,
// wherever the keyboard was. A key press delays Allow for a moment, because it may be meant for
// something else. The caller passes the time.
type Arming struct {
	hash  string
	since time.Time // start of visibility
	key   time.Time // last key press
	read  bool      // the end of the text was in view
}

// Required time of visibility, and of rest after a key press.
const (
	ArmAfter = 2 * time.Second
	QuietFor = 400 * time.Millisecond
)

// Show records that the question with this hash is visible.
func (a *Arming) Show(hash string, now time.Time) {
	if hash != a.hash || a.since.IsZero() {
		*a = Arming{hash: hash, since: now, key: a.key}
	}
}

// ArmingInView is for a question that is visible from now on and needs no scrolling to its end: it
// is short, or has the buttons there.
func ArmingInView(hash string, now time.Time) Arming {
	return Arming{hash: hash, since: now, read: true}
}

// Hide records that it is not: it must be seen again.
func (a *Arming) Hide() { *a = Arming{key: a.key} }

// Key records a key press in the question's window.
func (a *Arming) Key(now time.Time) { a.key = now }

// Read records that the end of the text is in view.
func (a *Arming) Read() { a.read = true }

// IsArmed reports whether Allow is enabled.
func (a *Arming) IsArmed(now time.Time) bool {
	return !a.since.IsZero() && a.read && now.Sub(a.since) >= ArmAfter && now.Sub(a.key) >= QuietFor
}

// WaitingText says on the button what Allow waits for: "Scroll to the end to allow", or the time:
// "Allow in 2 s". verb is "Allow", or what the button does instead. It is empty if Allow waits for
// neither.
func (a *Arming) WaitingText(now time.Time, verb string) string {
	left := ArmAfter - now.Sub(a.since)
	switch {
	case a.since.IsZero():
		return ""
	case !a.read:
		return "Scroll to the end to " + strings.ToLower(verb)
	case left > 0:
		return fmt.Sprintf("%s in %d s", verb, int((left+time.Second-1)/time.Second))
	}
	return ""
}

// WhyWaits explains why Allow, or the button with another verb instead, is not enabled yet.
func WhyWaits(verb string) string {
	return verb + " needs all of the question in view, unchanged for two seconds."
}

// Deliberate reports whether a key press now is meant for the question, not for earlier typing.
func (a *Arming) Deliberate(now time.Time) bool {
	return !a.since.IsZero() && now.Sub(a.since) >= QuietFor && now.Sub(a.key) >= QuietFor
}

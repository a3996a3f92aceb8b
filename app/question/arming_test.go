package question

import (
	"testing"
	"time"
)

func TestAllowIsArmedOnlyAfterTheQuestionWasSeen(t *testing.T) {
	t.Parallel()
	start := time.Unix(1000, 0)
	at := func(ms int) time.Time { return start.Add(time.Duration(ms) * time.Millisecond) }
	armed := func(a *Arming, ms int) bool { return a.IsArmed(at(ms)) }

	var a Arming
	if armed(&a, 5000) {
		t.Error("armed before anything was shown")
	}
	a.Show("h", at(0))
	a.Read()
	if armed(&a, 1999) || !armed(&a, 2000) {
		t.Error("two seconds are not the limit")
	}
	a.Key(at(2200))
	if armed(&a, 2599) || !armed(&a, 2600) {
		t.Error("a key does not disarm for 400 ms")
	}
	a.Show("h", at(2700))
	if !armed(&a, 2700) {
		t.Error("the same question starts over")
	}
	a.Show("other", at(2800))
	a.Read()
	if armed(&a, 4799) || !armed(&a, 4800) {
		t.Error("a changed question does not start over")
	}
	a.Hide()
	if armed(&a, 9000) {
		t.Error("armed while hidden")
	}
	a.Show("other", at(9000))
	if armed(&a, 12000) {
		t.Error("armed although its end was not in view")
	}
}

func TestAllowSaysWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	start := time.Unix(1000, 0)
	for _, c := range []struct {
		name, verb, want string
		read             bool
		after            time.Duration
	}{
		{"at once", "Allow", "Allow in 2 s", true, 0},
		{"almost a second", "Allow", "Allow in 2 s", true, 900 * time.Millisecond},
		{"a second", "Run", "Run in 1 s", true, time.Second},
		{"two seconds", "Allow", "", true, 2 * time.Second},
		{"the end is not in view", "Allow", "Scroll to the end to allow", false, 0},
		{"the end is never in view", "Run", "Scroll to the end to run", false, time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var a Arming
			a.Show("h", start)
			if c.read {
				a.Read()
			}
			if got := a.WaitingText(start.Add(c.after), c.verb); got != c.want {
				t.Errorf("the button says %q, want %q", got, c.want)
			}
		})
	}
}

func TestKeysTypedForAnotherWindowAnswerNothing(t *testing.T) {
	start := time.Unix(1000, 0)
	var a Arming
	a.Show("h", start)
	if a.Deliberate(start.Add(100 * time.Millisecond)) {
		t.Error("a key right after the question appeared counts")
	}
	a.Key(start.Add(900 * time.Millisecond))
	if a.Deliberate(start.Add(time.Second)) {
		t.Error("a key in the middle of typing counts")
	}
	if !a.Deliberate(start.Add(2 * time.Second)) {
		t.Error("a key after a pause does not count")
	}
}

package app

import (
	"strings"
	"testing"
	"time"
)

func TestADeletedChatIsNamed(t *testing.T) {
	if got := deleted("Fix the\nparser"); got != "“Fix the parser” was deleted." {
		t.Error(got)
	}
}

func TestEveryOfferToUndoStandsItsTime(t *testing.T) {
	s := newTestShell(t)
	s.update(sample())
	var undone []string
	now := time.Now()
	for _, name := range []string{"one", "two"} {
		s.offerUndo(name+" was deleted.", func() { undone = append(undone, name) }, now.Add(10*time.Second))
	}
	s.say("Saved")
	if len(s.undos) != 2 || !s.undos[0].Visible() || !s.undos[1].Visible() || !s.toast.Visible() {
		t.Fatalf("%d offers", len(s.undos))
	}
	if a, b := s.undos[0].Position(), s.undos[1].Position(); a.Y+s.undos[0].Size().Height > b.Y {
		t.Errorf("they stand on each other: %v, %v", a, b)
	}
	s.undos[0].Undo()
	s.tick(now.Add(time.Second))
	if strings.Join(undone, " ") != "one" || len(s.undos) != 1 {
		t.Errorf("undone %v, %d offers are left", undone, len(s.undos))
	}
	s.tick(now.Add(11 * time.Second))
	if len(s.undos) != 0 || len(s.foot.Objects) != 2 {
		t.Errorf("%d offers stay", len(s.undos))
	}
	for range 20 {
		s.offerUndo("gone", func() {}, now.Add(10*time.Second))
	}
	if len(s.undos) != maxUndos {
		t.Errorf("%d offers stand over each other", len(s.undos))
	}
}

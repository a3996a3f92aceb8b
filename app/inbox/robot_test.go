package inbox

import (
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/driver/desktop"
	"fyne.io/fyne/v2/test"

	"fairlead/app/feed"
	"fairlead/app/question"
	"fairlead/gateway/protocol"
)

// robot uses a dialog without looking: keys and clicks anywhere, at once and without a pause.
func robot(b *bench, rnd *rand.Rand) {
	c := b.window.Canvas()
	keys := []fyne.KeyName{
		fyne.KeyReturn, fyne.KeyEnter, fyne.KeySpace, fyne.KeyTab, fyne.KeyDown, fyne.KeyUp, fyne.KeyLeft, fyne.KeyRight, fyne.KeyA, fyne.KeyY,
		fyne.KeyHome, fyne.KeyEnd, fyne.KeyPageDown, fyne.KeyBackspace, fyne.KeyDelete, desktop.KeyShiftLeft,
	}
	came := b.now
	for range 1 + rnd.IntN(12) {
		switch rnd.IntN(6) {
		case 0, 1, 2:
			key := keys[rnd.IntN(len(keys))]
			if key == fyne.KeyTab {
				c.(interface{ FocusNext() }).FocusNext()
				b.keys.handle(key)
				break
			}
			if c.Focused() == nil {
				b.keys.handle(key)
			}
			b.press(key)
		case 3:
			for _, r := range "yes, allow it\n" {
				if f := c.Focused(); f != nil {
					f.TypedRune(r)
				}
			}
			b.keys.handle(fyne.KeyA)
		case 4:
			b.keys.handle(fyne.KeyA) // while typing
			b.keys.allow(nil)
		case 5:
			if b.now.Sub(came) > question.ArmAfter-100*time.Millisecond {
				break // a person may mean it
			}
			at := fyne.NewPos(rnd.Float32()*c.Size().Width, rnd.Float32()*c.Size().Height)
			if rnd.IntN(2) == 0 { // most buttons are at the bottom
				at.Y = c.Size().Height - 30
			}
			test.TapCanvas(c, at)
		}
		b.now = b.now.Add(time.Duration(rnd.IntN(380)) * time.Millisecond)
		b.Tick(b.now)
	}
}

// TestRobotNeverAllows shows 1,000 dialogs, or 10,000 with FAIRLEAD_ROBOT=1, of which none may be
// allowed. Every dialog is a new approval; the window stays, as it does for a person. It shows that
// no burst of keys with pauses shorter than 400 ms allows anything, whatever has the focus, and
// neither does a click in the first 1.9 s, wherever it is.
func TestRobotNeverAllows(t *testing.T) {
	b := newBench(t, ask("first", "make"))
	rnd := rand.New(rand.NewPCG(7, 7))
	kinds := []func(string) protocol.Question{func(id string) protocol.Question { return ask(id, "make") }, risky, approvalWithRules, twoParts}
	dialogs := 10_000
	if os.Getenv("FAIRLEAD_ROBOT") == "" {
		dialogs = 1_000 // otherwise it takes a minute
	}
	for i := range dialogs {
		q := kinds[i%len(kinds)](string(rune('a'+i%26)) + protocol.NewID())
		b.Update([]protocol.Question{q}, feed.View{})
		robot(b, rnd)
		for _, r := range b.replies {
			if r.Decision == protocol.DecisionAllow {
				t.Fatalf("dialog %d was allowed: %+v", i, r)
			}
		}
		if len(b.window.Canvas().Overlays().List()) > 0 {
			b.window.Canvas().Overlays().Remove(b.window.Canvas().Overlays().Top())
		}
		b.replies, b.answers, b.told, b.tried = nil, nil, nil, nil
	}
}

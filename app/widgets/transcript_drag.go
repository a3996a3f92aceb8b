package widgets

import (
	"time"

	"fyne.io/fyne/v2"
)

// mostDrift is by how many points a step scrolls at most what is marked beyond its edge.
const mostDrift = 60

// Dragged implements fyne.Draggable: it marks up to where the mouse is, and scrolls when that is above or below, or beside the panel that a text
// stands in. That goes on while the mouse is held there.
func (t *Transcript) Dragged(e *fyne.DragEvent) {
	if !t.marks.on {
		return
	}
	t.marks.dragging = true
	t.dragTo = e.Position
	if !t.dragStep() {
		t.endDrift()
	} else if t.drift == nil {
		t.drift = fyne.NewAnimation(time.Second, func(float32) {
			if now := time.Now(); now.Sub(t.drifted) >= driftPause {
				t.drifted = now
				t.dragStep()
			}
		})
		t.drifted = time.Now()
		t.drift.Curve, t.drift.RepeatCount = fyne.AnimationLinear, fyne.AnimationRepeatForever
		t.drift.Start()
	}
}

// driftPause is how long the mouse is held before what is marked scrolls on by itself, and then between two steps.
const driftPause = 60 * time.Millisecond

// DragEnd implements fyne.Draggable.
func (t *Transcript) DragEnd() {
	t.marks.dragging = false
	t.endDrift()
}

func (t *Transcript) endDrift() {
	if t.drift != nil {
		t.drift.Stop()
		t.drift = nil
	}
}

// dragStep marks up to where the mouse is. It reports whether it scrolled for that.
func (t *Transcript) dragStep() (scrolled bool) {
	if !t.marks.on {
		return false
	}
	at := t.dragTo
	if to, in, ok := t.spotAt(at); ok {
		if c, ok := in.(*Code); ok && c.drag != nil && to.key == t.marks.from.key {
			if scrolled = c.drag(t.beyond(c, at)); scrolled {
				to, in, _ = t.spotAt(at)
			}
		}
		t.markTo(to, in)
	}
	if scrolled {
		return true
	}
	before, into := t.anchor, t.into
	switch {
	case at.Y < 0:
		t.scrollBy(max(at.Y, -mostDrift))
	case at.Y > t.Size().Height:
		t.scrollBy(min(at.Y-t.Size().Height, mostDrift))
	default:
		return false
	}
	if to, in, ok := t.spotAt(at); ok {
		t.markTo(to, in)
	}
	return t.anchor != before || t.into != into
}

// markTo marks up to a place in a passage.
func (t *Transcript) markTo(to spot, in Passage) {
	if t.marks.grain > 1 {
		a, b := in.Word(to.at, t.marks.grain > 2)
		if to.at = b; t.before(to, t.marks.from) {
			to.at = a
		}
	}
	t.marks.to = to
	t.paintMarks()
}

// beyond is how far a point of the transcript is outside of what is in view of code: negative above and to the left of it.
func (t *Transcript) beyond(c *Code, at fyne.Position) fyne.Delta {
	d := fyne.CurrentApp().Driver()
	in, size := c.seen()
	at = at.Subtract(d.AbsolutePositionForObject(c).Subtract(d.AbsolutePositionForObject(t)).Add(in))
	far := func(v, long float32) float32 {
		return min(max(min(v, 0)+max(v-long, 0), -mostDrift), mostDrift)
	}
	return fyne.NewDelta(far(at.X, size.Width), far(at.Y, size.Height))
}

// spotAt is the place in the text on the screen that is nearest to a point of the transcript.
func (t *Transcript) spotAt(at fyne.Position) (spot, Passage, bool) {
	d := fyne.CurrentApp().Driver()
	origin := d.AbsolutePositionForObject(t)
	best, found := spot{}, Passage(nil)
	least := float32(-1)
	for _, a := range t.order {
		if least >= 0 && (a.y > at.Y+least || a.y+a.h < at.Y-least) {
			continue
		}
		for i, p := range passages(a.row) {
			if !p.Visible() {
				continue
			}
			pos := d.AbsolutePositionForObject(p).Subtract(origin)
			from, size := pos, p.Size()
			if c, ok := p.(*Code); ok { // what its panel shows of it
				var in fyne.Position
				in, size = c.seen()
				from = from.Add(in)
			}
			far := 1000*outside(at.Y, from.Y, size.Height) + outside(at.X, from.X, size.Width)
			if least < 0 || far < least {
				least, found = far, p
				best = spot{a.item.Key, i, p.Index(at.Subtract(pos))}
			}
		}
	}
	return best, found, found != nil
}

// outside is how far v is from what begins at from and is long.
func outside(v, from, long float32) float32 { return max(from-v, v-from-long, 0) }

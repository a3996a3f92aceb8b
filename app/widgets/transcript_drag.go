package widgets

import (
	"time"

	"fyne.io/fyne/v2"
)

// mostDrift is the maximum scroll distance of a step, in points.
const mostDrift = 60

// Dragged implements fyne.Draggable: it selects up to the mouse, and scrolls when the mouse is
// above or below the view, or beside the panel with the selected text. Scrolling continues while
// the mouse is held there.
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

// driftPause is the time before the view scrolls by itself, and between two steps.
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

// dragStep selects up to the mouse. It reports whether it scrolled for that.
func (t *Transcript) dragStep() (scrolled bool) {
	if !t.marks.on {
		return false
	}
	at := t.dragTo
	if to, in, ok := t.spotAt(at); ok {
		if c, ok := in.(*Code); ok && to.key == t.marks.from.key {
			if scrolled = c.DragBy(t.beyond(c, at)); scrolled {
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

// markTo selects up to a position in a passage.
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

// beyond returns the distance of a point of the transcript from the visible part of code: negative
// above and to the left of it.
func (t *Transcript) beyond(c *Code, at fyne.Position) fyne.Delta {
	d := fyne.CurrentApp().Driver()
	in, size := c.VisibleArea()
	at = at.Subtract(d.AbsolutePositionForObject(c).Subtract(d.AbsolutePositionForObject(t)).Add(in))
	far := func(v, long float32) float32 {
		return min(max(min(v, 0)+max(v-long, 0), -mostDrift), mostDrift)
	}
	return fyne.NewDelta(far(at.X, size.Width), far(at.Y, size.Height))
}

// spotAt returns the visible text position nearest to a point of the transcript.
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
			if c, ok := p.(*Code); ok { // the part visible in its panel
				var in fyne.Position
				in, size = c.VisibleArea()
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

// outside returns the distance of v from the interval that begins at from and has this length.
func outside(v, from, long float32) float32 { return max(from-v, v-from-long, 0) }

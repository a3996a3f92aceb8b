package transcript

import (
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/code"
	"fairlead/app/selection"
)

// maxAutoScroll is the maximum scroll distance of a step, in points.
const maxAutoScroll = 60

// Dragged implements fyne.Draggable: it selects up to the mouse, and scrolls when the mouse is
// above or below the view, or beside the panel with the selected text. Scrolling continues while
// the mouse is held there.
func (t *View) Dragged(e *fyne.DragEvent) {
	if !t.selection.active {
		return
	}
	t.selection.dragging = true
	t.dragTo = e.Position
	if !t.extendDrag() {
		t.stopAutoScroll()
	} else if t.autoScroll == nil {
		t.autoScroll = fyne.NewAnimation(time.Second, func(float32) {
			if now := time.Now(); now.Sub(t.lastAutoScroll) >= autoScrollPause {
				t.lastAutoScroll = now
				t.extendDrag()
			}
		})
		t.lastAutoScroll = time.Now()
		t.autoScroll.Curve, t.autoScroll.RepeatCount = fyne.AnimationLinear, fyne.AnimationRepeatForever
		t.autoScroll.Start()
	}
}

// autoScrollPause is the time before the view scrolls by itself, and between two steps.
const autoScrollPause = 60 * time.Millisecond

// DragEnd implements fyne.Draggable.
func (t *View) DragEnd() {
	t.selection.dragging = false
	t.stopAutoScroll()
}

func (t *View) stopAutoScroll() {
	if t.autoScroll != nil {
		t.autoScroll.Stop()
		t.autoScroll = nil
	}
}

// extendDrag selects up to the mouse. It reports whether it scrolled for that.
func (t *View) extendDrag() (scrolled bool) {
	if !t.selection.active {
		return false
	}
	at := t.dragTo
	if to, in, ok := t.positionAt(at); ok {
		if c, ok := in.(*code.View); ok && to.item == t.selection.from.item {
			if scrolled = c.DragBy(t.distanceOutside(c, at)); scrolled {
				to, in, _ = t.positionAt(at)
			}
		}
		t.selectTo(to, in)
	}
	if scrolled {
		return true
	}
	before, into := t.anchor, t.topOffset
	switch {
	case at.Y < 0:
		t.scrollBy(max(at.Y, -maxAutoScroll))
	case at.Y > t.Size().Height:
		t.scrollBy(min(at.Y-t.Size().Height, maxAutoScroll))
	default:
		return false
	}
	if to, in, ok := t.positionAt(at); ok {
		t.selectTo(to, in)
	}
	return t.anchor != before || t.topOffset != into
}

// selectTo selects up to a position in a passage.
func (t *View) selectTo(to textPosition, in selection.Passage) {
	if t.selection.unit > 1 {
		a, b := in.Word(to.rune, t.selection.unit > 2)
		if to.rune = b; t.before(to, t.selection.from) {
			to.rune = a
		}
	}
	t.selection.to = to
	t.paintSelection()
}

// distanceOutside returns the distance of a point of the transcript from the visible part of code:
// negative above and to the left of it.
func (t *View) distanceOutside(c *code.View, at fyne.Position) fyne.Delta {
	d := fyne.CurrentApp().Driver()
	in, size := c.VisibleArea()
	at = at.Subtract(d.AbsolutePositionForObject(c).Subtract(d.AbsolutePositionForObject(t)).Add(in))
	far := func(v, long float32) float32 {
		return min(max(min(v, 0)+max(v-long, 0), -maxAutoScroll), maxAutoScroll)
	}
	return fyne.NewDelta(far(at.X, size.Width), far(at.Y, size.Height))
}

// positionAt returns the visible text position nearest to a point of the transcript.
func (t *View) positionAt(at fyne.Position) (textPosition, selection.Passage, bool) {
	d := fyne.CurrentApp().Driver()
	origin := d.AbsolutePositionForObject(t)
	best, found := textPosition{}, selection.Passage(nil)
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
			if c, ok := p.(*code.View); ok { // the part visible in its panel
				var in fyne.Position
				in, size = c.VisibleArea()
				from = from.Add(in)
			}
			far := 1000*distance(at.Y, from.Y, size.Height) + distance(at.X, from.X, size.Width)
			if least < 0 || far < least {
				least, found = far, p
				best = textPosition{a.item.Key, i, p.Index(at.Subtract(pos))}
			}
		}
	}
	return best, found, found != nil
}

// distance returns the distance of v from the interval that begins at from and has this length.
func distance(v, from, long float32) float32 { return max(from-v, v-from-long, 0) }

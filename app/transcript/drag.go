package transcript

import (
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/code"
	"fairlead/app/native"
	"fairlead/app/selection"
)

const (
	maxAutoScroll   = 60                    // maximum scroll distance of a step, in points
	autoScrollPause = 60 * time.Millisecond // before the view scrolls by itself, and between two steps
)

// drag selects up to the mouse, and scrolls when the mouse is above or below the view, or beside the
// panel with the selected text. Scrolling continues while the mouse is held there.
func (s *Selection) drag(to fyne.Position) {
	if !s.active {
		return
	}
	s.dragTo = to
	if !s.extendDrag() {
		s.endDrag()
	} else if s.autoScroll == nil {
		s.autoScroll = fyne.NewAnimation(time.Second, func(float32) {
			if now := time.Now(); now.Sub(s.lastAutoScroll) >= autoScrollPause {
				s.lastAutoScroll = now
				s.extendDrag()
			}
		})
		s.lastAutoScroll = time.Now()
		s.autoScroll.Curve, s.autoScroll.RepeatCount = fyne.AnimationLinear, fyne.AnimationRepeatForever
		s.autoScroll.Start()
	}
}

func (s *Selection) endDrag() {
	if s.autoScroll != nil {
		s.autoScroll.Stop()
		s.autoScroll = nil
	}
}

// extendDrag selects up to the mouse. It reports whether it scrolled for that.
func (s *Selection) extendDrag() (scrolled bool) {
	if !s.active {
		return false
	}
	at := s.dragTo
	if to, in, ok := s.positionAt(at); ok {
		if c, ok := in.(*code.View); ok && to.item == s.from.item {
			if scrolled = c.DragBy(distanceOutside(s.area, c, at)); scrolled {
				to, in, _ = s.positionAt(at)
			}
		}
		s.selectTo(to, in)
	}
	if scrolled {
		return true
	}
	before, into := s.rows.anchor, s.rows.topOffset
	switch {
	case at.Y < 0:
		s.scroll(max(at.Y, -maxAutoScroll))
	case at.Y > s.rows.height:
		s.scroll(min(at.Y-s.rows.height, maxAutoScroll))
	default:
		return false
	}
	if to, in, ok := s.positionAt(at); ok {
		s.selectTo(to, in)
	}
	return s.rows.anchor != before || s.rows.topOffset != into
}

// selectTo selects up to a position in a passage.
func (s *Selection) selectTo(to textPosition, in selection.Passage) {
	if s.unit > 1 {
		a, b := in.Selectable().Word(to.rune, s.unit > 2)
		to.rune = b
		if s.before(to, s.from) {
			to.rune = a
		}
	}
	s.to = to
	s.paint()
}

// distanceOutside returns the distance of a point from the visible code, negative above and left.
func distanceOutside(area fyne.CanvasObject, c *code.View, at fyne.Position) fyne.Delta {
	d := fyne.CurrentApp().Driver()
	in, size := c.VisibleArea()
	at = at.Subtract(d.AbsolutePositionForObject(c).Subtract(d.AbsolutePositionForObject(area)).Add(in))
	far := func(v, long float32) float32 {
		return min(max(min(v, 0)+max(v-long, 0), -maxAutoScroll), maxAutoScroll)
	}
	return fyne.NewDelta(far(at.X, size.Width), far(at.Y, size.Height))
}

// positionAt returns the visible text position nearest to a point of the transcript.
func (s *Selection) positionAt(at fyne.Position) (textPosition, selection.Passage, bool) {
	best, found := textPosition{}, selection.Passage(nil)
	least := float32(-1)
	for _, a := range s.rows.order {
		if least >= 0 && (a.y > at.Y+least || a.y+a.h < at.Y-least) {
			continue
		}
		for i, p := range a.row.Passages() {
			if !p.Visible() {
				continue
			}
			pos, ok := native.PositionIn(a.row, p)
			if !ok {
				continue
			}
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

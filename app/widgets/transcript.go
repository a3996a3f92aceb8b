package widgets

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/look"
)

// Item is one row of a [Transcript]. Key names it for good; Stamp changes when what it shows changes; Kind says which sort of
// row shows it; Estimate is its height before it was ever on the screen, 0 is a guess.
type Item struct {
	Key      string
	Kind     int
	Stamp    uint64
	Estimate float32
	Data     any
}

// ItemRow shows items of one kind, one after another.
type ItemRow interface {
	fyne.CanvasObject
	// Bind shows another item, or a new state of the same.
	Bind(Item)
}

// Transcript is a list of rows of any height that keeps only the rows on the screen, and uses their widgets again. It follows
// its end while the end is in view; otherwise nothing moves when rows are added, change or are measured, and New appears when
// there is something new below.
type Transcript struct {
	widget.BaseWidget
	// Create makes a row of a kind. It must be set before the first items.
	Create func(kind int) ItemRow
	// OnTop is called when the reader comes near the beginning, at most once for the same first item.
	OnTop func()
	// Width is how wide rows are at most; they stand in the middle. 0 is no limit.
	Width float32

	items   []Item
	sizes   *heights
	known   map[string]float32 // heights as last seen, the best guess at any width
	active  map[string]*activeRow
	pool    map[int][]ItemRow
	order   []*activeRow // the rows on the screen from top to bottom
	anchor  int          // the row at the top of the view
	into    float32      // how much of it is above the view
	follow  bool
	fresh   bool // something new is below
	topSeen string
	bar     *bar
	more    *Button
	focused bool
	ring    *Rect
	placing bool
	mark    *Rect // around the row with markKey
	markKey string
}

type activeRow struct {
	row   ItemRow
	item  Item
	index int
	y     float32
	h     float32
}

var (
	_ fyne.Scrollable = (*Transcript)(nil)
	_ fyne.Focusable  = (*Transcript)(nil)
)

// NewTranscript makes an empty one.
func NewTranscript(create func(kind int) ItemRow) *Transcript {
	t := &Transcript{
		Create: create, known: map[string]float32{}, active: map[string]*activeRow{}, pool: map[int][]ItemRow{},
		sizes: newHeights(nil), follow: true, ring: NewRect("", look.ColorAccent, look.Corner),
		mark: NewRect(look.ColorSelected, look.ColorAccent, look.Corner),
	}
	t.bar = newBar(true, func(to float32) { t.scrollTo(float64(to)) })
	t.more = NewButton("New", "newest", t.ScrollToEnd)
	t.more.Primary = true
	t.more.Hide()
	t.ring.Hide()
	t.mark.Hide()
	t.ExtendBaseWidget(t)
	return t
}

// Items are what it shows. The caller must not change them.
func (t *Transcript) Items() []Item { return t.items }

// AtEnd reports whether the view follows the end.
func (t *Transcript) AtEnd() bool { return t.follow }

// SetItems shows other items. The transcript keeps the slice. Rows that are on the screen and whose item is unchanged are not
// touched.
func (t *Transcript) SetItems(items []Item) {
	old := t.items
	same := 0
	for same < len(items) && same < len(old) && items[same].Key == old[same].Key {
		same++
	}
	grown := len(items) > 0 && (len(old) == 0 || items[len(items)-1].Key != old[len(old)-1].Key || items[len(items)-1].Stamp != old[len(old)-1].Stamp)
	anchorKey := ""
	if t.anchor < len(old) {
		anchorKey = old[t.anchor].Key
	}
	t.items = items
	if same == len(items) && same == len(old) { // the same rows
		for i := range items {
			if items[i].Stamp != old[i].Stamp {
				t.sizes.set(i, t.guess(items[i]))
			}
		}
	} else {
		h := make([]float32, len(items))
		for i := range items {
			if i < same && items[i].Stamp == old[i].Stamp {
				h[i] = t.sizes.h[i]
			} else {
				h[i] = t.guess(items[i])
			}
		}
		t.sizes = newHeights(h)
		if t.anchor >= len(items) || anchorKey != items[t.anchor].Key {
			t.anchor = t.find(anchorKey, min(t.anchor, max(len(items)-1, 0)))
		}
	}
	if grown && !t.follow {
		t.fresh = true
	}
	t.place()
}

func (t *Transcript) find(key string, fallback int) int {
	if key != "" {
		for i := range t.items {
			if t.items[i].Key == key {
				return i
			}
		}
	}
	t.into = 0
	return fallback
}

// guess is the height of an item as far as one knows without showing it.
func (t *Transcript) guess(it Item) float32 {
	if h, ok := t.known[it.Key]; ok {
		return h
	}
	if it.Estimate > 0 {
		return it.Estimate
	}
	return 80
}

// Changed must be called by a row that grew or shrank by itself, such as a card that was opened: what is at the top of the
// view stays there.
func (t *Transcript) Changed() {
	follow := t.follow
	t.follow = false
	t.place()
	if follow && t.endInView() {
		t.follow = true
	}
}

// ScrollToEnd goes to the end and follows it.
func (t *Transcript) ScrollToEnd() {
	t.follow = true
	t.place()
}

// ScrollToTop goes to the beginning.
func (t *Transcript) ScrollToTop() {
	t.follow, t.anchor, t.into = false, 0, 0
	t.place()
	t.settle()
}

// ScrollToKey brings an item to the top of the view, if there is one with that key, which it reports.
func (t *Transcript) ScrollToKey(key string) bool {
	for i := range t.items {
		if t.items[i].Key == key {
			t.follow, t.anchor, t.into = false, i, 0
			t.place()
			t.settle()
			return true
		}
	}
	return false
}

// Mark lays a ground behind the item with that key, until another or none is marked.
func (t *Transcript) Mark(key string) {
	if t.markKey != key {
		t.markKey = key
		t.place()
	}
}

// Marked is the key of the item that is marked and on the screen, and how far below the top of the view it begins.
func (t *Transcript) Marked() (key string, y float32) {
	if !t.mark.Visible() {
		return "", 0
	}
	return t.markKey, t.mark.Position().Y
}

// placeMark puts the ground behind the marked row while that is on the screen.
func (t *Transcript) placeMark() {
	for _, a := range t.order {
		if a.item.Key == t.markKey && t.markKey != "" {
			t.mark.Move(a.row.Position().SubtractXY(look.Inside, 0))
			t.mark.Resize(fyne.NewSize(a.row.Size().Width+2*look.Inside, a.h+look.Gap))
			t.mark.Show()
			return
		}
	}
	t.mark.Hide()
}

// scrollTo goes to an offset of the scroll bar.
func (t *Transcript) scrollTo(y float64) {
	t.follow = false
	t.anchor, t.into = t.sizes.at(y)
	t.place()
	t.settle()
}

// Scrolled implements fyne.Scrollable.
func (t *Transcript) Scrolled(e *fyne.ScrollEvent) { t.scrollBy(-e.Scrolled.DY) }

func (t *Transcript) scrollBy(dy float32) {
	if dy == 0 || len(t.items) == 0 {
		return
	}
	t.follow = false
	t.into += dy
	t.place()
	t.settle()
}

// settle follows the end again when the reader came to it.
func (t *Transcript) settle() {
	if t.endInView() {
		t.follow = true
	}
	t.showMore()
	if t.OnTop != nil && len(t.items) > 0 && t.anchor < 5 && t.topSeen != t.items[0].Key {
		t.topSeen = t.items[0].Key
		t.OnTop()
	}
}

func (t *Transcript) endInView() bool {
	if len(t.items) == 0 || len(t.order) == 0 {
		return true
	}
	last := t.order[len(t.order)-1]
	return last.index == len(t.items)-1 && last.y+last.h <= t.Size().Height+1
}

// FocusGained implements fyne.Focusable.
func (t *Transcript) FocusGained() { t.focused = true; t.ring.Show() }

// FocusLost implements fyne.Focusable.
func (t *Transcript) FocusLost() { t.focused = false; t.ring.Hide() }

// TypedRune implements fyne.Focusable.
func (t *Transcript) TypedRune(r rune) {
	if r == ' ' {
		t.scrollBy(t.Size().Height * 0.9)
	}
}

// TypedKey implements fyne.Focusable: the arrows, Page Up and Down, Home and End scroll.
func (t *Transcript) TypedKey(e *fyne.KeyEvent) {
	switch e.Name {
	case fyne.KeyUp:
		t.scrollBy(-40)
	case fyne.KeyDown:
		t.scrollBy(40)
	case fyne.KeyPageUp:
		t.scrollBy(-t.Size().Height * 0.9)
	case fyne.KeyPageDown:
		t.scrollBy(t.Size().Height * 0.9)
	case fyne.KeyHome:
		t.ScrollToTop()
	case fyne.KeyEnd:
		t.ScrollToEnd()
	}
}

// CreateRenderer implements fyne.Widget.
func (t *Transcript) CreateRenderer() fyne.WidgetRenderer { return &transcriptRenderer{t} }

type transcriptRenderer struct{ t *Transcript }

func (r *transcriptRenderer) MinSize() fyne.Size { return fyne.NewSize(120, 80) }
func (r *transcriptRenderer) Layout(fyne.Size)   { r.t.place() }

func (r *transcriptRenderer) Refresh() {
	for _, a := range r.t.order {
		a.row.Refresh()
	}
	for kind := range r.t.pool { // of an old theme
		delete(r.t.pool, kind)
	}
	r.t.more.Refresh()
	r.t.place()
}

func (r *transcriptRenderer) Objects() []fyne.CanvasObject {
	objects := make([]fyne.CanvasObject, 0, len(r.t.order)+4)
	objects = append(objects, r.t.mark)
	for _, a := range r.t.order {
		objects = append(objects, a.row)
	}
	return append(objects, r.t.bar, r.t.more, r.t.ring)
}

func (r *transcriptRenderer) Destroy() {}

package transcript

import (
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
	"fairlead/app/widgets"
)

// Item is one row of a [View]. Key is its permanent identity; Stamp changes when its content
// changes; Kind selects the type of row; Estimate is its height before it was ever visible, or 0.
type Item struct {
	Key      string
	Kind     int
	Stamp    uint64
	Estimate float32
	Data     any
}

// Row shows items of one kind, one after another.
type Row interface {
	fyne.CanvasObject
	// Bind shows another item, or a new state of the same item.
	Bind(Item)
}

// View is a list of rows of any height. It creates only the visible rows and reuses their
// widgets. It follows its end while the end is in view; otherwise nothing moves when rows are
// added, change or are measured, and a "New" button appears when something was added below.
type View struct {
	widget.BaseWidget
	// Create creates a row of a kind. It must be set before the first items.
	Create func(kind int) Row
	// OnTop is called when the reader comes near the beginning, at most once for the same first
	// item.
	OnTop func()
	// Width is the maximum width of rows, which are centred. 0 is no limit.
	Width float32

	items        []Item
	sizes        *heights
	knownHeights map[string]float32 // last known heights, a good estimate at any width
	visible      map[string]*visibleRow
	pool         map[int][]Row
	order        []*visibleRow // the visible rows from top to bottom
	anchor       int           // the row at the top of the view
	topOffset    float32       // its height above the view
	follow       bool
	hasNew       bool // something was added below
	topReported  string
	bar          *widgets.ScrollBar
	newButton    *widgets.Button
	focused      bool
	ring         *widgets.Rect
	placing      bool
	highlight    *widgets.Rect // around the row with markKey
	highlightKey string

	// ItemText returns the text of an item, for copying items that are not visible.
	ItemText func(Item) string
	// OnType receives letters that are typed while the transcript has the focus, OnPaste a paste,
	// OnLeave Escape when nothing is selected.
	OnType  func(rune)
	OnPaste func()
	OnLeave func()

	selection      textSelection
	dragTo         fyne.Position   // mouse position of the selection's drag
	autoScroll     *fyne.Animation // scrolls while the mouse is held outside the view
	lastAutoScroll time.Time       // its last step
	query          string
	hitKey         string // the item with the current search result
	hit            int    // index of the result in the item
	hasHighlights  bool   // rows may show a selection or search results
	focusedByMouse bool   // the focus comes from a mouse press
}

type visibleRow struct {
	row   Row
	item  Item
	index int
	y     float32
	h     float32
}

var (
	_ fyne.Scrollable = (*View)(nil)
	_ fyne.Focusable  = (*View)(nil)
	_ fyne.Draggable  = (*View)(nil)

	_ fyne.Shortcutable = (*View)(nil)
)

// New creates an empty one.
func New(create func(kind int) Row) *View {
	t := &View{
		Create: create, knownHeights: map[string]float32{}, visible: map[string]*visibleRow{}, pool: map[int][]Row{},
		sizes: newHeights(nil), follow: true, ring: widgets.NewRect("", style.ColorAccent, style.Corner),
		highlight: widgets.NewRect(style.ColorSelected, style.ColorAccent, style.Corner),
	}
	t.bar = widgets.NewScrollBar(true, func(to float32) { t.scrollTo(float64(to)) })
	t.newButton = widgets.NewButton("New", "newest", t.ScrollToEnd)
	t.newButton.Primary = true
	t.newButton.Hide()
	t.ring.Hide()
	t.highlight.Hide()
	t.ExtendBaseWidget(t)
	return t
}

// Items returns the items. The caller must not change them.
func (t *View) Items() []Item { return t.items }

// AtEnd reports whether the view follows the end.
func (t *View) AtEnd() bool { return t.follow }

// SetItems shows other items. The transcript retains the slice. Visible rows of unchanged items are
// not touched.
func (t *View) SetItems(items []Item) {
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
				t.sizes.set(i, t.estimate(items[i]))
			}
		}
	} else {
		h := make([]float32, len(items))
		for i := range items {
			if i < same && items[i].Stamp == old[i].Stamp {
				h[i] = t.sizes.h[i]
			} else {
				h[i] = t.estimate(items[i])
			}
		}
		t.sizes = newHeights(h)
		if t.anchor >= len(items) || anchorKey != items[t.anchor].Key {
			t.anchor = t.indexOf(anchorKey, min(t.anchor, max(len(items)-1, 0)))
		}
	}
	if grown && !t.follow {
		t.hasNew = true
	}
	t.place()
}

func (t *View) indexOf(key string, fallback int) int {
	if key != "" {
		for i := range t.items {
			if t.items[i].Key == key {
				return i
			}
		}
	}
	t.topOffset = 0
	return fallback
}

// estimate returns the estimated height of an item.
func (t *View) estimate(it Item) float32 {
	if h, ok := t.knownHeights[it.Key]; ok {
		return h
	}
	if it.Estimate > 0 {
		return it.Estimate
	}
	return 80
}

// HeightChanged must be called by a row whose height changed by itself, such as an expanded card:
// the top of the view stays where it is.
func (t *View) HeightChanged() {
	follow := t.follow
	t.follow = false
	t.place()
	if follow && t.endInView() {
		t.follow = true
	}
}

// CreateRenderer implements fyne.Widget.
func (t *View) CreateRenderer() fyne.WidgetRenderer { return &viewRenderer{t} }

type viewRenderer struct{ t *View }

func (r *viewRenderer) MinSize() fyne.Size { return fyne.NewSize(120, 80) }
func (r *viewRenderer) Layout(fyne.Size)   { r.t.place() }

func (r *viewRenderer) Refresh() {
	share := float32(0) // hidden fraction of the top row, whose height changes with the text size
	if len(r.t.order) > 0 && r.t.order[0].h > 0 {
		share = r.t.topOffset / r.t.order[0].h
	}
	for _, a := range r.t.order {
		a.row.Refresh()
	}
	for kind := range r.t.pool { // of an old theme
		delete(r.t.pool, kind)
	}
	if len(r.t.order) > 0 && !r.t.follow {
		a := r.t.order[0]
		r.t.topOffset = share * widgets.Fit(a.row, a.row.Size().Width)
	}
	r.t.newButton.Refresh()
	r.t.place()
}

func (r *viewRenderer) Objects() []fyne.CanvasObject {
	objects := make([]fyne.CanvasObject, 0, len(r.t.order)+4)
	objects = append(objects, r.t.highlight)
	for _, a := range r.t.order {
		objects = append(objects, a.row)
	}
	return append(objects, r.t.bar, r.t.newButton, r.t.ring)
}

func (r *viewRenderer) Destroy() {}

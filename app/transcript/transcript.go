// Package transcript shows the conversation of a chat: messages, tool calls and notices in a list
// that may have tens of thousands of rows.
//
// [View] replaces Fyne's list, because rows have different heights and change them while the agent
// writes: it creates only the visible rows and never refreshes all of them. A selection by mouse
// may span any number of rows.
package transcript

import (
	"cmp"
	"slices"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/selection"
	"fairlead/app/style"
	"fairlead/app/widgets"
)

// Item is one row of a [View]. Key is its permanent identity; Kind selects the type of row;
// Estimate is its height before it was ever visible, or 0; Data is its content, of a comparable
// type: a row is redrawn only when its data changed.
type Item struct {
	Key      string
	Kind     int
	Estimate float32
	Data     any
}

// Row shows items of one kind, one after another.
type Row interface {
	fyne.CanvasObject
	// Bind shows another item, or a new state of the same item.
	Bind(Item)
	// Passages returns its selectable texts.
	Passages() []selection.Passage
}

// View is a list of rows of any height. It creates only the visible rows and reuses their
// widgets. It follows its end while the end is in view; otherwise nothing moves when rows are
// added, change or are measured, and a "New" button appears when something was added below.
type View struct {
	widget.BaseWidget
	// Create creates a row of a kind. It must be set before the first items.
	Create func(kind int) Row
	// OnTop is called near the beginning, at most once for the same first item.
	OnTop func()
	// Width is the maximum width of rows, which are centred; 0 means no limit.
	Width float32

	// ItemText returns the text of an item, for copying items that are not visible.
	ItemText func(Item) string
	// OnType receives letters, OnPaste a paste, OnLeave Escape when nothing is selected.
	OnType  func(rune)
	OnPaste func()
	OnLeave func()

	selector
	items        []Item
	heights      []float32          // measured or estimated
	knownHeights map[string]float32 // last measured heights, a good estimate at any width
	visible      map[string]*visibleRow
	pool         rowPool
	order        []*visibleRow // the visible rows from top to bottom
	anchor       int           // the row at the top of the view
	topOffset    float32       // its height above the view
	below        float32       // the height from the top of the view to the end
	follow       bool
	hasNew       bool // something was added below
	topReported  string
	bar          *widgets.ScrollBar
	newButton    *widgets.Button
	byMouse      bool // the focus comes from a mouse press
	ring         *widgets.Rect
	placing      bool
	highlight    *widgets.Rect // around the row with highlightKey
	highlightKey string
}

type visibleRow struct {
	row   Row
	item  Item
	index int
	y     float32
	h     float32
}

// New creates an empty one.
func New(create func(kind int) Row) *View {
	t := &View{
		Create: create, knownHeights: map[string]float32{}, visible: map[string]*visibleRow{}, pool: rowPool{},
		follow: true, ring: widgets.NewRect("", style.ColorAccent, style.Corner), highlight: widgets.NewRect(style.ColorSelected, style.ColorAccent, style.Corner),
	}
	t.selector.view = t
	t.bar = widgets.NewScrollBar(true, func(to float32) {
		i := 0
		for ; i < len(t.heights)-1 && to >= t.heights[i]; i++ {
			to -= t.heights[i]
		}
		t.moveTo(i, to)
	})
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

// SetItems shows other items, and retains the slice. It does not touch rows of unchanged items.
func (t *View) SetItems(items []Item) {
	old, anchorKey := t.items, ""
	if t.anchor < len(old) {
		anchorKey = old[t.anchor].Key
	}
	n, m := len(items), len(old)
	if n > 0 && !t.follow && (m == 0 || items[n-1].Key != old[m-1].Key || items[n-1].Data != old[m-1].Data) {
		t.hasNew = true
	}
	t.items, t.heights = items, make([]float32, n)
	for i, it := range items {
		t.heights[i] = cmp.Or(t.knownHeights[it.Key], it.Estimate, 80)
	}
	if t.anchor >= n || items[t.anchor].Key != anchorKey {
		if i := indexOf(t.items, anchorKey); i >= 0 {
			t.anchor = i
		} else {
			t.anchor, t.topOffset = min(t.anchor, max(n-1, 0)), 0
		}
	}
	t.place()
}

// indexOf returns the index of an item; -1 if none exists with that key.
func indexOf(items []Item, key string) int {
	return slices.IndexFunc(items, func(it Item) bool { return it.Key == key })
}

// HeightChanged must be called by a row whose height changed: the top of the view stays.
func (t *View) HeightChanged() {
	follow := t.follow
	t.follow = false
	t.place()
	if follow && endInView(t) {
		t.follow = true
	}
}

// Rebind rebinds an item's row after a change outside the item, such as expanding it.
func (t *View) Rebind(key string) {
	if a := t.visible[key]; a != nil {
		a.row.Bind(a.item)
		t.HeightChanged()
	}
}

// updateNewButton shows the button that scrolls to the end: "New", or an arrow if that is far.
func (t *View) updateNewButton() {
	t.hasNew = t.hasNew && !t.follow
	size := t.Size()
	far := !t.follow && len(t.items) > 0 && t.below > 2*size.Height
	t.newButton.Primary = t.hasNew
	t.newButton.SetText(widgets.Choose(t.hasNew, "New", ""))
	m := t.newButton.MinSize()
	t.newButton.Resize(m)
	t.newButton.Move(fyne.NewPos(float32(int((size.Width-m.Width)/2)), size.Height-m.Height-style.Inside))
	widgets.SetVisible(t.newButton, t.hasNew || far)
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
	clear(r.t.pool) // its rows have the old theme
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

// FocusGained implements fyne.Focusable.
func (t *View) FocusGained() {
	if !t.byMouse {
		t.ring.Show()
	}
}

// FocusLost implements fyne.Focusable.
func (t *View) FocusLost() { t.ring.Hide() }

// TypedRune implements fyne.Focusable: Space scrolls, other letters go to OnType.
func (t *View) TypedRune(r rune) {
	switch {
	case r == ' ':
		t.scrollBy(t.Size().Height * 0.9)
	case t.OnType != nil:
		t.OnType(r)
	}
}

// TypedShortcut implements fyne.Shortcutable: copy and select all.
func (t *View) TypedShortcut(s fyne.Shortcut) {
	switch s.(type) {
	case *fyne.ShortcutCopy:
		if t.HasSelection() {
			fyne.CurrentApp().Clipboard().SetContent(t.SelectedText())
		}
	case *fyne.ShortcutSelectAll:
		t.SelectAll()
	case *fyne.ShortcutPaste:
		widgets.Call(t.OnPaste)
	default:
		widgets.PassShortcut(t, s)
	}
}

// TypedKey implements fyne.Focusable: keys scroll, and Escape clears the selection.
func (t *View) TypedKey(e *fyne.KeyEvent) {
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
	case fyne.KeyEscape:
		if !t.ClearSelection() && t.OnLeave != nil {
			t.OnLeave()
		}
	}
}

// Package transcript shows the conversation of a chat: messages, tool calls and notices in a list
// that may have tens of thousands of rows.
//
// [View] replaces Fyne's list, because rows have different heights and change them while the agent
// writes: it creates only the visible rows and never refreshes all of them. A selection by mouse
// may span any number of rows.
package transcript

import (
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
	// OnTop is called near the beginning, at most once for the same first item.
	OnTop func()
	// Width is the maximum width of rows, which are centred; 0 means no limit.
	Width float32
	// OnPlaced is called when rows may have moved; see [View.Overflow].
	OnPlaced func()
	// OnType receives letters, OnPaste a paste, OnLeave Escape when nothing is selected.
	OnType  func(rune)
	OnPaste func()
	OnLeave func()

	Selection *Selection
	Search    *Search

	rows        *viewport
	topReported string
	bar         *widgets.ScrollBar
	toEnd       *endButton
	ring        *widgets.Rect
	placing     bool
	highlight   highlight
}

// New creates an empty one. create creates a row of a kind.
func New(create func(kind int) Row) *View {
	t := &View{
		rows: newViewport(create), ring: widgets.NewRect("", style.ColorAccent, style.Corner),
		highlight: highlight{rect: widgets.NewRect(style.ColorSelected, style.ColorAccent, style.Corner)},
	}
	t.rows.leave = func(a *visibleRow) { dropFocus(t, a) }
	t.Selection = &Selection{rows: t.rows, area: t, scroll: t.scrollBy}
	t.Search = &Search{rows: t.rows, scroll: t.moveTo}
	t.bar = widgets.NewScrollBar(true, func(to float32) { t.moveTo(t.rows.rowAt(to)) })
	t.toEnd = newEndButton(t.ScrollToEnd)
	t.ring.Hide()
	t.highlight.rect.Hide()
	t.ExtendBaseWidget(t)
	return t
}

// Items returns the items. The caller must not change them.
func (t *View) Items() []Item { return t.rows.items }

// AtEnd reports whether the view follows the end.
func (t *View) AtEnd() bool { return t.rows.follow }

// SetItems shows other items, and retains the slice. It does not touch rows of unchanged items.
func (t *View) SetItems(items []Item) {
	if t.rows.setItems(items) && !t.rows.follow {
		t.toEnd.hasNew = true
	}
	t.place()
}

// HeightChanged must be called by a row whose height changed: the top of the view stays.
func (t *View) HeightChanged() {
	follow := t.rows.follow
	t.rows.follow, t.rows.changed = false, true
	t.place()
	if follow && t.rows.endInView() {
		t.rows.follow = true
	}
}

// Rebind rebinds an item's row after a change outside the item, such as expanding it.
func (t *View) Rebind(key string) {
	if a := t.rows.visible[key]; a != nil {
		a.row.Bind(a.item)
		t.HeightChanged()
	}
}

// endButton scrolls to the end: "New", or an arrow if the end is far.
type endButton struct {
	button *widgets.Button
	hasNew bool // something was added below
}

func newEndButton(scroll func()) *endButton {
	b := &endButton{button: widgets.NewButton("New", "newest", scroll)}
	b.button.Name = "Scroll to the end"
	b.button.Primary = true
	b.button.Hide()
	return b
}

// show shows the button at the bottom of a view if it is of use.
func (b *endButton) show(rows *viewport, size fyne.Size) {
	b.hasNew = b.hasNew && !rows.follow
	far := !rows.follow && len(rows.items) > 0 && rows.total-rows.above > 2*size.Height
	b.button.Primary = b.hasNew
	b.button.SetText(widgets.Choose(b.hasNew, "New", ""))
	m := b.button.MinSize()
	b.button.Resize(m)
	b.button.Move(fyne.NewPos(float32(int((size.Width-m.Width)/2)), size.Height-m.Height-style.Inside))
	widgets.SetVisible(b.button, b.hasNew || far)
}

// CreateRenderer implements fyne.Widget.
func (t *View) CreateRenderer() fyne.WidgetRenderer { return &viewRenderer{t} }

type viewRenderer struct{ t *View }

func (r *viewRenderer) MinSize() fyne.Size { return fyne.NewSize(120, 80) }
func (r *viewRenderer) Layout(fyne.Size)   { r.t.place() }

func (r *viewRenderer) Refresh() {
	share := float32(0) // hidden fraction of the top row, whose height changes with the text size
	if len(r.t.rows.order) > 0 && r.t.rows.order[0].h > 0 {
		share = r.t.rows.topOffset / r.t.rows.order[0].h
	}
	for _, a := range r.t.rows.order {
		a.row.Refresh()
	}
	clear(r.t.rows.pool.unused) // its rows have the old theme
	if len(r.t.rows.order) > 0 && !r.t.rows.follow {
		a := r.t.rows.order[0]
		r.t.rows.topOffset = share * widgets.Fit(a.row, a.row.Size().Width)
	}
	r.t.toEnd.button.Refresh()
	r.t.rows.changed = true
	r.t.place()
}

func (r *viewRenderer) Objects() []fyne.CanvasObject {
	objects := make([]fyne.CanvasObject, 0, len(r.t.rows.order)+4)
	objects = append(objects, r.t.highlight.rect)
	for _, a := range r.t.rows.order {
		objects = append(objects, a.row)
	}
	return append(objects, r.t.bar, r.t.toEnd.button, r.t.ring)
}

func (r *viewRenderer) Destroy() {}

// FocusGained implements fyne.Focusable.
func (t *View) FocusGained() {
	if !t.Selection.takesFocus {
		t.ring.Show()
	}
}

// FocusLost implements fyne.Focusable.
func (t *View) FocusLost() { t.ring.Hide() }

// Dragged implements fyne.Draggable: it selects text up to the mouse.
func (t *View) Dragged(e *fyne.DragEvent) { t.Selection.drag(e.Position) }

// DragEnd implements fyne.Draggable.
func (t *View) DragEnd() { t.Selection.endDrag() }

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
		if t.Selection.Exists() {
			fyne.CurrentApp().Clipboard().SetContent(t.Selection.Text())
		}
	case *fyne.ShortcutSelectAll:
		t.Selection.SelectAll()
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
		t.moveTo(0, 0)
	case fyne.KeyEnd:
		t.ScrollToEnd()
	case fyne.KeyEscape:
		if !t.Selection.Clear() && t.OnLeave != nil {
			t.OnLeave()
		}
	}
}

package widgets

import (
	"cmp"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/theme"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
)

// ListItem is a line of an [ItemList].
type ListItem struct {
	Icon   string              // name in package assets; empty for none
	Color  fyne.ThemeColorName // of the icon; empty is muted
	Title  string
	Found  string // instead of Title: a text with parts between MarkStart and MarkEnd
	Text   string // a second line, muted; empty for none
	Detail string // muted, at the right
	Full   string // shown instead of Detail while the mouse is over it; empty for none
	Warn   bool   // shows Detail in the *needs you* colour
	Muted  bool   // mutes the title, too
	// Heading marks a heading. It cannot be selected, and is never the last line.
	Heading bool
}

// ItemList is a list of up to thousands of lines. The arrow keys move, Enter and Space choose.
type ItemList struct {
	widget.List
	// OnChoose is called for a chosen line, OnMenu, which may be nil, for a secondary tap.
	OnChoose func(i int)
	OnMenu   func(i int, at fyne.Position)
	// Compact hides the second lines. It must be set before the list is shown.
	Compact bool

	items       []ListItem
	highlighted int
	focused     bool // shows a focus ring on the current line
	// isMoving is true while a key moves: Fyne calls OnHighlighted for a line under the mouse, too,
	// which does not become the current one.
	isMoving bool
}

// Highlight marks a line as the current one while the focus is elsewhere, such as in a search field.
func (l *ItemList) Highlight(i int) {
	l.focused = true
	l.mark(i)
	l.ScrollTo(i)
}

// mark makes a line the current one.
func (l *ItemList) mark(i int) {
	before := l.highlighted
	l.highlighted = i
	l.RefreshItem(before)
	l.RefreshItem(i)
}

// move runs a function of Fyne's list that changes the current line.
func (l *ItemList) move(f func()) {
	l.isMoving = true
	f()
	l.isMoving = false
}

// NewItemList creates an empty list.
func NewItemList(onChoose func(i int)) *ItemList {
	l := &ItemList{OnChoose: onChoose}
	l.Length = func() int { return len(l.items) }
	l.CreateItem = func() fyne.CanvasObject { return newListRow(l) }
	l.UpdateItem = func(i widget.ListItemID, o fyne.CanvasObject) {
		if i < len(l.items) {
			o.(*listRow).set(i, l.items[i])
		}
	}
	l.OnSelected = func(i widget.ListItemID) {
		l.UnselectAll() // a line acts as a button and stays unselected
		if i < len(l.items) && !l.items[i].Heading && l.OnChoose != nil {
			l.OnChoose(i)
		}
	}
	l.OnHighlighted = func(i widget.ListItemID) {
		if l.isMoving {
			l.mark(i)
		}
	}
	l.HideSeparators = true
	l.ExtendBaseWidget(l)
	return l
}

// Set shows other items.
func (l *ItemList) Set(items []ListItem) {
	l.items = items
	l.Refresh()
}

// Items returns the items. They must not be changed.
func (l *ItemList) Items() []ListItem { return l.items }

// step is the distance between the tops of two lines, as in widget.List.
func (l *ItemList) step() float32 { return newListRow(l).MinSize().Height + theme.Padding() }

// ItemAt returns the index of the line at a position of the window; -1 means none.
func (l *ItemList) ItemAt(place fyne.Position) int {
	at := place.Subtract(fyne.CurrentApp().Driver().AbsolutePositionForObject(l))
	if size := l.Size(); at.X < 0 || at.Y < 0 || at.X >= size.Width || at.Y >= size.Height {
		return -1
	}
	if i := int((at.Y + l.GetScrollOffset()) / l.step()); i < len(l.items) {
		return i
	}
	return -1
}

// FocusGained implements fyne.Focusable.
func (l *ItemList) FocusGained() {
	l.focused = true
	l.move(l.List.FocusGained)
	l.RefreshItem(l.highlighted)
}

// FocusLost implements fyne.Focusable.
func (l *ItemList) FocusLost() {
	l.focused = false
	l.List.FocusLost()
	l.RefreshItem(l.highlighted)
}

// TypedKey implements fyne.Focusable.
func (l *ItemList) TypedKey(e *fyne.KeyEvent) {
	if e.Name == fyne.KeyReturn || e.Name == fyne.KeyEnter {
		l.Select(l.highlighted)
		return
	}
	if e.Name == fyne.KeyEscape {
		PassKey(l, e)
		return
	}
	l.move(func() { l.List.TypedKey(e) })
	if l.highlighted < len(l.items) && l.items[l.highlighted].Heading {
		l.move(func() { l.List.TypedKey(e) })
	}
}

// listRow is one line.
type listRow struct {
	Composite
	list      *ItemList
	index     int
	item      ListItem
	icon      *widget.Icon
	title     *Text
	found     *MarkedText
	text      *Text
	detail    *HoverText
	focusRing *Rect
}

func newListRow(l *ItemList) *listRow {
	r := &listRow{
		list: l, icon: widget.NewIcon(nil), title: NewText("M", style.ColorText, "text"), found: NewMarkedText("", style.ColorText, "text"), text: NewText("M", style.ColorMuted, style.SizeSmall),
		detail: NewHoverText(), focusRing: NewRect("", style.ColorAccent, style.Corner),
	}
	r.focusRing.Hide()
	r.found.Hide()
	r.title.Ellipsis, r.text.Ellipsis = true, true
	row := container.NewStack(Inset(style.Gap, style.Inside, style.Gap, style.Inside, Row(style.Inside, 1, r.icon, Col(0, r.title, r.found, r.text), r.detail)), r.focusRing)
	if l.Compact { // beside the scroll bar, which is over the list
		row = Inset(0, theme.ScrollBarSmallSize()+style.Gap, 0, 0, row)
	}
	r.Compose(r, row)
	return r
}

func (r *listRow) set(i int, item ListItem) {
	r.index = i
	SetVisible(r.focusRing, r.list.focused && r.list.highlighted == i && !item.Heading)
	if r.item == item {
		return
	}
	r.item = item
	SetIcon(r.icon, item.Icon, cmp.Or(item.Color, style.ColorMuted))
	r.title.Style.Bold = item.Heading
	r.title.SizeName = Choose(item.Heading, style.SizeSmall, "text") // like [NewSectionHeading]
	r.title.Set(item.Title, Choose(item.Muted || item.Heading, style.ColorMuted, style.ColorText))
	r.found.Set(item.Found, style.ColorText)
	SetVisible(r.found, item.Found != "")
	SetVisible(r.title, item.Found == "")
	r.text.SetText(item.Text)
	SetVisible(r.text, item.Text != "")
	r.detail.Set(item.Detail, item.Full, Choose(item.Warn, style.ColorNeedsYou, style.ColorMuted))
	Relayout(r.content)
}

// MinSize is the same for all lines of a list.
func (r *listRow) MinSize() fyne.Size {
	line := func(size fyne.ThemeSizeName) float32 {
		return fyne.MeasureText("M", style.Size(size), fyne.TextStyle{}).Height
	}
	return fyne.NewSize(120, line("text")+Choose(r.list.Compact, 0, line(style.SizeSmall))+2*style.Gap)
}

// Tapped implements fyne.Tappable.
func (r *listRow) Tapped(*fyne.PointEvent) { r.list.Select(r.index) }

// TappedSecondary implements fyne.SecondaryTappable.
func (r *listRow) TappedSecondary(e *fyne.PointEvent) {
	if r.list.OnMenu != nil && r.index < len(r.list.items) && !r.item.Heading {
		r.list.OnMenu(r.index, e.AbsolutePosition)
	}
}

package widgets

import (
	"cmp"
	"fmt"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
)

// SidebarItem is the content of a [SidebarRow].
type SidebarItem struct {
	Icon     string              // name in package assets; empty for none
	Color    fyne.ThemeColorName // of the icon; empty is muted
	Title    string
	Text     string // a second line in a [RowList], muted; parts between MarkStart and MarkEnd are highlighted
	Detail   string // muted, at the right: a time, a key, a state
	Count    int    // a badge
	Dot      bool   // a dot in the *needs you* colour
	Selected bool
	Checked  bool // one of several chosen rows: a check mark instead of the icon
	Unread   bool // has unread content: bold title, Detail in the accent colour
	Muted    bool // mutes the title, too
}

// SidebarRow is a line of a list: icon, title, short text. Tap, Enter and Space choose it.
type SidebarRow struct {
	Composite
	OnTap  func()
	OnMenu func(at fyne.Position)

	line  *itemLine
	press *Clickable
}

// NewSidebarRow creates a row.
func NewSidebarRow(item SidebarItem, onTap func()) *SidebarRow {
	return newSidebarRow(item, onTap, style.Inside)
}

// NewSidebarLink creates a row of half a sidebar's width, with smaller gaps.
func NewSidebarLink(item SidebarItem, onTap func()) *SidebarRow {
	return newSidebarRow(item, onTap, style.Gap)
}

func newSidebarRow(item SidebarItem, onTap func(), gap float32) *SidebarRow {
	r := &SidebarRow{OnTap: onTap, line: newItemLine(gap)}
	r.press = NewClickable(r.line.box, func() { Call(r.OnTap) })
	r.press.OnMenu = func(at fyne.Position) { CallWith(r.OnMenu, at) }
	r.Compose(r, r.press)
	r.Set(item)
	return r
}

// Set shows another item.
func (r *SidebarRow) Set(item SidebarItem) {
	r.line.set(item)
	r.press.SetBackground(Choose(item.Selected, style.ColorSelected, ""))
	r.LayOut()
}

// Focusable returns the focusable object.
func (r *SidebarRow) Focusable() fyne.Focusable { return r.press }

// Item returns the item.
func (r *SidebarRow) Item() SidebarItem { return r.line.item }

// itemLine shows a [SidebarItem].
type itemLine struct {
	box    *fyne.Container
	item   SidebarItem
	icon   *widget.Icon
	title  *Text
	text   *MarkedText
	detail *Text
	dot    *widget.Icon
	badge  *Badge
}

func newItemLine(gap float32) *itemLine {
	l := &itemLine{
		icon: widget.NewIcon(nil), title: NewText("", style.ColorText, style.SizeSidebar), text: NewMarkedText("", style.ColorMuted, style.SizeSmall),
		detail: NewText("", style.ColorMuted, style.SizeSmall), dot: widget.NewIcon(style.IconIn("needsyou", style.ColorNeedsYou)), badge: NewBadge(0),
	}
	l.title.Ellipsis = true
	l.dot.Hide()
	l.text.Hide()
	l.box = Inset(4, gap, 4, style.Inside, Row(gap, 1, l.icon, Col(0, Row(style.Gap, 0, l.title, l.detail, l.dot, l.badge), l.text)))
	return l
}

func (l *itemLine) set(item SidebarItem) {
	l.item = item
	SetIcon(l.icon, Choose(item.Checked, "check", item.Icon), Choose(item.Checked, style.ColorAccent, cmp.Or(item.Color, style.ColorMuted)))
	if l.title.Style.Bold != item.Unread {
		l.title.Style.Bold = item.Unread
		l.title.Refresh()
	}
	l.title.Set(item.Title, Choose(item.Muted, style.ColorMuted, style.ColorText))
	l.text.Set(item.Text, style.ColorMuted)
	SetVisible(l.text, item.Text != "")
	l.detail.Set(item.Detail, Choose(item.Unread, style.ColorAccent, style.ColorMuted))
	SetVisible(l.detail, item.Detail != "")
	SetVisible(l.dot, item.Dot)
	l.badge.Set(item.Count)
}

// NewSection creates a small heading of a list, such as MACHINES, with objects at its end.
func NewSection(title string, end ...fyne.CanvasObject) fyne.CanvasObject {
	t := NewText(title, style.ColorMuted, style.SizeSmall)
	t.Style.Bold, t.Ellipsis = true, true
	return Inset(style.Group, style.Inside, style.Gap, style.Inside, Row(style.Inside, 0, append([]fyne.CanvasObject{t}, end...)...))
}

// Badge is a count on a coloured background. Zero hides it.
type Badge struct {
	Composite
	text *Text
}

// NewBadge creates a badge in the *needs you* colour.
func NewBadge(n int) *Badge {
	b := &Badge{text: NewText("", style.ColorOnNeeds, style.SizeSmall)}
	b.text.Style.Bold, b.text.Align = true, fyne.TextAlignCenter
	b.Compose(b, container.New(badgeLayout{}, NewRect(style.ColorNeedsYou, "", canvas.RadiusMaximum), b.text))
	b.Set(n)
	return b
}

// Set changes the count; from 100 on it shows 99+.
func (b *Badge) Set(n int) {
	b.text.SetText(Choose(n > 99, "99+", fmt.Sprint(n)))
	SetVisible(b, n > 0)
}

// badgeLayout centres a text on its background, which is at least as wide as high.
type badgeLayout struct{}

func (badgeLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	m := o[1].MinSize()
	return fyne.NewSize(max(m.Width+6, m.Height+2, 18), max(m.Height, 16))
}

func (badgeLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	o[0].Resize(size)
	o[1].Resize(size)
}

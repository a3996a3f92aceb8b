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
	Detail   string // muted, at the right: a time, a key, a state
	Count    int    // a badge
	Selected bool
	Unread   bool // has unread content: bold title, Detail in the accent colour
	Muted    bool // mutes the title, too
}

// SidebarRow is a line of a list: icon, title, short text. Tap, Enter and Space choose it.
type SidebarRow struct {
	Composite
	OnTap  func()
	OnMenu func(at fyne.Position)

	item   SidebarItem
	icon   *widget.Icon
	title  *Text
	detail *Text
	badge  *Badge
	press  *Clickable
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
	r := &SidebarRow{
		OnTap: onTap, icon: widget.NewIcon(nil), title: NewText("", style.ColorText, style.SizeSidebar),
		detail: NewText("", style.ColorMuted, style.SizeSmall), badge: NewBadge(0),
	}
	r.title.Ellipsis = true
	r.press = NewClickable(Inset(4, gap, 4, style.Inside, Row(gap, 1, r.icon, Row(style.Gap, 0, r.title, r.detail, r.badge))), func() { Call(r.OnTap) })
	r.press.OnMenu = func(at fyne.Position) { CallWith(r.OnMenu, at) }
	r.Compose(r, r.press)
	r.Set(item)
	return r
}

// Set shows another item.
func (r *SidebarRow) Set(item SidebarItem) {
	r.item = item
	SetIcon(r.icon, item.Icon, cmp.Or(item.Color, style.ColorMuted))
	if r.title.Style.Bold != item.Unread {
		r.title.Style.Bold = item.Unread
		r.title.Refresh()
	}
	r.title.Set(item.Title, Choose(item.Muted, style.ColorMuted, style.ColorText))
	r.detail.Set(item.Detail, Choose(item.Unread, style.ColorAccent, style.ColorMuted))
	SetVisible(r.detail, item.Detail != "")
	r.badge.Set(item.Count)
	r.press.SetBackground(Choose(item.Selected, style.ColorSelected, ""))
	r.LayOut()
}

// Focusable returns the focusable object.
func (r *SidebarRow) Focusable() fyne.Focusable { return r.press }

// Item returns the item.
func (r *SidebarRow) Item() SidebarItem { return r.item }

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

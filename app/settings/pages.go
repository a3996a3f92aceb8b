package settings

import (
	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/style"
	"fairlead/app/widgets"
)

// Titles of pages that other parts of the program open.
const (
	ModelsTitle        = "Models"
	computerTitle      = "This computer"
	gatewaysTitle      = "Gateways"
	allSettingsTitle   = "All settings"
	notificationsTitle = "Notifications"
	WhatsNewTitle      = "What's new"
)

// entry is a line of the window's list.
type entry struct {
	icon, title string
	build       func() fyne.CanvasObject // builds the page when it is first shown
	link        func()                   // opens a page of the main window instead

	row  *widgets.SidebarRow
	view fyne.CanvasObject // nil until it is shown
}

// pages shows one page at a time beside the list of all, or below a menu in a narrow window.
type pages struct {
	widgets.Composite
	list    []*entry
	current *entry
	onShow  func(title string)

	menu    *widgets.Button
	content *fyne.Container
}

func newPages(list []*entry, onShow func(title string)) *pages {
	p := &pages{list: list, onShow: onShow, content: container.NewStack()}
	column := container.NewVBox()
	for i, e := range list {
		if e.link != nil && list[i-1].link == nil {
			column.Add(widgets.NewSection("IN THE MAIN WINDOW"))
		}
		e.row = widgets.NewSidebarRow(widgets.SidebarItem{Icon: e.icon, Title: e.title}, func() { p.show(e) })
		column.Add(e.row)
	}
	p.menu = widgets.NewMenuButton("", "menu", p.menuItems)
	rows := widgets.NewVScroll(widgets.Inset(style.Group, style.Inside, style.Group, style.Inside, column))
	side := container.NewStack(widgets.NewRect(style.ColorSidebar, "", 0), rows)
	bar := widgets.Inset(style.Group, style.Page, 0, style.Page, widgets.Row(0, -1, p.menu))
	p.Compose(p, container.New(pagesLayout{}, p.content, side, bar))
	return p
}

func (p *pages) menuItems() (items []*fyne.MenuItem) {
	for i, e := range p.list {
		if e.link != nil && p.list[i-1].link == nil {
			items = append(items, fyne.NewMenuItemSeparator())
		}
		item := fyne.NewMenuItem(e.title, func() { p.show(e) })
		item.Checked = e == p.current
		items = append(items, item)
	}
	return items
}

// show shows a page, or follows a link.
func (p *pages) show(e *entry) {
	if e.link != nil {
		e.link()
		return
	}
	p.current = e
	for _, x := range p.list {
		x.row.Set(widgets.SidebarItem{Icon: x.icon, Title: x.title, Selected: x == e})
	}
	p.menu.SetText(e.title)
	if e.view == nil {
		e.view = e.build()
	}
	widgets.SetContent(p.content, e.view)
	widgets.CallWith(p.onShow, e.title)
}

// open shows the page with a title. For an unknown title it shows the first page.
func (p *pages) open(title string) {
	for _, e := range p.list {
		if e.title == title && e.link == nil {
			p.show(e)
			return
		}
	}
	p.show(p.list[0])
}

// move moves by a number of pages and wraps around.
func (p *pages) move(by int) {
	var list []*entry
	at := 0
	for _, e := range p.list {
		if e == p.current {
			at = len(list)
		}
		if e.link == nil {
			list = append(list, e)
		}
	}
	p.show(list[(at+by+len(list))%len(list)])
}

// pagesLayout lays out the content, the list at its left, or the bar with the menu above it. Tab
// visits the content first.
type pagesLayout struct{}

// listWidth is the width of the list; it grows with the text size.
func listWidth() float32 { return min(200*style.Size("text")/14, 280) }

func (pagesLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(sideWidth+220, 400) }

func (pagesLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	content, side, bar := o[0], o[1], o[2]
	narrow := size.Width < style.Narrow
	widgets.SetVisible(side, !narrow)
	widgets.SetVisible(bar, narrow)
	if narrow {
		top := bar.MinSize().Height
		bar.Resize(fyne.NewSize(size.Width, top))
		content.Move(fyne.NewPos(0, top))
		content.Resize(fyne.NewSize(size.Width, max(size.Height-top, 0)))
		return
	}
	side.Resize(fyne.NewSize(listWidth(), size.Height))
	content.Move(fyne.NewPos(listWidth(), 0))
	content.Resize(fyne.NewSize(size.Width-listWidth(), size.Height))
}

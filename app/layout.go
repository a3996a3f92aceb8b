package app

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"

	"fairlead/app/style"
	"fairlead/app/widgets"
)

// sidebarWidth grows with the text size, so that names are not cut off.
func sidebarWidth() float32 {
	const normal, most = 240, 360
	return min(max(normal, normal*style.Size("text")/14), most)
}

// windowLayout puts the sidebar beside the chat, or over it in a narrow window. Objects: chat, first
// page, page, sidebar, drawer, foot, mark of drops. Tab visits the main content first and the sidebar
// after it.
type windowLayout struct{ w *window }

func (l *windowLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(480, 560) }

func (l *windowLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	if narrow := size.Width < style.Narrow; narrow != l.w.narrow {
		l.w.narrow = narrow
		l.w.arrange()
	}
	left := sidebarWidth()
	if l.w.narrow {
		left = 0
		o[4].Resize(size)
		o[4].Move(fyne.NewPos(0, 0))
	} else {
		o[3].Resize(fyne.NewSize(left, size.Height))
		o[3].Move(fyne.NewPos(0, 0))
	}
	rest := fyne.NewSize(size.Width-left, size.Height)
	for _, i := range []int{0, 1, 2, 5} {
		o[i].Resize(rest)
		o[i].Move(fyne.NewPos(left, 0))
	}
	o[6].Resize(size)
	l.w.ui.messages.LayOut()
}

// arrange moves the sidebar between its place and the drawer, and shows the page of the first run.
func (w *window) arrange() {
	if w.narrow {
		w.side.Hide()
		// in one place only: Fyne gives no focus to an object that also has a hidden parent
		w.side.Objects = nil
		w.conversation.Page.Pane.SetLeading(w.menuButton)
		shade := widgets.NewTapArea(canvas.NewRectangle(color.NRGBA{A: 0x50}), w.toggleDrawer) // dims the chat behind the drawer
		w.drawer.Objects = []fyne.CanvasObject{shade, container.New(drawerLayout{}, w.sidebar.Content, widgets.NewRect(style.ColorLine, "", 0))}
	} else {
		w.drawer.Hide()
		w.drawer.Objects = nil
		w.side.Objects = []fyne.CanvasObject{w.sidebar.Content}
		w.side.Show()
		w.conversation.Page.Pane.SetLeading(nil)
	}
	isPage := w.ui.nav.arrange()
	widgets.SetVisible(w.first.Box, w.firstRun && !isPage)
	widgets.SetVisible(w.conversation.Page.Pane, !w.firstRun && !isPage)
	w.body.Refresh()
}

func (w *window) toggleDrawer() {
	if !w.narrow {
		return
	}
	canvas := w.conversation.Window.Canvas()
	if w.drawer.Visible() {
		w.drawer.Hide()
		if before := w.beforeDrawer; before != nil {
			canvas.Focus(before)
		} else {
			w.restoreFocus()
		}
	} else {
		w.beforeDrawer = canvas.Focused()
		w.drawer.Show()
		// else the content below the drawer keeps the focus, and Escape with it
		canvas.Focus(w.sidebar.Search)
	}
	w.body.Refresh()
}

// closeDrawer closes the drawer after a choice in it.
func (w *window) closeDrawer() {
	if w.drawer.Visible() {
		w.beforeDrawer = nil
		w.toggleDrawer()
	}
}

// drawerLayout puts the sidebar at the left edge, with a separator at its side.
type drawerLayout struct{}

func (drawerLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(sidebarWidth(), 0) }

func (drawerLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	width := min(sidebarWidth()+40, size.Width)
	o[0].Resize(fyne.NewSize(width, size.Height))
	o[1].Resize(fyne.NewSize(1, size.Height))
	o[1].Move(fyne.NewPos(width, 0))
}

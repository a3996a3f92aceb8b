package app

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"
	"fyne.io/fyne/v2/widget"

	"fairlead/app/style"
	"fairlead/app/widgets"
)

// shellLayout puts the sidebar beside the chat, or over it in a narrow window. Objects: chat, first page, page, sidebar, drawer, foot: Tab begins with
// what is shown, and goes on to the sidebar.
type shellLayout struct{ s *shell }

func (l *shellLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(480, 560) }

func (l *shellLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	s := l.s
	narrow := size.Width < style.Narrow
	if narrow != s.narrow {
		s.narrow = narrow
		s.arrange()
	}
	left := sidebarWidth()
	if narrow {
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
}

// arrange moves the sidebar between its place and the drawer, and shows the first page while it is the first run.
func (s *shell) arrange() {
	if s.narrow {
		s.sidebar.box.Hide()
		s.sidebar.box.Objects = nil // in one place only: the toolkit gives no focus to what is also under a hidden parent
		s.pane.SetLeading(s.menu)
		s.drawer.Objects = []fyne.CanvasObject{newScrim(s.toggleDrawer), container.New(drawerLayout{}, s.sidebar.inner, widgets.NewRect(style.ColorLine, "", 0))}
	} else {
		s.drawer.Hide()
		s.drawer.Objects = nil
		s.sidebar.box.Objects = []fyne.CanvasObject{s.sidebar.inner}
		s.sidebar.box.Show()
		s.pane.SetLeading(nil)
	}
	s.first.box.Hide()
	s.pane.Hide()
	switch {
	case s.firstRun:
		s.first.box.Show()
	case !s.arrangePage():
		s.pane.Show()
	}
	s.body.Refresh()
}

func (s *shell) toggleDrawer() {
	if !s.narrow {
		return
	}
	canvas := s.window.Canvas()
	if s.drawer.Visible() {
		s.drawer.Hide()
		if before := s.beforeDrawer; before != nil {
			canvas.Focus(before)
		} else {
			s.focusBack()
		}
	} else {
		s.beforeDrawer = canvas.Focused()
		s.drawer.Show()
		canvas.Focus(s.sidebar.search) // what is below it would keep the keyboard, and Escape with it
	}
	s.body.Refresh()
}

// closeDrawer closes it for what was chosen in it.
func (s *shell) closeDrawer() {
	if s.drawer.Visible() {
		s.beforeDrawer = nil
		s.toggleDrawer()
	}
}

// scrim is what lies under an open drawer: it dims the chat, and a tap on it closes the drawer.
type scrim struct {
	widget.BaseWidget
	onTap func()
}

func newScrim(onTap func()) *scrim {
	s := &scrim{onTap: onTap}
	s.ExtendBaseWidget(s)
	return s
}

// Tapped implements fyne.Tappable.
func (s *scrim) Tapped(*fyne.PointEvent) { s.onTap() }

// CreateRenderer implements fyne.Widget.
func (s *scrim) CreateRenderer() fyne.WidgetRenderer {
	return widget.NewSimpleRenderer(canvas.NewRectangle(color.NRGBA{A: 0x50}))
}

// drawerLayout puts the sidebar at the left edge, with a line at its side.
type drawerLayout struct{}

func (drawerLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.NewSize(sidebarWidth(), 0) }

func (drawerLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	width := min(sidebarWidth()+40, size.Width)
	o[0].Resize(fyne.NewSize(width, size.Height))
	o[1].Resize(fyne.NewSize(1, size.Height))
	o[1].Move(fyne.NewPos(width, 0))
}

// toastLayout puts the messages of the whole program over the chat's lower edge, above the composer, and higher where a question stands: what
// is asked must be seen, and its buttons be within reach.
type toastLayout struct {
	// keepFree are what must not be covered; their places are those in the window.
	keepFree func() []fyne.CanvasObject
}

func (*toastLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.Size{} }

func (l *toastLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	y := size.Height - 120
	for _, x := range o {
		if !x.Visible() {
			continue
		}
		width := min(560, size.Width-2*style.Group)
		height := widgets.Fit(x, width)
		y = max(l.free(y-height, height), style.Inside)
		x.Resize(fyne.NewSize(width, height))
		x.Move(fyne.NewPos((size.Width-width)/2, y))
		y -= style.Inside
	}
}

// free is the lowest place, not below y, at which nothing of the height covers what must not be covered.
func (l *toastLayout) free(y, height float32) float32 {
	d := fyne.CurrentApp().Driver()
	for again := true; again; {
		again = false
		for _, o := range l.keepFree() {
			top := d.AbsolutePositionForObject(o).Y
			if y < top+o.Size().Height && y+height > top {
				y, again = top-style.Inside-height, true
			}
		}
	}
	return y
}

// shelfLayout puts the machines below the chats, and keeps them in view when there are more chats than room: each then scrolls by itself. What is in the two
// is measured, not their scrollers.
type shelfLayout struct{ chats, machines fyne.CanvasObject }

// shelfShare is how much of the height machines get, if they need it, when there is not room for all.
const shelfShare = 0.45

func (shelfLayout) MinSize([]fyne.CanvasObject) fyne.Size { return fyne.Size{} }

func (l shelfLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	chats, machines := l.chats.MinSize().Height, l.machines.MinSize().Height
	if chats+machines > size.Height {
		machines = min(machines, max(float32(int(shelfShare*size.Height)), size.Height-chats))
		chats = size.Height - machines
	}
	o[0].Resize(fyne.NewSize(size.Width, max(chats, 0)))
	o[1].Move(fyne.NewPos(0, max(chats, 0)))
	o[1].Resize(fyne.NewSize(size.Width, machines))
}

// footLayout puts the pages in the sidebar's foot into lines of two. The left column is a little wider: its names are.
type footLayout struct{}

const footWider float32 = 6

func (footLayout) MinSize(o []fyne.CanvasObject) fyne.Size {
	height := float32(0)
	for i := 0; i < len(o); i += 2 {
		height += o[i].MinSize().Height + style.Gap
	}
	return fyne.NewSize(0, max(height-style.Gap, 0))
}

func (footLayout) Layout(o []fyne.CanvasObject, size fyne.Size) {
	left := size.Width/2 + footWider
	y := float32(0)
	for i, row := range o {
		height := row.MinSize().Height
		if i%2 == 0 {
			row.Move(fyne.NewPos(0, y))
			row.Resize(fyne.NewSize(left, height))
			continue
		}
		row.Move(fyne.NewPos(left, y))
		row.Resize(fyne.NewSize(size.Width-left, height))
		y += height + style.Gap
	}
}

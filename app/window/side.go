package window

import (
	"image/color"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/canvas"
	"fyne.io/fyne/v2/container"

	"fairlead/app/sidebar"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// side holds the sidebar: beside the chat, or in a drawer over it in a narrow window.
type side struct {
	sidebar  *sidebar.Sidebar
	box      *fyne.Container // beside the chat
	drawer   *fyne.Container // over the chat
	isNarrow bool            // the sidebar is in the drawer
	// before had the focus when the drawer was opened; nil for none.
	before fyne.Focusable
	leave  func()             // takes the keyboard when the drawer closes and nothing had it before
	canvas func() fyne.Canvas // of the window
}

func newSide(b *sidebar.Sidebar, leave func(), canvas func() fyne.Canvas) *side {
	s := &side{sidebar: b, box: container.NewStack(b.Content), drawer: container.NewStack(), leave: leave, canvas: canvas}
	s.drawer.Hide()
	return s
}

// setNarrow moves the sidebar between its place and the drawer.
func (s *side) setNarrow(narrow bool) {
	s.isNarrow = narrow
	if narrow {
		s.box.Hide()
		// in one place only: Fyne gives no focus to an object that also has a hidden parent
		s.box.Objects = nil
		shade := widgets.NewTapArea(canvas.NewRectangle(color.NRGBA{A: 0x50}), s.toggle) // dims the chat behind the drawer
		s.drawer.Objects = []fyne.CanvasObject{shade, container.New(drawerLayout{}, s.sidebar.Content, widgets.NewRect(style.ColorLine, "", 0))}
		return
	}
	s.drawer.Hide()
	s.drawer.Objects = nil
	s.box.Objects = []fyne.CanvasObject{s.sidebar.Content}
	s.box.Show()
}

// isHidden reports whether the drawer is closed.
func (s *side) isHidden() bool { return s.isNarrow && !s.drawer.Visible() }

// toggle opens or closes the drawer of a narrow window.
func (s *side) toggle() {
	if !s.isNarrow {
		return
	}
	c := s.canvas()
	defer s.drawer.Refresh()
	if !s.drawer.Visible() {
		s.before = c.Focused()
		s.drawer.Show()
		// else the content below the drawer keeps the focus, and Escape with it
		c.Focus(s.sidebar.Search)
		return
	}
	s.drawer.Hide()
	if s.before != nil {
		c.Focus(s.before)
	} else {
		s.leave()
	}
}

// close closes the drawer after a choice in it.
func (s *side) close() {
	if s.drawer.Visible() {
		s.before = nil
		s.toggle()
	}
}

// machineAt returns the machine whose row is at a position of the window, and the row.
func (s *side) machineAt(at fyne.Position) (protocol.NodeID, fyne.CanvasObject, bool) {
	if s.isHidden() {
		return "", nil, false
	}
	return s.sidebar.MachineAt(at)
}

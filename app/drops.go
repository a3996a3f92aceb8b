package app

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/bind"
	"fairlead/app/native"
	"fairlead/app/style"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// dropTarget is where files of another program go that are dropped at a position of a window.
type dropTarget struct {
	area     fyne.CanvasObject
	isMarked bool   // the page itself highlights it
	text     string // says what a drop does
	drop     func(paths []string)
}

// acceptDrops handles files that other programs drag over the conversation's window.
func (c *conversation) acceptDrops() {
	c.window.SetOnDropped(func(at fyne.Position, uris []fyne.URI) {
		var paths []string
		for _, u := range uris {
			paths = append(paths, u.Path())
		}
		c.ui.sender.targetAt(c, at).drop(paths)
	})
	native.OnFileDrag(c.window, c.dragFiles, c.mark.hide)
}

// leaveInterval is the interval at which is looked whether a drag has left the window, which the
// system does not report.
const leaveInterval = 100 * time.Millisecond

// dragFiles shows where files go that are dragged over the window.
func (c *conversation) dragFiles(at fyne.Position) {
	files := c.ui.nav.files
	if c != c.ui.main.conversation {
		files = nil
	}
	if c.mark.stop == nil {
		var ctx context.Context
		ctx, c.mark.stop = context.WithCancel(c.ui.ctx)
		window := c.window
		bind.Every(ctx, leaveInterval, func(time.Time) {
			if !native.IsUnderPointer(window) {
				c.mark.hide()
			}
		})
	}
	c.mark.unmark = nil
	if files != nil {
		files.MarkDrop(at)
		c.mark.unmark = files.UnmarkDrop
	}
	c.mark.show(c.ui.sender.targetAt(c, at))
}

// targetAt returns where files go that are dropped there: to a machine, if there is one; in a chat,
// pictures are attached to the message, and other files are sent to the chat's machine, unless that
// is this computer.
func (s *sender) targetAt(c *conversation, at fyne.Position) dropTarget {
	if c == s.ui.main.conversation {
		if id, row, ok := s.ui.main.sidebar.machineAt(at); ok {
			return s.machineTarget(id, row)
		}
		if s.ui.nav.files != nil {
			if id, dir, ok := s.ui.nav.files.At(at); ok {
				text := fmt.Sprintf("Drop to copy to “%s” on %s", path.Base(dir), s.ui.view().Machines.Name(id))
				return dropTarget{s.ui.nav.box, true, text, func(paths []string) { s.sendTo(paths, id, dir) }}
			}
		}
		if s.ui.nav.title != "" {
			to := protocol.NodeID("")
			if s.ui.nav.dropTarget != nil {
				to = s.ui.nav.dropTarget(at)
			}
			if to == "" {
				return dropTarget{s.ui.nav.box, false, "Drop to choose a machine", func(paths []string) { s.askMachine(paths, at) }}
			}
			return s.machineTarget(to, s.ui.nav.box)
		}
	}
	return s.chatTarget(c)
}

func (s *sender) machineTarget(id protocol.NodeID, area fyne.CanvasObject) dropTarget {
	return dropTarget{area, false, "Drop to send to " + s.ui.view().Machines.Name(id), func(paths []string) { s.send(paths, id) }}
}

func (s *sender) chatTarget(c *conversation) dropTarget {
	n, _ := s.ui.view().Machines.Find(c.pane.Node())
	isHere := n.Local && s.ui.backend.flags.join == "" // the files are on the machine already: insert their paths
	text := "Drop to attach"
	if !isHere {
		text = fmt.Sprintf("Drop to send to %s. Pictures are attached.", cmp.Or(s.ui.view().Machines.Name(c.pane.Node()), "a machine"))
	}
	return dropTarget{c.pane, false, text, func(paths []string) {
		bind.Go(s.ui.ctx, func(context.Context) ([2][]string, error) { return separatePictures(paths), nil }, func(kinds [2][]string, _ error) {
			if len(kinds[0]) > 0 {
				c.pane.AddFiles(kinds[0])
			}
			if len(kinds[1]) == 0 {
				return
			}
			if isHere {
				c.pane.AddFiles(kinds[1])
				return
			}
			s.send(kinds[1], c.pane.Node())
		})
	}}
}

// dropOnMachine sends files that were dragged from a machine's list to another in the sidebar.
func (s *sender) dropOnMachine(from protocol.NodeID, paths []string, at fyne.Position) {
	to, _, ok := s.ui.main.sidebar.machineAt(at)
	if !ok || to == from {
		return
	}
	s.sendBetween(from, paths, to, "")
}

// dropMark highlights where files go that are dragged over a window, and says what a drop does. It
// belongs to the GUI thread.
type dropMark struct {
	box    *fyne.Container // has the size of the window's content
	frame  *widgets.Rect
	text   *widgets.Text
	label  *fyne.Container
	stop   context.CancelFunc // ends the look whether the drag has left; nil without a drag
	unmark func()             // removes the page's own highlight; may be nil
}

func newDropMark() *dropMark {
	m := &dropMark{frame: widgets.NewRect("", style.ColorAccent, style.Corner), text: widgets.NewText("", style.ColorText, "text")}
	m.label = container.NewStack(widgets.NewRect("menuBackground", style.ColorAccent, style.Corner), widgets.Inset(style.Inside, style.Group, style.Inside, style.Group, m.text))
	m.box = container.NewWithoutLayout(m.frame, m.label)
	m.box.Hide()
	return m
}

// show shows a target. Its text is in the middle of the area, or below a low one.
func (m *dropMark) show(t dropTarget) {
	driver := fyne.CurrentApp().Driver()
	at, size := driver.AbsolutePositionForObject(t.area).Subtract(driver.AbsolutePositionForObject(m.box)), t.area.Size()
	widgets.SetVisible(m.frame, !t.isMarked)
	m.frame.Move(at)
	m.frame.Resize(size)
	m.text.SetText(t.text)
	label := m.label.MinSize()
	m.label.Resize(label)
	y := at.Y + float32(int((size.Height-label.Height)/2))
	if size.Height < 2*label.Height {
		y = at.Y + size.Height + style.Gap
	}
	x := at.X + float32(int((size.Width-label.Width)/2))
	m.label.Move(fyne.NewPos(max(x, style.Gap), y))
	m.box.Show()
	m.box.Refresh()
}

// hide ends the highlight.
func (m *dropMark) hide() {
	if m.stop == nil {
		return
	}
	m.stop()
	m.stop = nil
	widgets.Call(m.unmark)
	m.box.Hide()
}

package app

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"fyne.io/fyne/v2"

	"fairlead/app/bind"
	"fairlead/app/state"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// dropped takes files in that were dropped on a window: on a machine they are sent there. On a chat pictures go with the message, and other
// files to the machine that the chat is about, unless that is this one.
func (s *shell) dropped(c *conversation, at fyne.Position, paths []string) {
	if c == s.conversation {
		if id, ok := s.sidebar.machineAt(at); ok {
			s.send(paths, id)
			return
		}
		if s.files != nil {
			if id, dir, ok := s.files.At(at); ok {
				s.sendTo(paths, id, dir)
				return
			}
		}
		if s.pageTitle != "" {
			to := protocol.NodeID("")
			if s.dropOn != nil {
				to = s.dropOn(at)
			}
			if to == "" {
				s.sendWhere(paths, at)
				return
			}
			s.send(paths, to)
			return
		}
	}
	bind.Go(s.ctx, func(context.Context) ([2][]string, error) { return split(paths), nil }, func(kinds [2][]string, _ error) {
		if len(kinds[0]) > 0 {
			c.pane.AddFiles(kinds[0])
		}
		if len(kinds[1]) == 0 {
			return
		}
		if n, ok := s.view.Node(c.pane.Node()); ok && n.Local && s.b.f.join == "" {
			c.pane.AddFiles(kinds[1]) // they are there already: their paths are written
			return
		}
		s.send(kinds[1], c.pane.Node())
	})
}

// split tells pictures from other files and folders. It blocks.
func split(paths []string) (kinds [2][]string) {
	for _, p := range paths {
		if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() && info.Size() <= maxAttachment {
			if _, err := readAttachment(p); err == nil {
				kinds[0] = append(kinds[0], p)
				continue
			}
		}
		kinds[1] = append(kinds[1], p)
	}
	return kinds
}

// send puts files of this computer into the queue for a machine's workspace; without a machine it asks which.
func (s *shell) send(paths []string, to protocol.NodeID) {
	if to == "" {
		size := s.window.Canvas().Size()
		s.sendWhere(paths, fyne.NewPos(size.Width/2-80, size.Height/3))
		return
	}
	s.sendTo(paths, to, "")
}

// sendTo is send into a folder of the machine; an empty one is its workspace.
func (s *shell) sendTo(paths []string, to protocol.NodeID, dir string) {
	bind.Go(s.ctx, func(ctx context.Context) (protocol.Transfer, error) { return s.b.state.Send(ctx, paths, to, dir) }, s.sending)
}

func (s *shell) sending(t protocol.Transfer, err error) {
	if err != nil {
		s.say("Nothing was sent: " + err.Error())
		return
	}
	s.say("Sending " + state.TransferTitle(s.view, t))
}

// droppedFiles takes files of a machine that were dragged out of its list: on another machine in the sidebar they are sent there.
func (s *shell) droppedFiles(from protocol.NodeID, paths []string, at fyne.Position) {
	to, ok := s.sidebar.machineAt(at)
	if !ok || to == from {
		return
	}
	s.sendBetween(from, paths, to, "")
}

// sendBetween sends files from one machine into a folder of another; an empty one is its workspace.
func (s *shell) sendBetween(from protocol.NodeID, paths []string, to protocol.NodeID, dir string) {
	bind.Go(s.ctx, func(ctx context.Context) (protocol.Transfer, error) {
		return s.b.state.SendBetween(ctx, from, paths, to, dir)
	}, s.sending)
}

// opener has the system open files of this computer; it is nil where the windows look at a gateway elsewhere.
func (s *shell) opener() func(string) {
	if s.b.f.join != "" {
		return nil
	}
	return s.openPath
}

// sendWhere asks for the machine, at a place of the window.
func (s *shell) sendWhere(paths []string, at fyne.Position) {
	var items []*fyne.MenuItem
	for _, n := range s.view.Nodes {
		items = append(items, fyne.NewMenuItem(fmt.Sprintf("Send to %s", state.NameOf(n)), func() { s.send(paths, n.ID) }))
	}
	if len(items) == 0 {
		s.say("There is no machine to send to.")
		return
	}
	s.window.RequestFocus() // the file manager has it
	widgets.ShowMenuAt(s.body, at, items)
}

// sendFiles asks for a file to send to a machine; without one it asks for that too.
func (s *shell) sendFiles(to protocol.NodeID) {
	pickFiles(s.window, func(paths []string) { s.send(paths, to) })
}

// reveal shows where a file of this computer lies.
func (s *shell) reveal(path string) { s.openPath(filepath.Dir(path)) }

// fetch copies a file of a machine into a folder of this computer that the person chooses.
func (s *shell) fetch(from protocol.NodeID, path string) {
	pickFolder(s.window, func(dir string) {
		bind.Go(s.ctx, func(ctx context.Context) (protocol.Transfer, error) { return s.b.state.Fetch(ctx, from, path, dir) }, func(t protocol.Transfer, err error) {
			if err != nil {
				s.say("Nothing was copied: " + err.Error())
				return
			}
			s.say("Copying " + state.TransferTitle(s.view, t))
		})
	})
}

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

// dropped handles files that were dropped on a window. Dropped on a machine, they are sent there.
// Dropped on a chat, pictures are attached to the message, and other files are sent to the chat's
// machine, unless that is this computer.
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
			c.pane.AddFiles(kinds[1]) // they are on the machine already: insert their paths
			return
		}
		s.send(kinds[1], c.pane.Node())
	})
}

// split separates pictures from other files and folders. It blocks on the disk.
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

// send queues transfers of this computer's files to a machine's workspace; without a machine it
// asks for one.
func (s *shell) send(paths []string, to protocol.NodeID) {
	if to == "" {
		size := s.window.Canvas().Size()
		s.sendWhere(paths, fyne.NewPos(size.Width/2-80, size.Height/3))
		return
	}
	s.sendTo(paths, to, "")
}

// sendTo is send into a folder of the machine; an empty folder is its workspace.
func (s *shell) sendTo(paths []string, to protocol.NodeID, dir string) {
	bind.Go(s.ctx, func(ctx context.Context) (protocol.Transfer, error) {
		return s.b.state.Transfers.Send(ctx, paths, to, dir)
	}, s.sending)
}

func (s *shell) sending(t protocol.Transfer, err error) {
	if err != nil {
		s.say("Nothing was sent: " + err.Error())
		return
	}
	s.say("Sending " + state.TransferTitle(s.view, t))
}

// droppedFiles handles files of a machine that were dragged out of its list: dropped on another
// machine in the sidebar, they are sent there.
func (s *shell) droppedFiles(from protocol.NodeID, paths []string, at fyne.Position) {
	to, ok := s.sidebar.machineAt(at)
	if !ok || to == from {
		return
	}
	s.sendBetween(from, paths, to, "")
}

// sendBetween queues transfers from one machine into a folder of another; an empty folder is its
// workspace.
func (s *shell) sendBetween(from protocol.NodeID, paths []string, to protocol.NodeID, dir string) {
	bind.Go(s.ctx, func(ctx context.Context) (protocol.Transfer, error) {
		return s.b.state.Transfers.SendBetween(ctx, from, paths, to, dir)
	}, s.sending)
}

// opener opens this computer's files with the system's default program; it is nil if the gateway is
// remote.
func (s *shell) opener() func(string) {
	if s.b.f.join != "" {
		return nil
	}
	return s.openPath
}

// sendWhere shows a menu of machines at a position of the window.
func (s *shell) sendWhere(paths []string, at fyne.Position) {
	var items []*fyne.MenuItem
	for _, n := range s.view.Nodes {
		items = append(items, fyne.NewMenuItem(fmt.Sprintf("Send to %s", state.NameOf(n)), func() { s.send(paths, n.ID) }))
	}
	if len(items) == 0 {
		s.say("There is no machine to send to.")
		return
	}
	s.window.RequestFocus() // the file manager has the focus
	widgets.ShowMenuAt(s.body, at, items)
}

// sendFiles asks for a file to send to a machine; without a machine it asks for that, too.
func (s *shell) sendFiles(to protocol.NodeID) {
	pickFiles(s.window, func(paths []string) { s.send(paths, to) })
}

// reveal shows a file of this computer in the file manager.
func (s *shell) reveal(path string) { s.openPath(filepath.Dir(path)) }

// fetch copies a file of a machine into a folder of this computer that the person chooses.
func (s *shell) fetch(from protocol.NodeID, path string) {
	pickFolder(s.window, func(dir string) {
		bind.Go(s.ctx, func(ctx context.Context) (protocol.Transfer, error) {
			return s.b.state.Transfers.Fetch(ctx, from, path, dir)
		}, func(t protocol.Transfer, err error) {
			if err != nil {
				s.say("Nothing was copied: " + err.Error())
				return
			}
			s.say("Copying " + state.TransferTitle(s.view, t))
		})
	})
}

package app

import (
	"context"
	"fmt"
	"os"

	"fyne.io/fyne/v2"

	"fairlead/app/feed"
	"fairlead/app/picture"
	"fairlead/app/transfer"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// sender starts transfers: of files that were dropped or chosen, and between machines.
type sender struct{ ui *ui }

// separatePictures separates pictures from other files and folders. It blocks on the disk.
func separatePictures(paths []string) (kinds [2][]string) {
	for _, p := range paths {
		if info, err := os.Stat(p); err == nil && info.Mode().IsRegular() && info.Size() <= picture.MaxSize {
			if _, err := picture.Read(p); err == nil {
				kinds[0] = append(kinds[0], p)
				continue
			}
		}
		kinds[1] = append(kinds[1], p)
	}
	return kinds
}

// send sends this computer's files to a machine's workspace; without a machine it asks for one.
func (s *sender) send(paths []string, to protocol.NodeID) {
	if to == "" {
		size := s.ui.main.conversation.window.Canvas().Size()
		s.askMachine(paths, fyne.NewPos(size.Width/2-80, size.Height/3))
		return
	}
	s.sendTo(paths, to, "")
}

// sendTo is send into a folder of the machine; an empty folder is its workspace.
func (s *sender) sendTo(paths []string, to protocol.NodeID, dir string) {
	s.start("Sending ", func(ctx context.Context) (protocol.Transfer, error) {
		return transfer.Send(ctx, s.ui.backend.state, protocol.Here, paths, to, dir)
	})
}

// start queues transfers, and shows the first one after a verb, unless its page shows it.
func (s *sender) start(verb string, queue func(context.Context) (protocol.Transfer, error)) {
	request(s.ui, s.ui.main.conversation.window, "The transfer did not start: ", queue, func(t protocol.Transfer) {
		if s.ui.nav.title != transfersTitle {
			s.ui.messages.show(transfer.StartText(s.ui.view(), verb, t))
		}
	})
}

// sendBetween sends files of one machine into a folder of another; empty is its workspace.
func (s *sender) sendBetween(from protocol.NodeID, paths []string, to protocol.NodeID, dir string) {
	s.start("Sending ", func(ctx context.Context) (protocol.Transfer, error) {
		return transfer.Send(ctx, s.ui.backend.state, from, paths, to, dir)
	})
}

// askMachine shows a menu of machines at a position of the window.
func (s *sender) askMachine(paths []string, at fyne.Position) {
	var items []*fyne.MenuItem
	for _, n := range s.ui.view().Machines {
		items = append(items, fyne.NewMenuItem(fmt.Sprintf("Send to %s", feed.NameOf(n)), func() { s.send(paths, n.ID) }))
	}
	if len(items) == 0 {
		s.ui.messages.show("There is no machine to send files to.")
		return
	}
	s.ui.main.conversation.window.RequestFocus() // the file manager has the focus
	widgets.ShowMenuAt(s.ui.main.body, at, items)
}

// pickAndSend asks for a file to send to a machine; without a machine it asks for that, too.
func (s *sender) pickAndSend(to protocol.NodeID) {
	s.ui.picker.OpenFiles(s.ui.main.conversation.window, "Send files", "Send", func(paths []string) { s.send(paths, to) })
}

// fetch copies a file of a machine into a folder of this computer that the person chooses.
func (s *sender) fetch(from protocol.NodeID, path string) {
	s.ui.picker.ChooseFolder(s.ui.main.conversation.window, "Copy to this computer", "Copy here", func(dir string) {
		s.start("Copying ", func(ctx context.Context) (protocol.Transfer, error) {
			return transfer.Fetch(ctx, s.ui.backend.state, from, path, dir)
		})
	})
}

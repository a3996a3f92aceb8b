// Package send sends files: those that the person drops or chooses, and those of one machine to
// another. It asks for what is missing, queues the transfer and says so.
package send

import (
	"context"

	"fyne.io/fyne/v2"

	"fairlead/app/host"
	"fairlead/app/pick"
	"fairlead/app/transfer"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// Sender starts transfers. It belongs to the GUI thread.
type Sender struct {
	ctx    context.Context
	e      host.Env
	picker *pick.Picker
	window func() fyne.Window
	isSeen func() bool
}

// New creates a sender that works until ctx ends. window is the window of dialogs and menus; isSeen
// reports whether the person sees the transfers, so that a started one need not be said.
func New(ctx context.Context, e host.Env, picker *pick.Picker, window func() fyne.Window, isSeen func() bool) *Sender {
	return &Sender{ctx, e, picker, window, isSeen}
}

// Send sends this computer's files to a machine's workspace; without a machine it asks for one.
func (s *Sender) Send(paths []string, to protocol.NodeID) {
	if to == "" {
		size := s.window().Canvas().Size()
		s.askMachine(paths, fyne.NewPos(size.Width/2-80, size.Height/3))
		return
	}
	s.sendTo(paths, to, "")
}

// sendTo is Send into a folder of the machine; an empty folder is its workspace.
func (s *Sender) sendTo(paths []string, to protocol.NodeID, dir string) {
	s.Between(protocol.Here, paths, to, dir)
}

// Between sends files of one machine into a folder of another; empty is its workspace.
func (s *Sender) Between(from protocol.NodeID, paths []string, to protocol.NodeID, dir string) {
	s.start("Sending ", func(ctx context.Context) (protocol.Transfer, error) {
		return transfer.Send(ctx, s.e.Feed, from, paths, to, dir)
	})
}

// Pick asks for files to send to a machine; without a machine it asks for that, too.
func (s *Sender) Pick(to protocol.NodeID) {
	s.picker.OpenFiles(s.window(), "Send files", "Send", func(paths []string) { s.Send(paths, to) })
}

// Fetch copies a file of a machine into a folder of this computer that the person chooses.
func (s *Sender) Fetch(from protocol.NodeID, path string) {
	s.picker.ChooseFolder(s.window(), "Copy to this computer", "Copy here", func(dir string) {
		s.start("Copying ", func(ctx context.Context) (protocol.Transfer, error) {
			return transfer.Fetch(ctx, s.e.Feed, from, path, dir)
		})
	})
}

// start queues a transfer, and says so after a verb.
func (s *Sender) start(verb string, queue func(context.Context) (protocol.Transfer, error)) {
	var t protocol.Transfer
	s.e.Run(s.ctx, "The transfer did not start", func(ctx context.Context) (err error) {
		t, err = queue(ctx)
		return err
	}, func() {
		if !s.isSeen() {
			s.e.Say(transfer.StartText(s.e.Feed.View(), verb, t))
		}
	})
}

// askMachine shows a menu of machines at a position of the window.
func (s *Sender) askMachine(paths []string, at fyne.Position) {
	var items []*fyne.MenuItem
	for _, n := range s.e.Feed.Machines.Get() {
		items = append(items, fyne.NewMenuItem("Send to "+n.DisplayName(), func() { s.Send(paths, n.ID) }))
	}
	if len(items) == 0 {
		s.e.Say("There is no machine to send files to.")
		return
	}
	s.window().RequestFocus() // the file manager has the focus
	widgets.ShowMenuAt(s.window().Content(), at, items)
}

package app

import (
	"context"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/bind"
	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/opener"
	"fairlead/app/pick"
	"fairlead/app/send"
	"fairlead/app/terminal"
	"fairlead/app/window"
	"fairlead/gateway/protocol"
)

// places are the parts of the program that show a place. They are set once all exist: each of them
// can lead to the others.
type places struct {
	window    *window.Window
	nav       *navigator
	palette   paletteKey
	questions *questions
	opener    *opener.Opener
	picker    *pick.Picker
	sender    *send.Sender
}

// pageHost is a window as its pages see it. It implements [host.Host].
type pageHost struct {
	*places
	app fyne.App
	in  fyne.Window // nil for the main window, which may not exist yet
}

// at returns the window.
func (h pageHost) at() fyne.Window {
	if h.in == nil {
		return h.window.Chat.Window
	}
	return h.in
}

// Open implements [host.Host].
func (h pageHost) Open(to host.Target) {
	switch to := to.(type) {
	case host.Chat:
		h.openChat(to)
	case host.Fork:
		h.openFork(to)
	case host.OtherChat:
		if h.window.Chat.Page.Key() == protocol.SessionKey(to) {
			h.window.SwitchTo(h.window.MainChat())
		}
	case host.Question:
		if to == "" {
			h.nav.open(inboxTitle, nil)
			return
		}
		h.questions.review(protocol.QuestionID(to))
	case host.Identical:
		h.questions.bring(protocol.QuestionID(to), true)
	case host.Palette:
		h.palette.press()
	case host.Back:
		h.nav.back()
	default:
		if !h.openPage(to) {
			h.openFile(to)
		}
	}
}

// openPage opens the page that shows a place, and reports whether there is one.
func (h pageHost) openPage(to host.Target) bool {
	switch to := to.(type) {
	case host.Archive:
		h.nav.open(archivesTitle, to)
	case host.Machine, host.NewMachine, host.Forward:
		h.nav.open(machinesTitle, to)
	case host.Terminal:
		h.nav.open(terminal.Title, to)
	case host.Files:
		if to == "" { // the one that was shown last
			h.nav.open(filesTitle, nil)
			return true
		}
		h.nav.open(filesTitle, to)
	case host.AgentFile, host.File:
		h.nav.open(filesTitle, to)
	case host.Search:
		h.nav.open(searchTitle, to)
	case host.Setting, host.Link, host.Join, host.News:
		h.nav.open(settingsTitle, to)
	case host.Page:
		h.nav.open(string(to), nil)
	case host.New:
		h.nav.open(string(to), to)
	default:
		return false
	}
	return true
}

// openFile opens dialogs, windows and programs for links, files and texts.
func (h pageHost) openFile(to host.Target) {
	switch to := to.(type) {
	case host.URL:
		h.opener.Link(h.at(), string(to))
	case host.Reveal:
		h.opener.Reveal(h.at(), string(to))
	case host.Folder:
		h.opener.Path(h.at(), string(to))
	case host.Picture:
		h.opener.Picture(h.at(), to.Resource)
	case host.Output:
		h.opener.Output(to)
	case host.SaveFile:
		h.opener.Save(h.at(), to)
	case host.OpenFile:
		h.opener.Read(h.at(), to)
	case host.PickFiles:
		h.picker.OpenFiles(h.at(), to.Title, to.Button, to.Done)
	case host.ChooseFolder:
		h.picker.ChooseFolder(h.at(), to.Title, to.Button, to.Chosen)
	case host.Fetch:
		h.sender.Fetch(to.Machine, to.Path)
	case host.Drop:
		h.window.Drop(to)
	case host.SendFiles:
		h.sender.Pick(protocol.NodeID(to))
	}
}

// openFork opens a new chat in the main window, and offers to open the original.
func (h pageHost) openFork(to host.Fork) {
	h.window.Open(to.Key)
	h.window.Show()
	h.window.Chat.Messages.ShowAction("Forked.", "Open original", func() { h.window.Open(to.From) })
}

// openChat opens a chat, or the archive that contains the message to show.
func (h pageHost) openChat(to host.Chat) {
	h.window.EndFirstRun()
	if to.Hit != nil && to.Hit.Archived {
		h.nav.open(archivesTitle, host.Archive{Key: to.Hit.SessionKey, Hit: to.Hit})
		return
	}
	h.window.Open(to.Key)
	switch page := h.window.Chat.Page; {
	case to.Hit != nil:
		page.RevealMessage(to.Hit.MessageID, to.Hit.Seq, feed.HitWord(*to.Hit))
	case to.Run != "":
		page.RevealRun(to.Run)
	}
}

// Say implements [host.Host].
func (h pageHost) Say(text string) { h.window.Chats.At(h.at()).Messages.Show(text) }

// Undo implements [host.Host].
func (h pageHost) Undo(text string, undo func(), until time.Time) {
	h.window.Chats.At(h.at()).Messages.OfferUndo(text, undo, until)
}

// Copy implements [host.Host].
func (h pageHost) Copy(text string) { h.app.Clipboard().SetContent(text) }

// Run implements [host.Host].
func (h pageHost) Run(ctx context.Context, failed string, work func(context.Context) error, done func()) {
	bind.Run(ctx, work, func(err error) {
		if err != nil {
			h.Say(failed + ": " + err.Error())
			return
		}
		done()
	})
}

// frontWindows are the windows as notifications see them. They implement [notifications.Windows].
type frontWindows struct {
	pageHost
	isInFront func() bool
}

// Show implements [notifications.Windows].
func (w frontWindows) Show() { w.window.Show() }

// IsInFront implements [notifications.Windows].
func (w frontWindows) IsInFront() bool { return w.isInFront() }

// ShowsTransfers implements [notifications.Windows].
func (w frontWindows) ShowsTransfers() bool { return w.window.Pages.Title() == transfersTitle }

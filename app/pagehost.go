package app

import (
	"context"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/archive"
	"fairlead/app/bind"
	"fairlead/app/host"
	"fairlead/gateway/protocol"
)

// pageHost is a window as its pages see it. It implements [host.Host].
type pageHost struct {
	ui     *ui
	window fyne.Window // nil for the main window, which may not exist yet
}

// at returns the window.
func (h pageHost) at() fyne.Window {
	if h.window == nil {
		return h.ui.main.conversation.Window
	}
	return h.window
}

// env returns what a page in the main window gets.
func (u *ui) env() host.Env { return u.envIn(nil) }

// envIn returns what a page in a window gets.
func (u *ui) envIn(w fyne.Window) host.Env {
	return host.Env{
		Host: pageHost{u, w}, Feed: u.backend.Feed, Chats: u.backend.Chats, Machines: &u.machines, Drafts: &u.unsaved,
		WrapOutput: &u.wrap,
	}
}

// Open implements [host.Host].
func (h pageHost) Open(to host.Target) {
	nav := h.ui.nav
	switch to := to.(type) {
	case host.Chat:
		h.openChat(to)
	case host.Fork:
		h.openFork(to)
	case host.OtherChat:
		if main := h.ui.main; main.conversation.Page.Key() == protocol.SessionKey(to) {
			main.switchTo(main.mainChat())
		}
	case host.Archive:
		if to.Hit != nil {
			nav.openArchive(to.Key, func(p *archive.Page) { p.OpenHit(*to.Hit) })
			return
		}
		nav.openArchives(to.Key)
	case host.Machine:
		nav.openAt(machinesTitle, to)
	case host.NewMachine:
		nav.openAt(machinesTitle, to)
	case host.New:
		nav.openAt(string(to), to)
	case host.Files:
		if to == "" { // the one that was shown last
			nav.openTitled(filesTitle)
			return
		}
		nav.openAt(filesTitle, to)
	case host.AgentFile, host.File:
		nav.openAt(filesTitle, to)
	case host.Page:
		nav.openTitled(string(to))
	case host.Setting:
		h.ui.settings.find(string(to))
	case host.Search:
		nav.search(string(to))
		h.ui.main.conversation.Window.RequestFocus()
	case host.Question:
		if to == "" {
			h.ui.questions.openPage()
			return
		}
		h.ui.questions.review(protocol.QuestionID(to))
	case host.Identical:
		h.ui.questions.bring(protocol.QuestionID(to), true)
	case host.URL:
		h.ui.opener.Link(h.at(), string(to))
	case host.Reveal:
		h.ui.opener.Reveal(h.at(), string(to))
	case host.SendFiles:
		h.ui.sender.Pick(protocol.NodeID(to))
	default:
		h.openFile(to)
	}
}

// openFile opens dialogs and windows for files, folders and texts.
func (h pageHost) openFile(to host.Target) {
	switch to := to.(type) {
	case host.Picture:
		h.ui.opener.Picture(h.at(), to.Resource)
	case host.Output:
		h.ui.opener.Output(to)
	case host.PickFiles:
		h.ui.picker.OpenFiles(h.at(), to.Title, to.Button, to.Done)
	case host.Folder:
		h.ui.opener.Path(h.at(), string(to))
	case host.ChooseFolder:
		h.ui.picker.ChooseFolder(h.at(), to.Title, to.Button, to.Chosen)
	case host.SaveFile:
		h.ui.opener.Save(h.at(), to)
	case host.OpenFile:
		h.ui.opener.Read(h.at(), to)
	}
}

// openFork opens a new chat in the main window, and offers to open the original.
func (h pageHost) openFork(to host.Fork) {
	main := h.ui.main
	main.open(to.Key)
	main.show()
	h.ui.messages.ShowAction("Forked.", "Open original", func() { main.open(to.From) })
}

func (h pageHost) openChat(to host.Chat) {
	h.ui.main.endFirstRun()
	defer h.ui.main.closeDrawer()
	switch {
	case to.Hit != nil:
		h.ui.nav.openHit(*to.Hit)
	case to.Run != "":
		h.ui.nav.openRun(to.Key, to.Run)
	default:
		h.ui.main.open(to.Key)
	}
}

// Say implements [host.Host].
func (h pageHost) Say(text string) { h.ui.chats.At(h.at()).Messages.Show(text) }

// Undo implements [host.Host].
func (h pageHost) Undo(text string, undo func(), until time.Time) {
	h.ui.chats.At(h.at()).Messages.OfferUndo(text, undo, until)
}

// Copy implements [host.Host].
func (h pageHost) Copy(text string) { h.ui.app.Clipboard().SetContent(text) }

// Run implements [host.Host].
func (h pageHost) Run(ctx context.Context, failed string, work func(context.Context) error, done func()) {
	bind.Run(ctx, work, func(err error) {
		if err != nil {
			h.ui.chats.At(h.at()).Messages.Show(failed + ": " + err.Error())
			return
		}
		done()
	})
}

// frontWindows are the windows as notifications see them. They implement [notifications.Windows].
type frontWindows struct{ pageHost }

// Show implements [notifications.Windows].
func (w frontWindows) Show() { w.ui.main.show() }

// IsInFront implements [notifications.Windows].
func (w frontWindows) IsInFront() bool { return w.ui.isInFront() }

// ShowsTransfers implements [notifications.Windows].
func (w frontWindows) ShowsTransfers() bool { return w.ui.nav.title == transfersTitle }

package app

import (
	"context"
	"time"

	"fairlead/app/archive"
	"fairlead/app/bind"
	"fairlead/app/host"
	"fairlead/gateway/protocol"
)

// pageHost is the main window as the pages see it. It implements [host.Host].
type pageHost struct{ ui *ui }

// env returns what a page gets.
func (u *ui) env() host.Env {
	return host.Env{Host: pageHost{u}, Feed: u.backend.state.Feed, Chats: u.backend.state.Chats, Machines: &u.machines, Drafts: u.backend.state.Drafts}
}

// Open implements [host.Host].
func (h pageHost) Open(to host.Target) {
	nav := h.ui.nav
	switch to := to.(type) {
	case host.Chat:
		h.openChat(to)
	case host.OtherChat:
		h.ui.main.leave(protocol.SessionKey(to))
	case host.Archive:
		if to.Hit != nil {
			nav.openArchive(to.Key, func(p *archive.Page) { p.OpenHit(*to.Hit) })
			return
		}
		nav.openArchives(to.Key)
	case host.Machine:
		nav.openMachine(protocol.NodeID(to))
	case host.NewMachine:
		nav.addMachine()
	case host.Search:
		nav.search(string(to))
	case host.AgentFile:
		nav.editFile(string(to))
	case host.Files:
		nav.browse(protocol.NodeID(to))
	case host.File:
		nav.showFile(to)
	case host.Page:
		nav.openTitled(string(to))
	case host.Setting:
		h.ui.settings.find(string(to))
	case host.Question:
		if to == "" {
			h.ui.questions.openPage()
			return
		}
		h.ui.questions.review(protocol.QuestionID(to))
	case host.Identical:
		h.ui.questions.bring(protocol.QuestionID(to), true)
	case host.URL:
		h.ui.opener.openLink(string(to))
	case host.Reveal:
		h.ui.opener.reveal(string(to))
	case host.SendFiles:
		h.ui.sender.Pick(protocol.NodeID(to))
	case host.Folder:
		h.ui.opener.openPath(string(to))
	case host.ChooseFolder:
		h.ui.picker.ChooseFolder(h.ui.main.conversation.window, to.Title, to.Button, to.Chosen)
	case host.SaveFile:
		h.ui.opener.save(h.ui.main.conversation.window, to)
	case host.OpenFile:
		h.ui.opener.openFile(to.Title, to.Button, to.Read)
	}
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
func (h pageHost) Say(text string) { h.ui.messages.show(text) }

// Undo implements [host.Host].
func (h pageHost) Undo(text string, undo func(), until time.Time) {
	h.ui.messages.offerUndo(text, undo, until)
}

// Copy implements [host.Host].
func (h pageHost) Copy(text string) { h.ui.app.Clipboard().SetContent(text) }

// Run implements [host.Host].
func (h pageHost) Run(ctx context.Context, failed string, work func(context.Context) error, done func()) {
	bind.Run(ctx, work, func(err error) {
		if err != nil {
			h.ui.messages.show(failed + ": " + err.Error())
			return
		}
		done()
	})
}

package app

import (
	"context"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/archive"
	"fairlead/app/bind"
	"fairlead/app/chat"
	"fairlead/gateway/protocol"
)

// openHit opens a search result in its chat or in the chat's archive.
func (s *shell) openHit(h protocol.SearchHit) {
	if h.Archived {
		s.openArchive(h.SessionKey, func(p *archive.Page) { p.OpenHit(h) })
		return
	}
	s.open(h.SessionKey)
	s.conversation.reveal(h.MessageID, h.Seq)
}

// reachTime limits the time for loading back to a message. Leaving the chat stops the loading, too.
const reachTime = time.Minute

// reveal scrolls to a message after loading the messages in between.
func (c *conversation) reveal(id protocol.MessageID, seq int64) {
	to := c.chat
	c.pane.Reveal(id)
	if c.pane.Wanted() == "" {
		return
	}
	ctx, cancel := context.WithTimeout(c.s.ctx, reachTime)
	bind.Go(ctx, func(ctx context.Context) (struct{}, error) { return struct{}{}, to.Reach(ctx, seq) }, func(_ struct{}, err error) {
		cancel()
		if c.chat != to || c.pane.Wanted() != id {
			return
		}
		if err == nil {
			c.showChat(to.Value.Get())
		}
		if c.pane.Wanted() != id {
			return
		}
		c.pane.Reveal("")
		if err != nil {
			c.s.say("The message cannot be shown: " + err.Error())
			return
		}
		c.s.say("The message is not in this chat any more.")
	})
}

// openArchives shows the archived conversations of a chat in the main window.
func (s *shell) openArchives(key protocol.SessionKey) {
	s.openArchive(key, (*archive.Page).Load)
	s.window.RequestFocus()
}

func (s *shell) openArchive(key protocol.SessionKey, begin func(*archive.Page)) {
	all := s.conversation.handlers()
	h := archive.Handlers{
		OpenChat: s.open, Say: s.say, Undo: s.offerUndo, Save: func(title, text string) { s.saveAs(s.window, title, text) }, Machines: &s.machines,
		Chat: chat.Handlers{OpenURL: all.OpenURL, OpenImage: all.OpenImage, Media: all.Media, Settings: all.Settings},
	}
	s.openPage(page{"clock", archivesTitle, func(ctx context.Context) fyne.CanvasObject {
		p := archive.New(ctx, s.b.state, key, h)
		bind.Every(ctx, 200*time.Millisecond, p.Tick)
		begin(p)
		return p.Box
	}})
}

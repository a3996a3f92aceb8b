package chat

import (
	"context"
	"time"

	"fairlead/app/bind"
	"fairlead/app/chats"
	"fairlead/app/conversation"
	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/gateway/protocol"

	"fyne.io/fyne/v2"
)

// Page is a chat in the main window or in one of its own. It belongs to the GUI thread.
type Page struct {
	Pane   *Pane
	ctx    context.Context
	host   host.Env
	drafts *Drafts
	isOwn  bool // it has a window of its own, with one chat

	key       protocol.SessionKey
	history   *chats.History
	messages  chats.Messages
	isWatched bool
	stop      context.CancelFunc // stops watching the chat

	last      draft     // content of the field at the last look
	changedAt time.Time // time of the last change; zero once it is saved
}

// NewPage creates a page without a chat; Load sets one. Its work ends with ctx. isOwn tells that it
// is the page of a window for one chat.
func NewPage(ctx context.Context, e host.Env, menu func() []*fyne.MenuItem, d *Drafts, isOwn bool) *Page {
	p := &Page{Pane: New(ctx, e, menu, d), ctx: ctx, host: e, drafts: d, isOwn: isOwn, stop: func() {}}
	p.Pane.requests.onSend = p.SaveDraft
	return p
}

// Key returns the chat that is shown.
func (p *Page) Key() protocol.SessionKey { return p.key }

// Load shows another chat. The draft of the previous chat is saved.
func (p *Page) Load(key protocol.SessionKey) {
	p.SaveDraft()
	before := p.key
	p.key = key
	if p.isOwn {
		p.drafts.owners[key] = p
	}
	p.messages = chats.Messages{Key: key, Loading: true}
	p.history = p.host.Chats.Open(key)
	if before != "" {
		p.host.Chats.Close(before)
	}
	p.Pane.view.Open(p.history)
	p.watch()
	p.Draw()
	if p.drafts.isOf(key, p) {
		p.Pane.composer.setContent(p.drafts.byChat[key])
	}
	p.last = p.Pane.composer.content()
}

// Close saves the draft and releases the chat.
func (p *Page) Close() {
	p.SaveDraft()
	p.stop()
	if p.drafts.owners[p.key] == p {
		delete(p.drafts.owners, p.key)
	}
	p.host.Chats.Close(p.key)
}

// Watch follows the chats that are shown from now on.
func (p *Page) Watch() {
	p.isWatched = true
	p.watch()
}

// watch follows the chat that is shown until another one is.
func (p *Page) watch() {
	p.stop()
	if !p.isWatched || p.history == nil {
		return
	}
	var ctx context.Context
	ctx, p.stop = context.WithCancel(p.ctx)
	bind.Watch(ctx, p.history.Value, p.Show)
}

// Show shows the messages of the chat.
func (p *Page) Show(m chats.Messages) {
	p.messages = m
	p.Draw()
}

// Draw shows the present state of the chat.
func (p *Page) Draw() { p.Pane.Update(conversation.StateOf(p.host.Feed.View(), p.messages)) }

// Title returns the title of the chat.
func (p *Page) Title() string { return feed.TitleOf(p.Entry()) }

// Entry returns the chat as the list has it; a chat that is not stored yet has only its key.
func (p *Page) Entry() protocol.SessionEntry {
	e, _ := p.host.Feed.View().Session(p.key)
	e.SessionKey = p.key
	return e
}

// SaveDraft saves the content of the field, unless the chat has a window of its own.
func (p *Page) SaveDraft() {
	d := p.Pane.composer.content()
	p.last, p.changedAt = d, time.Time{}
	if p.key != "" && (p.drafts.isOf(p.key, p) || d.text != "") {
		p.drafts.save(p.key, d)
	}
}

// GiveUpDraft saves the draft and empties the field: another window edits it from now on.
func (p *Page) GiveUpDraft() {
	p.SaveDraft()
	p.Pane.composer.setContent(draft{})
}

// TakeDraft shows the saved draft unless something was typed: no other window edits it any more.
func (p *Page) TakeDraft() {
	if p.Pane.Draft() == "" {
		p.Pane.composer.setContent(p.drafts.byChat[p.key])
	}
}

// Tick passes the time. It saves the draft once the person pauses typing.
func (p *Page) Tick(now time.Time) {
	p.Pane.Tick(now)
	if d := p.Pane.composer.content(); !d.equal(p.last) {
		p.last, p.changedAt = d, now
		return
	}
	if !p.changedAt.IsZero() && now.Sub(p.changedAt) >= draftPause {
		p.SaveDraft()
	}
}

// reachTimeout limits the time for loading back to a message.
const reachTimeout = time.Minute

// RevealRun scrolls to the first message of a run.
func (p *Page) RevealRun(run protocol.RunID) {
	to := p.history
	ctx, cancel := context.WithTimeout(p.ctx, reachTimeout)
	bind.Go(ctx, func(ctx context.Context) (protocol.Message, error) { return to.ReachRun(ctx, run) }, func(m protocol.Message, err error) {
		cancel()
		switch {
		case p.history != to:
		case err != nil:
			p.host.Say("The run could not be shown: " + err.Error() + ".")
		default:
			p.RevealMessage(m.ID, m.Seq, "")
		}
	})
}

// RevealMessage scrolls to a message after loading the messages in between, and marks a text in it.
func (p *Page) RevealMessage(id protocol.MessageID, seq int64, text string) {
	to := p.history
	p.Pane.Reveal(id, text)
	if p.Pane.PendingReveal() == "" {
		return
	}
	ctx, cancel := context.WithTimeout(p.ctx, reachTimeout)
	bind.Run(ctx, func(ctx context.Context) error { return to.Reach(ctx, seq) }, func(err error) {
		cancel()
		if p.history != to || p.Pane.PendingReveal() != id {
			return
		}
		if err == nil {
			p.Show(to.Value.Get())
		}
		if p.Pane.PendingReveal() != id {
			return
		}
		p.Pane.Reveal("", "")
		if err != nil {
			p.host.Say("The message could not be loaded: " + err.Error())
			return
		}
		p.host.Say("That message is no longer in this chat.")
	})
}

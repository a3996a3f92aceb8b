package app

import (
	"context"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/bind"
	"fairlead/app/chat"
	"fairlead/app/chats"
	"fairlead/app/feed"
	"fairlead/app/picture"
	"fairlead/app/widgets"
	"fairlead/gateway/export"
	"fairlead/gateway/protocol"
)

// conversation is a chat in the main window or in one of its own. It belongs to the GUI thread.
type conversation struct {
	ui     *ui
	window fyne.Window
	pane   *chat.Pane
	toasts *toasts // of its own window; nil in the main window
	drops  *drops
	bar    *widgets.Rect // of its own window, for another computer; nil otherwise

	key      protocol.SessionKey
	model    chat.Model
	history  *chats.History
	messages chats.Messages
	stop     context.CancelFunc // stops watching the chat
	field    draftField
}

func newConversation(u *ui, w fyne.Window) *conversation {
	c := &conversation{ui: u, window: w, stop: func() {}}
	c.drops = &drops{c: c, mark: widgets.NewDropMark()}
	c.pane = chat.New(c.handlers(), &u.machines)
	c.field.pane = c.pane
	c.drops.accept()
	return c
}

// load shows another chat. The draft of the previous chat is saved.
func (c *conversation) load(key protocol.SessionKey) {
	c.saveDraft()
	before := c.key
	c.key = key
	c.ui.chats.release(before)
	c.messages = chats.Messages{Key: key, Loading: true}
	c.model, c.history = chat.NewModel(c.ui.backend.state.Feed, key), c.ui.backend.state.Chats.Open(key)
	c.watch()
	c.draw()
	if own := c.ui.chats.windows[key]; own == nil || own == c {
		c.field.set(c.ui.drafts.byChat[key])
	}
	c.field.last = c.field.get()
}

// watch follows the chat that is shown until another one is.
func (c *conversation) watch() {
	c.stop()
	if !c.ui.running || c.history == nil {
		return
	}
	var ctx context.Context
	ctx, c.stop = context.WithCancel(c.ui.ctx)
	bind.Watch(ctx, c.history.Value, c.showChat)
}

func (c *conversation) showChat(v chats.Messages) {
	c.messages = v
	c.draw()
}

func (c *conversation) draw() {
	st := chat.StateOf(c.ui.view(), c.messages)
	c.pane.Update(st)
	if c != c.ui.main.conversation {
		c.window.SetTitle(feed.TitleOf(st.Session) + " – Fairlead")
	}
}

// entry returns the chat as the list has it; a chat that is not stored yet has only its key.
func (c *conversation) entry() protocol.SessionEntry {
	e, _ := c.ui.view().Session(c.key)
	e.SessionKey = c.key
	return e
}

// focusComposer focuses the message field, even if it was never drawn.
func (c *conversation) focusComposer() { c.window.Canvas().Focus(c.pane.Composer()) }

// send sends a message. If sending fails, the field gets the text and pictures back.
func (c *conversation) send(text string, images []protocol.Attachment, node protocol.NodeID) {
	to, u := c.model, c.ui
	c.saveDraft() // the field is empty now
	u.chats.sent = to.Key
	bind.Go(u.ctx, func(ctx context.Context) (protocol.ChatSendResult, error) { return to.Send(ctx, text, images, node) },
		func(r protocol.ChatSendResult, err error) {
			switch {
			case err != nil:
				u.messages.showIn(c.window, "Your message was not sent: "+err.Error())
				c.restoreUnsent(to.Key, text, images)
			case r.Error != "":
				u.messages.showIn(c.window, r.Error)
			case r.Response != "" && r.Status != protocol.ChatStarted:
				u.messages.showIn(c.window, r.Response)
			}
		})
}

// restoreUnsent puts an unsent message before the text that the person has typed since.
func (c *conversation) restoreUnsent(key protocol.SessionKey, text string, images []protocol.Attachment) {
	if key != c.key {
		c.ui.drafts.save(key, c.ui.drafts.byChat[key].withPrefix(text, images))
		return
	}
	c.field.set(c.field.get().withPrefix(text, images))
}

func (c *conversation) handlers() chat.Handlers {
	u := c.ui
	h := chat.Handlers{
		Send:          c.send,
		Resend:        c.resend,
		DeleteMessage: c.deleteMessage,
		Fork:          c.fork,
		Complete: func(before string, node protocol.NodeID, done func(chat.Completions)) {
			to := c.model
			bind.Go(u.ctx, func(ctx context.Context) (chat.Completions, error) { return to.Complete(ctx, before, node), nil },
				func(r chat.Completions, _ error) { done(r) })
		},
		Stop:     func() { c.model.Stop("") },
		Unqueue:  func(id protocol.RunID) { c.model.Stop(id) },
		StopCall: func(id protocol.CallID) { c.model.StopCall(id) },
		Output: func(id protocol.CallID, done func(string)) {
			request(u, c.window, "The output could not be loaded: ", func(ctx context.Context) (string, error) { return chats.LoadOutput(ctx, u.backend.state, id) }, done)
		},
		OpenOutput: func(title, text string, search bool) { openOutput(u.app, title, text, search) },
		WrapOutput: u.backend.prefs.get().WrapOutput,
		SetWrap:    func(on bool) { u.backend.prefs.update(func(r *preferences) { r.WrapOutput = on }) },
		Undo: func(call protocol.CallInfo, redo bool, done func(error)) {
			bind.Run(u.ctx, func(ctx context.Context) error { return chats.UndoCall(ctx, u.backend.state, call, redo) }, done)
		},
		Answer: func(q protocol.Question, decision string) {
			u.questions.model().Answer([]protocol.Question{q}, protocol.QuestionAnswerParams{Decision: decision, Scope: protocol.ScopeOnce})
		},
		Review: u.questions.review,
		Older:  func() { c.history.Older() },
		SearchAll: func(query string) {
			u.nav.search(query)
			u.main.conversation.window.RequestFocus()
		},
		Reload:    func() { c.history.Reload() },
		Rename:    func(title string) { u.backend.state.Chats.Rename(c.key, title) },
		Export:    func(f export.Format) { u.chats.export(c.key, f, c.window) },
		Menu:      func() []*fyne.MenuItem { return u.chats.chatMenu(c.entry(), c) },
		Reset:     func() { u.backend.state.Chats.Reset(c.key) },
		SetModel:  func(ref protocol.ModelRef) { c.model.SetModel(ref) },
		SetMode:   func(m chats.ModeChoice) { c.ui.backend.state.Chats.SetMode(c.key, m) },
		SetThink:  func(level string) { c.model.SetThinking(level) },
		Settings:  u.settings.openModels,
		Budget:    func() { u.settings.find("budget") },
		Resume:    func() { u.backend.state.Pause(false) },
		OpenURL:   func(link string) { u.opener.openLinkIn(c.window, link) },
		OpenImage: u.opener.openImage,
	}
	c.addFileHandlers(&h)
	return h
}

// addFileHandlers sets the callbacks about files and pictures.
func (c *conversation) addFileHandlers(h *chat.Handlers) {
	u := c.ui
	h.PickFiles = func(done func([]string)) { u.picker.OpenFiles(c.window, "Attach files", "Attach", done) }
	if picture.CanPaste() {
		h.PasteImage = func(done func(protocol.Attachment, error)) { bind.Go(u.ctx, picture.Paste, done) }
	}
	h.ReadFile = func(path string, done func(protocol.Attachment, error)) {
		bind.Go(u.ctx, func(context.Context) (protocol.Attachment, error) { return picture.Read(path) }, done)
	}
	h.Work = func(work, done func()) {
		bind.Run(u.ctx, func(context.Context) error { work(); return nil }, func(error) { done() })
	}
	h.Media = func(key string, done func([]byte, error)) {
		bind.Go(u.ctx, func(ctx context.Context) ([]byte, error) { return chats.Media(ctx, u.backend.state, key) }, done)
	}
	h.Pictures = func(content protocol.Content, done func([]protocol.Attachment)) {
		request(u, c.window, "The pictures in that message could not be loaded: ", func(ctx context.Context) ([]protocol.Attachment, error) {
			return chats.Pictures(ctx, u.backend.state, content)
		}, done)
	}
}

// saveSize saves the window's size as the initial size of the next chat window.
func (c *conversation) saveSize() {
	size := c.window.Canvas().Size()
	c.ui.backend.prefs.update(func(r *preferences) { r.ChatWidth, r.ChatHeight = size.Width, size.Height })
}

// reachTimeout limits the time for loading back to a message.
const reachTimeout = time.Minute

// revealRun scrolls to the first message of a run.
func (c *conversation) revealRun(run protocol.RunID) {
	to := c.history
	ctx, cancel := context.WithTimeout(c.ui.ctx, reachTimeout)
	bind.Go(ctx, func(ctx context.Context) (protocol.Message, error) { return to.ReachRun(ctx, run) }, func(m protocol.Message, err error) {
		cancel()
		switch {
		case c.history != to:
		case err != nil:
			c.ui.messages.showIn(c.window, "The run could not be shown: "+err.Error()+".")
		default:
			c.reveal(m.ID, m.Seq, "")
		}
	})
}

// reveal scrolls to a message after loading the messages in between, and marks a text in it.
func (c *conversation) reveal(id protocol.MessageID, seq int64, text string) {
	to := c.history
	c.pane.Reveal(id, text)
	if c.pane.PendingReveal() == "" {
		return
	}
	ctx, cancel := context.WithTimeout(c.ui.ctx, reachTimeout)
	bind.Run(ctx, func(ctx context.Context) error { return to.Reach(ctx, seq) }, func(err error) {
		cancel()
		if c.history != to || c.pane.PendingReveal() != id {
			return
		}
		if err == nil {
			c.showChat(to.Value.Get())
		}
		if c.pane.PendingReveal() != id {
			return
		}
		c.pane.Reveal("", "")
		if err != nil {
			c.ui.messages.showIn(c.window, "The message could not be loaded: "+err.Error())
			return
		}
		c.ui.messages.showIn(c.window, "That message is no longer in this chat.")
	})
}

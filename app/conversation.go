package app

import (
	"context"
	"time"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/container"

	"fairlead/app/bind"
	"fairlead/app/chat"
	"fairlead/app/state"
	"fairlead/app/widgets"
	"fairlead/gateway/protocol"
)

// conversation is a chat in a window: in the main window or in one of its own. It belongs to the
// GUI thread.
type conversation struct {
	s      *shell
	window fyne.Window
	pane   *chat.Pane
	toast  *widgets.Toast  // of its own window; the main window uses the shell's
	foot   *fyne.Container // container of the toast

	key      protocol.SessionKey
	chat     *state.Chat
	chatView state.ChatView
	stop     context.CancelFunc // stops watching the chat
	typed    string             // content of the field at the last tick
	typedAt  time.Time          // time of the last change; zero once it is saved
}

func newConversation(s *shell, w fyne.Window) *conversation {
	c := &conversation{s: s, window: w}
	c.pane = chat.New(c.handlers(), &s.machines)
	w.SetOnDropped(func(at fyne.Position, uris []fyne.URI) {
		var paths []string
		for _, u := range uris {
			paths = append(paths, u.Path())
		}
		s.dropped(c, at, paths)
	})
	return c
}

// turn shows another chat. The draft of the previous chat is saved.
func (c *conversation) turn(key protocol.SessionKey) {
	c.keepDraft()
	before := c.key
	c.key = key
	c.s.forget(before)
	c.chatView = state.ChatView{Key: key, Loading: true}
	c.chat = c.s.b.state.Chats.Open(key)
	c.watch()
	c.draw()
	if own := c.s.torn[key]; own == nil || own == c {
		c.setDraft(c.s.drafts.list[key])
	}
	c.typed = c.pane.Draft()
}

// watch follows the chat that is shown until another one is.
func (c *conversation) watch() {
	c.close()
	if !c.s.running || c.chat == nil {
		return
	}
	ctx, cancel := context.WithCancel(c.s.ctx)
	c.stop = cancel
	bind.Watch(ctx, c.chat.Value, c.showChat)
}

func (c *conversation) close() {
	if c.stop != nil {
		c.stop()
		c.stop = nil
	}
}

func (c *conversation) showChat(v state.ChatView) {
	c.chatView = v
	c.draw()
}

// draw builds the state of the chat pane.
func (c *conversation) draw() {
	st := chat.StateOf(c.s.view, c.chatView)
	if st.Session.Title == "" {
		st.Session.Title = state.TitleOf(st.Session)
	}
	for _, m := range c.s.view.Models {
		st.Models = append(st.Models, chat.Model{Ref: m.Ref, Name: m.Name})
	}
	c.pane.Update(st)
	if c != c.s.conversation {
		c.window.SetTitle(st.Session.Title + " – Fairlead")
	}
}

// focusComposer focuses the message field, even if it was never drawn.
func (c *conversation) focusComposer() { c.window.Canvas().Focus(c.pane.Composer()) }

// send sends a message. If sending fails, the field gets the text and pictures back.
func (c *conversation) send(text string, images []protocol.Attachment, node protocol.NodeID) {
	to, s := c.chat, c.s
	c.keepDraft() // the field is empty now
	bind.Go(s.ctx, func(ctx context.Context) (protocol.ChatSendResult, error) { return to.Send(ctx, text, images, node) },
		func(r protocol.ChatSendResult, err error) {
			switch {
			case err != nil:
				s.sayIn(c.window, "Your message was not sent: "+err.Error())
				c.giveBack(to.Key, text, images)
			case r.Error != "":
				s.sayIn(c.window, r.Error)
			case r.Response != "" && r.Status != protocol.ChatStarted:
				s.sayIn(c.window, r.Response)
			}
		})
}

// giveBack puts an unsent message before the text that the person has typed since.
func (c *conversation) giveBack(key protocol.SessionKey, text string, images []protocol.Attachment) {
	if key != c.key {
		c.s.drafts.before(key, text, images)
		return
	}
	c.setDraft(c.draft().after(text, images))
}

// handlers returns the callbacks of the chat pane.
func (c *conversation) handlers() chat.Handlers {
	s := c.s
	return chat.Handlers{
		Send:     c.send,
		Stop:     func() { c.chat.Stop("") },
		Unqueue:  func(id protocol.RunID) { c.chat.Stop(id) },
		StopCall: func(id protocol.CallID) { c.chat.StopCall(id) },
		Answer: func(q protocol.Approval, decision string) {
			s.b.state.Approvals.Answer([]protocol.Approval{q}, state.Reply{Decision: decision, Scope: protocol.ScopeOnce})
		},
		Review: s.review,
		Older:  func() { c.chat.Older() },
		SearchAll: func(query string) {
			s.searchFor(query)
			s.window.RequestFocus()
		},
		Reload:     func() { c.chat.Reload() },
		Rename:     func(title string) { s.b.state.Chats.Rename(c.key, title) },
		Export:     func() { s.export(c.key, c.window) },
		Earlier:    func() { s.openArchives(c.key) },
		Reset:      func() { s.b.state.Chats.Reset(c.key) },
		Delete:     func() { s.delete(c.key) },
		SetModel:   func(ref protocol.ModelRef) { c.chat.SetModel(ref) },
		SetMode:    func(m state.ModeChoice) { c.s.b.state.Chats.SetMode(c.key, m) },
		SetThink:   func(level string) { c.chat.SetThinking(level) },
		Settings:   s.openSettings,
		Resume:     func() { s.b.state.Pause(false) },
		OpenURL:    s.openLink,
		OpenImage:  s.openImage,
		PickFiles:  func(done func([]string)) { pickFiles(c.window, done) },
		PasteImage: pasteImage(s),
		ReadFile: func(path string, done func(protocol.Attachment, error)) {
			bind.Go(s.ctx, func(context.Context) (protocol.Attachment, error) { return readAttachment(path) }, done)
		},
		Work: func(work, done func()) {
			bind.Go(s.ctx, func(context.Context) (struct{}, error) { work(); return struct{}{}, nil }, func(struct{}, error) { done() })
		},
		Media: func(key string, done func([]byte, error)) {
			bind.Go(s.ctx, func(ctx context.Context) ([]byte, error) { return s.b.state.Chats.Media(ctx, key) }, done)
		},
		Pictures: func(said protocol.Content, done func([]protocol.Attachment)) {
			bind.Go(s.ctx, func(ctx context.Context) ([]protocol.Attachment, error) { return s.b.state.Chats.Pictures(ctx, said) }, func(list []protocol.Attachment, err error) {
				if err != nil {
					s.sayIn(c.window, "The pictures of that message cannot be read: "+err.Error())
					return
				}
				done(list)
			})
		},
	}
}

// forget drops a chat's messages when no window shows it any more.
func (s *shell) forget(key protocol.SessionKey) {
	if s.conversation.key != key && s.torn[key] == nil {
		s.b.state.Chats.Close(key)
	}
}

// tearOff opens a chat in a window of its own.
func (s *shell) tearOff(key protocol.SessionKey) {
	if c := s.torn[key]; c != nil {
		c.window.Show()
		c.window.RequestFocus()
		return
	}
	w := s.app.NewWindow("Fairlead")
	w.SetPadded(false)
	c := newConversation(s, w)
	s.torn[key] = c
	c.toast = widgets.NewToast()
	c.foot = container.New(&toastLayout{c.pane.Questions}, c.toast)
	w.SetContent(container.NewStack(c.pane, c.foot))
	last := s.b.prefs.get()
	w.Resize(sizeOr(last.TornWidth, last.TornHeight, fyne.NewSize(760, 700)))
	w.SetOnClosed(func() { s.closed(c) })
	shortcut(w, fyne.KeyW, w.Close)
	shortcut(w, fyne.KeyQ, s.quit)
	shortcut(w, fyne.KeyComma, s.openSettings)
	shortcut(w, fyne.KeyPeriod, func() { c.pane.Stop() })
	shortcut(w, fyne.KeyF, c.pane.Find)
	shortcut(w, fyne.KeyN, func() { s.newChat(); s.window.Show(); s.window.RequestFocus() })
	w.Canvas().SetOnTypedKey(func(e *fyne.KeyEvent) {
		if e.Name == fyne.KeyEscape {
			c.focusComposer()
		}
	})
	if s.key == key { // move the draft along
		s.keepDraft()
		s.setDraft(draft{})
	}
	c.turn(key)
	w.Show()
	c.focusComposer()
}

// closed releases the resources of a closed window.
func (s *shell) closed(c *conversation) {
	c.keepDraft()
	c.keepSize()
	c.close()
	delete(s.torn, c.key)
	if s.key == c.key && s.pane.Draft() == "" {
		s.setDraft(s.drafts.list[c.key])
	}
	s.forget(c.key)
}

// keepSize saves the window's size as the initial size of the next chat window.
func (c *conversation) keepSize() {
	size := c.window.Canvas().Size()
	c.s.b.prefs.update(func(r *remembered) { r.TornWidth, r.TornHeight = size.Width, size.Height })
}

// closeTorn closes the window of a deleted chat.
func (s *shell) closeTorn(gone func(protocol.SessionKey) bool) {
	for key, c := range s.torn {
		if gone(key) {
			c.window.Close()
		}
	}
}

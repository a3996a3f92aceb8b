package conversation

import (
	"context"
	"errors"
	"time"

	"fyne.io/fyne/v2"

	"fairlead/app/chats"
	"fairlead/app/feed"
	"fairlead/app/host"
	"fairlead/app/transcript"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// Author changes the conversation for the person. Its methods are called on the GUI thread.
type Author interface {
	// Actions returns what can be done with a stored message, besides copying it.
	Actions(protocol.Message) []Action
	// Retry answers the message of a failed run again.
	Retry(protocol.RunID)
	// TakeBack removes a queued message, so that the person can change it.
	TakeBack(run protocol.RunID, text string)
	// Answer answers a question about a call.
	Answer(q protocol.Question, decision string)
}

// Action is something that can be done with a message.
type Action struct {
	Text    string
	Short   string // label of the button above the message; empty for none
	Do      func()
	Choices []*fyne.MenuItem // a menu instead of Do
}

func (a Action) menuItem() *fyne.MenuItem {
	item := fyne.NewMenuItem(a.Text, a.Do)
	if len(a.Choices) > 0 {
		item.ChildMenu = fyne.NewMenu("", a.Choices...)
	}
	return item
}

// shown is what the view shows now. Its parts read it; the view changes it.
type shown struct {
	ctx     context.Context // of the view
	host    host.Env
	author  Author         // nil for an archived conversation
	history *chats.History // nil before the first conversation
	builder *builder
	state   State
	isSet   bool // a state was set
	now     time.Time
}

// source returns the whole text of the message that a row belongs to.
func (c *shown) source(d messageData) string {
	if m := c.state.Stored(d.id); m != nil {
		return m.Content.Text()
	}
	for _, r := range c.state.Runs {
		if r.RunID == d.run && d.run != "" {
			return r.Text
		}
	}
	return d.text
}

// answer answers a pending approval.
func (c *shown) answer(id protocol.QuestionID, decision string) {
	for _, q := range c.state.Approvals {
		if q.ID == id && c.author != nil {
			c.author.Answer(q, decision)
		}
	}
}

// act performs the action of a notice's or problem's button.
func (c *shown) act(what string, run protocol.RunID) {
	switch what {
	case actionSettings:
		c.host.Open(host.Page("Models"))
	case actionBudget:
		c.host.Open(host.Setting("budget"))
	case actionReload:
		c.history.Reload()
	case actionResume:
		c.host.Feed.Pause(false)
	}
	switch {
	case c.author == nil:
	case what == actionRetry:
		c.author.Retry(run)
	case what == actionReset:
		c.host.Chats.Reset(c.state.Session.SessionKey)
	}
}

// stopCall stops one tool call.
func (c *shown) stopCall(id protocol.CallID) {
	feed.Start(c.host.Feed, protocol.CallCancel, protocol.CallCancelParams{CallID: id})
}

// openOutput opens the whole output of a card in a window.
func (c *shown) openOutput(d toolData, search bool) {
	title := d.card.Verb + " " + d.card.Argument
	if d.card.Machine != "" {
		title += " on " + d.card.Machine
	}
	open := func(text string) { c.host.Open(host.Output{Title: title, Text: text, Search: search}) }
	if d.card.CanLoad {
		c.load(d.call, open)
		return
	}
	open(d.card.Output)
}

// load loads the whole output of a call and passes it on.
func (c *shown) load(id protocol.CallID, done func(text string)) {
	var text string
	c.host.Run(c.ctx, "The output could not be loaded", func(ctx context.Context) (err error) {
		text, err = chats.LoadOutput(ctx, c.host.Feed, id)
		return err
	}, func() { done(text) })
}

// media loads a stored picture. A failure leaves it out.
func (c *shown) media(key string, done func([]byte)) {
	var data []byte
	var err error
	c.host.Run(c.ctx, "", func(ctx context.Context) error {
		data, err = chats.Media(ctx, c.host.Feed, key)
		return nil
	}, func() {
		if err == nil {
			done(data)
		}
	})
}

// callActions are what the reader can do with a call's result.
type callActions struct {
	chat     *shown
	onChange func() // called when the rows of the conversation changed
}

// loadOutput loads and shows the whole output of a call.
func (a *callActions) loadOutput(id protocol.CallID) {
	builder := a.chat.builder
	a.chat.load(id, func(text string) {
		builder.outputs[id] = text
		if builder == a.chat.builder { // the chat is still shown
			builder.clearCache()
			a.onChange()
		}
	})
}

// undo reverts a call's change of a file, or repeats a reverted one.
func (a *callActions) undo(info *protocol.CallInfo) {
	id := info.CallID
	was := a.chat.builder.undos[id]
	if was.isBusy {
		return
	}
	builder := a.chat.builder
	show := func(u undo) {
		a.chat.builder.undos[id] = u
		if builder == a.chat.builder { // the chat is still shown
			a.chat.builder.clearCache()
			a.onChange()
		}
	}
	show(undo{isUndone: was.isUndone, isBusy: true})
	var err error
	a.chat.host.Run(a.chat.ctx, "", func(ctx context.Context) error {
		err = chats.UndoCall(ctx, a.chat.host.Feed, *info, was.isUndone)
		return nil
	}, func() {
		switch {
		case errors.Is(err, chats.ErrAlreadyUndone):
			show(undo{isUndone: true, problem: format.Sentence(err.Error())})
		case err != nil:
			show(undo{isUndone: was.isUndone, problem: format.Sentence(err.Error())})
		default:
			show(undo{isUndone: !was.isUndone})
		}
	})
}

// find finds the matches in rows off the GUI thread.
func (c *shown) find(items []transcript.Item, query string, done func([]match)) {
	var matches []match
	c.host.Run(c.ctx, "", func(context.Context) error {
		matches = findMatches(items, query)
		return nil
	}, func() { done(matches) })
}

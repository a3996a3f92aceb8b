package chat

import (
	"errors"

	"fairlead/app/chats"
	"fairlead/gateway/protocol"
)

// callActions are what the reader can do with a call's result.
type callActions struct {
	chat     *conversation
	onChange func() // called when the rows of the conversation changed
}

// openOutput opens the whole output of a card in a window.
func (a *callActions) openOutput(d toolData, search bool) {
	open := func(text string) {
		title := d.card.Verb + " " + d.card.Argument
		if d.card.Machine != "" {
			title += " on " + d.card.Machine
		}
		a.chat.handlers.OpenOutput(title, text, search)
	}
	switch {
	case a.chat.handlers.OpenOutput == nil:
	case d.card.CanLoad && a.chat.handlers.Output != nil:
		a.chat.handlers.Output(d.call, open)
	default:
		open(d.card.Output)
	}
}

// loadOutput loads and shows the whole output of a call.
func (a *callActions) loadOutput(id protocol.CallID) {
	if a.chat.handlers.Output == nil {
		return
	}
	builder := a.chat.builder
	a.chat.handlers.Output(id, func(text string) {
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
	if was.isBusy || a.chat.handlers.Undo == nil {
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
	a.chat.handlers.Undo(*info, was.isUndone, func(err error) {
		switch {
		case errors.Is(err, chats.ErrAlreadyUndone):
			show(undo{isUndone: true, problem: sentence(err.Error())})
		case err != nil:
			show(undo{isUndone: was.isUndone, problem: sentence(err.Error())})
		default:
			show(undo{isUndone: !was.isUndone})
		}
	})
}

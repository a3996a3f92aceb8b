package chat

import (
	"cmp"
	"errors"
	"slices"

	"fairlead/app/state"
	"fairlead/app/transcript"
	"fairlead/gateway/protocol"
)

// undo is the state of reverting a call's change of a file.
type undo struct {
	isUndone bool
	isBusy   bool
	problem  string // why it was not possible
}

// undoTools change files in a way that their machine can revert.
var undoTools = []string{"Write", "Edit"}

// undoable offers to revert a call's change of a file, or to repeat it.
func (v callView) undoable(c *transcript.Call, info *protocol.CallInfo) {
	if c.State != transcript.CallDone || info == nil || info.Preview == nil || info.Preview.Path == "" || info.Direct ||
		info.Node == protocol.NativePrefix || !slices.Contains(undoTools, info.Tool) {
		return
	}
	if v.undo.isUndone {
		c.Status, c.Note = "undone", "The file is as it was before this change."
	}
	c.Note = cmp.Or(v.undo.problem, c.Note)
	switch {
	case v.undo.isBusy:
	case v.undo.isUndone:
		c.Undo = "Redo"
	default:
		c.Undo = "Undo"
	}
}

// undoCall reverts a call's change of a file, or repeats a reverted one.
func (p rowFactory) undoCall(info *protocol.CallInfo) {
	id := info.CallID
	was := p.builder.undos[id]
	if was.isBusy || p.handlers.Undo == nil {
		return
	}
	builder := p.builder
	show := func(u undo) {
		p.builder.undos[id] = u
		if builder == p.builder { // the chat is still shown
			p.builder.clearCache()
			p.Pane.show()
		}
	}
	show(undo{isUndone: was.isUndone, isBusy: true})
	p.handlers.Undo(*info, was.isUndone, func(err error) {
		switch {
		case errors.Is(err, state.ErrAlreadyUndone):
			show(undo{isUndone: true, problem: sentence(err.Error())})
		case err != nil:
			show(undo{isUndone: was.isUndone, problem: sentence(err.Error())})
		default:
			show(undo{isUndone: !was.isUndone})
		}
	})
}

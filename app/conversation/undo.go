package conversation

import (
	"cmp"
	"slices"

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

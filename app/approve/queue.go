package approve

import (
	"fmt"
	"slices"

	"fairlead/app/state"
	"fairlead/gateway/protocol"
)

// queue is the list of pending approvals, of which one is shown.
type queue struct {
	list  []protocol.Approval
	index int // of the shown approval
}

// current returns the approval that is shown, or the zero value.
func (q *queue) current() protocol.Approval {
	if q.index < len(q.list) {
		return q.list[q.index]
	}
	return protocol.Approval{}
}

// indexOf returns the index of an approval; -1 if it is not pending.
func (q *queue) indexOf(id protocol.ApprovalID) int {
	return slices.IndexFunc(q.list, func(a protocol.Approval) bool { return a.ID == id })
}

// remove removes approvals that were answered or snoozed here.
func (q *queue) remove(answered ...protocol.Approval) {
	q.list = slices.DeleteFunc(slices.Clone(q.list), func(a protocol.Approval) bool {
		return slices.ContainsFunc(answered, func(b protocol.Approval) bool { return a.ID == b.ID })
	})
}

// identical returns the approvals that ask exactly what the current one asks, including itself.
func (q *queue) identical() []protocol.Approval { return state.Identical(q.list, q.current()) }

// position formats the place of the current approval among several, such as "1 of 2".
func (q *queue) position() string {
	if len(q.list) < 2 {
		return ""
	}
	return fmt.Sprintf("%d of %d", q.index+1, len(q.list))
}

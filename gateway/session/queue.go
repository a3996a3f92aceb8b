package session

import (
	"slices"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// queue contains the runs that wait in a session, in the order in which they will start. Each
// message waits as a run of its own.
type queue []store.Run

// add adds a run: an event before the waiting messages, as in the original system, and a message at
// the end.
func (q *queue) add(row store.Run) {
	at := len(*q)
	if isEvent(row) {
		if first := slices.IndexFunc(*q, func(r store.Run) bool { return !isEvent(r) }); first >= 0 {
			at = first
		}
	}
	*q = slices.Insert(slices.Clone(*q), at, row)
}

// without returns the queue without the run at a position.
func (q queue) without(at int) queue { return slices.Delete(slices.Clone(q), at, at+1) }

// index returns the position of a run, or -1.
func (q queue) index(id protocol.RunID) int {
	return slices.IndexFunc(q, func(r store.Run) bool { return r.ID == id })
}

// events counts the waiting events.
func (q queue) events() (n int) {
	for _, r := range q {
		if isEvent(r) {
			n++
		}
	}
	return n
}

package session

import (
	"cmp"
	"slices"
	"sync"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// runs are all runs that have not ended. It is safe for concurrent use.
type runs struct {
	m *Manager

	mu       sync.Mutex // guards the fields below
	byID     map[protocol.RunID]*run
	reserved map[protocol.RunID]bool // IDs of messages that are being processed
}

// track registers a run and makes it visible. If it is registered already, its state is updated.
func (a *runs) track(row store.Run) *run {
	a.mu.Lock()
	defer a.mu.Unlock()
	if r := a.byID[row.ID]; r != nil {
		r.mu.Lock()
		r.row, r.info.State, r.info.StartedAt = row, row.State, row.StartedAt
		r.mu.Unlock()
		return r
	}
	r := &run{m: a.m, row: row, createdAt: row.CreatedAt, done: make(chan struct{}), info: protocol.RunInfo{
		RunID: row.ID, SessionKey: row.Session, State: row.State, StartedAt: row.StartedAt, Message: displayText(row),
	}}
	a.byID[row.ID] = r
	return r
}

// get returns a run that has not ended, or nil.
func (a *runs) get(id protocol.RunID) *run {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.byID[id]
}

// remove unregisters a run. It returns false if the run has ended before.
func (a *runs) remove(r *run) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.byID[r.row.ID] != r {
		return false
	}
	delete(a.byID, r.row.ID)
	return true
}

// commandsOf returns the person's own commands that run in a chat.
func (a *runs) commandsOf(key protocol.SessionKey) []*run {
	a.mu.Lock()
	defer a.mu.Unlock()
	var list []*run
	for _, r := range a.byID {
		if r.row.Session == key && isDirect(r.row) {
			list = append(list, r)
		}
	}
	return list
}

// snapshot returns the runs as clients see them, oldest first.
func (a *runs) snapshot() []protocol.RunInfo {
	a.mu.Lock()
	all := make([]*run, 0, len(a.byID))
	for _, r := range a.byID {
		all = append(all, r)
	}
	a.mu.Unlock()
	slices.SortFunc(all, func(a, b *run) int { return cmp.Compare(a.createdAt, b.createdAt) })
	list := []protocol.RunInfo{}
	for _, r := range all {
		list = append(list, r.snapshot())
	}
	return list
}

// reserve reserves an ID until release; ok is false if another message has reserved it.
func (a *runs) reserve(id protocol.RunID) (release func(), ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.reserved[id] {
		return nil, false
	}
	a.reserved[id] = true
	return func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.reserved, id)
	}, true
}

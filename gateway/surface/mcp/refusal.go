package mcp

import (
	"errors"
	"sync"
	"time"

	"fairlead/gateway/protocol"
)

// Pauses after a file that could not be watched, before it is looked at again. A client may try in
// a loop, and each look can be a question to the person.
const (
	firstRefusal = time.Second
	maxRefusal   = time.Minute
	// deniedTime is the pause after a denial: the person is not asked the same again.
	deniedTime = sessionTime
)

// refusals are the files that a client could not watch. It is safe for concurrent use.
type refusals struct {
	mu  sync.Mutex         // guards all
	all map[string]refusal // by address
}

type refusal struct {
	err   error
	pause time.Duration
	until time.Time
}

// of returns the error with which a file is refused now, or nil if it can be looked at.
func (r *refusals) of(uri string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if x := r.all[uri]; time.Now().Before(x.until) {
		return x.err
	}
	return nil
}

// record records how a look at a file ended, and returns its error.
func (r *refusals) record(uri string, err error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	fault, _ := errors.AsType[*protocol.Fault](err)
	switch {
	case err == nil:
		delete(r.all, uri)
		return nil
	case fault == nil, fault.Code == protocol.FaultForbidden, fault.Code == protocol.FaultApprovalRequired, fault.Code == protocol.FaultCanceled:
		return err // another token may be allowed to, or the same question still waits
	}
	now := time.Now()
	if r.all == nil || len(r.all) >= 16*maxWatchedFiles {
		r.all = make(map[string]refusal)
	}
	pause := min(max(firstRefusal, 2*r.all[uri].pause), maxRefusal)
	if fault.Code == protocol.FaultPermissionDenied {
		pause = deniedTime
	}
	r.all[uri] = refusal{err, pause, now.Add(pause)}
	return err
}

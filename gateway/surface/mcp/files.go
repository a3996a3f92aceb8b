package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/auth"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/wake"
	"fairlead/gateway/protocol"
)

const (
	// pollTime is the time between two looks at a file that a client watches. Not every machine
	// reports changes, and none does for files outside of the workspace.
	pollTime = 2 * time.Second
	// lookTime is how long one look may take.
	lookTime = 10 * time.Second
	// maxWatchedFiles is the number of files that one token can watch.
	maxWatchedFiles = 64
)

// watchedFile is a file to which sessions are subscribed.
type watchedFile struct {
	uri      string
	state    string // from [catalog.Catalog.Observe]
	sessions map[*mcp.ServerSession]subscriber
}

// subscriber is who watches a file: the rights, and the call of fs_stat that allowed it.
type subscriber struct {
	rights auth.Principal
	call   protocol.CallID
}

// watchedFiles are the files that the sessions of a client watch. It is safe for concurrent use.
type watchedFiles struct {
	mu      sync.Mutex              // guards the fields below
	all     map[string]*watchedFile // by address
	polling bool
}

func (f *watchedFiles) has(uri string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.all[uri] != nil
}

// isNew reports whether a session does not watch a file yet. It returns an error if there are too
// many.
func (f *watchedFiles) isNew(uri string, session *mcp.ServerSession) (bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	w := f.all[uri]
	if w == nil {
		if len(f.all) >= maxWatchedFiles {
			return true, protocol.NewFault(protocol.FaultResourceExhausted, fmt.Sprintf("this token watches %d files already: unsubscribe from some", maxWatchedFiles))
		}
		return true, nil
	}
	_, known := w.sessions[session]
	return !known, nil
}

// add makes a session watch a file.
func (f *watchedFiles) add(w watchedFile, session *mcp.ServerSession, who subscriber) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.all[w.uri] == nil {
		w.sessions = make(map[*mcp.ServerSession]subscriber)
		f.all[w.uri] = &w
	}
	f.all[w.uri].sessions[session] = who
}

// renew gives the session with an ID the rights of its latest request: an app can have tokens with
// different ones. Streams of the newest protocol version have no ID; they end when their rights do.
func (f *watchedFiles) renew(session string, p auth.Principal) {
	if session == "" {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range f.all {
		for s, who := range w.sessions {
			if s.ID() == session {
				w.sessions[s] = subscriber{p, who.call}
			}
		}
	}
}

func (f *watchedFiles) remove(uri string, session *mcp.ServerSession) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if w := f.all[uri]; w != nil {
		if delete(w.sessions, session); len(w.sessions) == 0 {
			delete(f.all, uri)
		}
	}
}

// begin drops what only sessions watched that are not open any more. It reports whether the caller
// must look at the files now, and then call end.
func (f *watchedFiles) begin(open []*mcp.ServerSession) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for uri, w := range f.all {
		for session := range w.sessions {
			if !slices.Contains(open, session) {
				delete(w.sessions, session)
			}
		}
		if len(w.sessions) == 0 {
			delete(f.all, uri)
		}
	}
	if f.polling || len(f.all) == 0 {
		return false
	}
	f.polling = true
	return true
}

func (f *watchedFiles) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.polling = false
}

// look is one check of a watched file, made with the rights of one of its sessions.
type look struct {
	subscriber
	uri     string
	session *mcp.ServerSession
}

func (f *watchedFiles) looks() (list []look) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range f.all {
		for session, who := range w.sessions {
			list = append(list, look{who, w.uri, session})
			break
		}
	}
	return list
}

// record notes the state of a file, and reports whether it has changed.
func (f *watchedFiles) record(uri, state string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	w := f.all[uri]
	if w == nil || w.state == state {
		return false
	}
	w.state = state
	return true
}

// watchFile lets a session watch a file. The first look at it is a call like others: the person may
// be asked. Later looks need no answer. A file that cannot be watched is refused for a while.
func (c *client) watchFile(ctx context.Context, session *mcp.ServerSession, p auth.Principal, uri string) error {
	machine, path, ok := parseFileURI(uri)
	if !ok {
		return mcp.ResourceNotFoundError(uri)
	}
	isNew, err := c.files.isNew(uri, session)
	if err != nil || !isNew {
		return err
	}
	if err := c.refused.of(uri); err != nil {
		return err
	}
	stat, err := c.calls.result(ctx, p, "fs_stat", map[string]any{"target": map[string]string{"node_name": machine}, "path": path})
	if c.refused.record(uri, err) != nil {
		return err
	}
	state, err := c.o.Tools.Observe(ctx, p, stat.Call)
	if err != nil {
		return err
	}
	c.files.add(watchedFile{uri: uri, state: state}, session, subscriber{p, stat.Call})
	return nil
}

// pollFiles looks at the watched files of all clients until ctx ends.
func (s *Server) pollFiles(ctx context.Context) {
	var polls crash.Group
	defer polls.Wait()
	wake.Every(ctx, pollTime, func() {
		for _, c := range s.all() {
			if c.files.begin(slices.Collect(c.server.Sessions())) {
				polls.Go(func() { c.poll(ctx) })
			}
		}
	})
}

// poll looks at each watched file once and notifies the sessions of those that have changed.
func (c *client) poll(ctx context.Context) {
	defer c.files.end()
	for _, l := range c.files.looks() {
		limited, cancel := context.WithTimeout(ctx, lookTime)
		state, err := c.o.Tools.Observe(limited, l.rights, l.call)
		cancel()
		f, _ := errors.AsType[*protocol.Fault](err)
		isDenied := f != nil && (f.Code == protocol.FaultPermissionDenied || f.Code == protocol.FaultNotFound)
		// A client that may not look any more reads the file, and learns why.
		if (isDenied || err == nil && c.files.record(l.uri, state)) && c.markDirty(l.uri) {
			c.notify(ctx)
		}
		if isDenied || f != nil && f.Code == protocol.FaultForbidden {
			c.files.remove(l.uri, l.session)
		}
	}
}

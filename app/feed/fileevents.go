package feed

import (
	"sync"

	"fairlead/app/lists"
	"fairlead/gateway/protocol"
)

// FileEvents are the events about watched folders of machines. They are no part of the facts: only
// a page that shows such a folder needs them. It is safe for concurrent use.
type FileEvents struct {
	mu       sync.Mutex // guards the field below
	handlers []*func(protocol.FilesChange)
}

// FollowFiles calls handle, which must not block, for each event until stop is called.
func (e *FileEvents) FollowFiles(handle func(protocol.FilesChange)) (stop func()) {
	mine := &handle
	e.mu.Lock()
	defer e.mu.Unlock()
	e.handlers = append(e.handlers[:len(e.handlers):len(e.handlers)], mine)
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.handlers = lists.Without(e.handlers, func(other *func(protocol.FilesChange)) bool { return other == mine })
	}
}

// FilesChanged reports an event to all pages that follow them. It does not block.
func (e *FileEvents) FilesChanged(c protocol.FilesChange) {
	e.mu.Lock()
	handlers := e.handlers
	e.mu.Unlock()
	for _, handle := range handlers {
		(*handle)(c)
	}
}

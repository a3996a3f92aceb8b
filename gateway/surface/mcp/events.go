package mcp

import (
	"net/http"
	"sync"
	"time"

	"fairlead/gateway/peer/crash"
)

const (
	// writeLimit is how long one event may take to be written to a client that does not read.
	writeLimit = 30 * time.Second
	// beatTime is how often a stream without events sends a comment, so that proxies keep it open.
	beatTime = 15 * time.Second
)

// eventWriter writes the answer to a request. It bounds the time that each write takes, so that a
// client that has stopped reading does not keep others from their notifications, and keeps streams
// alive. The SDK writes each event as a whole.
type eventWriter struct {
	http.ResponseWriter
	control *http.ResponseController

	mu     sync.Mutex // guards the fields below, and is held while an event is written
	begun  bool
	closed bool
	timer  *time.Timer
}

// newEventWriter returns a writer, which must be closed before the handler returns.
func newEventWriter(w http.ResponseWriter) *eventWriter {
	e := &eventWriter{ResponseWriter: w, control: http.NewResponseController(w)}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.timer = crash.AfterFunc(beatTime, e.beat)
	return e
}

// Write implements io.Writer.
func (w *eventWriter) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.begun = w.Header().Get("Content-Type") == "text/event-stream"
	w.control.SetWriteDeadline(time.Now().Add(writeLimit)) // a writer without deadlines has none
	return w.ResponseWriter.Write(b)
}

// Flush implements http.Flusher.
func (w *eventWriter) Flush() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.control.Flush()
}

// Unwrap is for http.ResponseController.
func (w *eventWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// beat sends a comment and starts the timer again.
func (w *eventWriter) beat() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return
	}
	if w.begun {
		w.control.SetWriteDeadline(time.Now().Add(writeLimit))
		w.ResponseWriter.Write([]byte(": waiting\n\n")) // a client that has gone ends the request
		w.control.Flush()
	}
	w.timer.Reset(beatTime)
}

// close ends the comments.
func (w *eventWriter) close() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	w.timer.Stop()
}

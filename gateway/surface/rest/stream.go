package rest

import (
	"context"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/catalog"
	"fairlead/gateway/protocol"
)

// wantsStream reports whether the program accepts Server-Sent Events.
func wantsStream(r *http.Request) bool {
	for _, part := range strings.Split(r.Header.Get("Accept"), ",") {
		if kind, _, err := mime.ParseMediaType(part); err == nil && kind == "text/event-stream" {
			return true
		}
	}
	return false
}

// beat is how often a stream without events sends a comment, so that proxies keep it open.
const beat = 15 * time.Second

// writeLimit is how long one event may take to be written to a program that does not read.
const writeLimit = 30 * time.Second

// stream answers with events: chunk for each part of the result, progress while the call runs or
// waits for the person, and at the end done or error. A program that reads slowly slows the call.
func (h *handler) stream(w http.ResponseWriter, r *http.Request, p auth.Principal, in catalog.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	s := &events{w: w, control: http.NewResponseController(w), cancel: cancel}
	var beats sync.WaitGroup
	beats.Go(func() { s.beat(ctx) })
	in.Emit = func(_ context.Context, part catalog.Part) error {
		kind := part.Kind
		if kind == catalog.PartWaiting {
			kind = "progress"
		}
		return s.send(kind, part.Data)
	}
	out, err := h.Tools.Call(ctx, p, in)
	cancel()
	beats.Wait()
	if err != nil && !s.hasBegun() {
		h.fail(w, r, err) // nothing was sent yet, so the status can say it
		return
	}
	if err != nil {
		s.send("error", mustEncode(map[string]*protocol.Fault{"error": asFault(err)}))
		return
	}
	s.send("done", mustEncode(success{out.Data, out.Message}))
}

func mustEncode(v any) json.RawMessage {
	raw, err := protocol.Marshal(v)
	if err != nil {
		return json.RawMessage("null")
	}
	return raw
}

// events writes Server-Sent Events.
type events struct {
	w       http.ResponseWriter
	control *http.ResponseController
	cancel  context.CancelFunc

	mu    sync.Mutex // guards begun, and is held while an event is written: events are whole
	begun bool
}

func (s *events) hasBegun() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.begun
}

func (s *events) send(event string, data json.RawMessage) error {
	return s.write(fmt.Sprintf("event: %s\ndata: %s\n\n", event, data))
}

func (s *events) write(text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.begun {
		s.begun = true
		head := s.w.Header()
		head.Set("Content-Type", "text/event-stream")
		head.Set("Cache-Control", "no-store")
		head.Set("X-Accel-Buffering", "no")
	}
	s.control.SetWriteDeadline(time.Now().Add(writeLimit))
	_, err := s.w.Write([]byte(text))
	if err == nil {
		err = s.control.Flush()
	}
	if err != nil {
		s.cancel()
	}
	return err
}

// beat sends comments until ctx ends.
func (s *events) beat(ctx context.Context) {
	tick := time.NewTicker(beat)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			s.write(": waiting\n\n")
		case <-ctx.Done():
			return
		}
	}
}

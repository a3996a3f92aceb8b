package rest

import (
	"context"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/catalog"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/wake"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool/job"
)

// wantsStream reports whether a call is answered with Server-Sent Events. A program that accepts
// them as well as JSON gets them from a tool that streams.
func (h *handler) wantsStream(r *http.Request, p auth.Principal, tool string) bool {
	accept := strings.Join(r.Header.Values("Accept"), ",")
	events, result := quality(accept, "text/event-stream"), quality(accept, "application/json", "application/*", "*/*")
	if events == 0 || events != result {
		return events > result
	}
	return slices.ContainsFunc(h.Tools.Tools(p), func(t catalog.Tool) bool { return t.Name == tool && t.Mode == catalog.ServerStream })
}

// quality returns the weight of the first of the media types that an Accept header names, from 0 to
// 1 (RFC 9110, section 12.5.1).
func quality(accept string, types ...string) float64 {
	for _, want := range types {
		for part := range strings.SplitSeq(accept, ",") {
			kind, params, err := mime.ParseMediaType(part)
			if err != nil || kind != want {
				continue
			}
			if q, err := strconv.ParseFloat(params["q"], 64); err == nil {
				return q
			}
			return 1
		}
	}
	return 0
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
	var beats crash.Group
	beats.Go(func() { s.beat(ctx) })
	in.Emit = func(_ context.Context, part job.Part) error {
		kind := part.Kind
		if kind == job.PartWaiting {
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
		s.send("error", protocol.Encode(map[string]*protocol.Fault{"error": protocol.AsFault(err)}))
		return
	}
	s.send("done", protocol.Encode(success{out.Data, out.Message}))
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
	wake.Every(ctx, beat, func() { s.write(": waiting\n\n") })
}

package openai

import (
	"errors"
	"io"
	"mime"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/ask"
	"fairlead/gateway/llm/sse"
	"fairlead/gateway/protocol"
)

// stream emits events and records what was shown.
type stream struct {
	*ask.Out
	bytes int // of output, for an estimate if the server does not count
	sent  int // of the request
	limit int // of the answer in tokens, as requested; 0 means none

	body        io.Reader
	contentType string
}

// emit emits ev, and counts.
func (s *stream) emit(ev llm.Event) {
	if s.Emit(ev) {
		s.bytes += len(ev.Text)
	}
}

// errStopped ends reading when the receiver has stopped.
var errStopped = errors.New("the receiver has stopped")

// each calls fn with the data of every event, or once with the whole body of a server that did not
// stream. It returns nil at [DONE] or at the end of the body; fn returns io.EOF to stop.
func (s *stream) each(fn func(name string, data []byte) error) error {
	kind, _, err := mime.ParseMediaType(s.contentType)
	if err == nil && kind == "application/json" {
		data, err := io.ReadAll(io.LimitReader(s.body, sse.MaxLine))
		if err != nil {
			return err
		}
		return done(fn("", data))
	}
	for events := sse.NewEvents(s.body); ; {
		ev, err := events.Next()
		if err != nil {
			return done(err)
		}
		if string(ev.Data) == "[DONE]" {
			return done(fn("done", nil))
		}
		if err := fn(ev.Name, ev.Data); err != nil {
			return done(err)
		}
		if s.Stopped() {
			return errStopped
		}
	}
}

func done(err error) error {
	if errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// estimate assumes four bytes per token, for servers that do not count.
func (s *stream) estimate() protocol.Usage {
	u := protocol.Usage{Input: int64(s.sent+3) / 4, Output: int64(s.bytes+3) / 4, Estimated: true}
	u.Total = u.Input + u.Output
	return u
}

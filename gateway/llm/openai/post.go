package openai

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"fairlead/gateway/llm"
	"fairlead/gateway/protocol"
)

// answer asks until an answer begins, and reads it. Nothing is asked again once a part of an answer has been shown.
func (m *model) answer(ctx context.Context, req llm.Request, s *stream) error {
	const tries = 3
	s.limit = req.MaxTokens
	for attempt := 1; ; {
		data, err := protocol.Marshal(m.wire.body(m, req))
		if err != nil {
			return fmt.Errorf("build request: %w", err)
		}
		s.sent = len(data)
		err = m.try(ctx, data, s)
		var f *failure
		switch {
		case err == nil || s.stopped:
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case s.shown || !errors.As(err, &f):
			return err
		case m.refused.learn(f.status, f.reason, data):
			continue
		case !f.again || attempt > tries:
			return err
		}
		wait := f.after
		if wait == 0 {
			wait = time.Second << (attempt - 1)
		}
		s.emit(llm.Event{Type: llm.EventRetry, Retry: llm.Retry{Attempt: attempt, Of: tries, After: wait, Reason: f.phrase()}})
		if s.stopped {
			return nil
		}
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		case <-timer.C:
		}
		attempt++
	}
}

// try sends one request and reads its answer.
func (m *model) try(ctx context.Context, data []byte, s *stream) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.BaseURL+m.wire.path(), bytes.NewReader(data))
	if err != nil {
		return protocol.ErrModel.With("the address of the model server is wrong: " + err.Error())
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream, application/json")
	for k, v := range m.headers() {
		req.Header.Set(k, v)
	}
	resp, err := client(m.HTTP).Do(req)
	if err != nil {
		return &failure{reason: err.Error(), again: true, err: err}
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return httpFailure(resp)
	}
	s.body, s.contentType = resp.Body, resp.Header.Get("Content-Type")
	return m.wire.read(m, s)
}

func client(c *http.Client) *http.Client {
	if c == nil {
		return http.DefaultClient
	}
	return c
}

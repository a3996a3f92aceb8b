package openai

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"

	"fairlead/gateway/llm"
	"fairlead/gateway/llm/ask"
	"fairlead/gateway/llm/sse"
	"fairlead/gateway/protocol"
)

// answer asks until an answer begins, and reads it. Nothing is asked again once a part of an answer has been shown.
func (m *model) answer(ctx context.Context, req llm.Request, s *stream) error {
	s.limit = req.MaxTokens
	return ask.Retry(ctx, s.tell, func() error {
		for {
			data, err := protocol.Marshal(m.wire.body(m, req))
			if err != nil {
				return fmt.Errorf("build request: %w", err)
			}
			s.sent = len(data)
			err = m.try(ctx, data, s)
			var f *ask.Failure
			switch {
			case err == nil || s.stopped:
				return nil
			case s.shown && errors.As(err, &f):
				f.Again = false
				return f
			case f == nil && !errors.As(err, &f):
				return err
			case m.refused.learn(f, data):
				continue
			}
			return f
		}
	})
}

// try sends one request and reads its answer.
func (m *model) try(ctx context.Context, data []byte, s *stream) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.BaseURL+m.wire.path(), bytes.NewReader(data))
	if err != nil {
		return protocol.ErrModel.With("The address of the model server is wrong: " + err.Error())
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream, application/json")
	resp, err := m.do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	s.body, s.contentType = resp.Body, resp.Header.Get("Content-Type")
	err = m.wire.read(m, s)
	var known *protocol.Error
	if err == nil || s.stopped || errors.As(err, &known) {
		return err
	}
	return ask.Unreachable(ctx, err)
}

// do sends req with our headers. The answer is a 200, and its body is for the caller to close.
func (m *model) do(req *http.Request) (*http.Response, error) {
	if m.Key != "" {
		req.Header.Set("Authorization", "Bearer "+m.Key)
	}
	if m.host == hostOpenRouter { // who asks, for its statistics
		req.Header.Set("HTTP-Referer", "http://localhost")
		req.Header.Set("X-Title", "Fairlead")
	}
	for k, v := range m.Headers {
		req.Header.Set(k, v)
	}
	resp, err := m.Client().Do(req)
	if err != nil {
		return nil, ask.Unreachable(req.Context(), err)
	}
	if resp.StatusCode != http.StatusOK {
		defer resp.Body.Close()
		return nil, ask.Refused(resp)
	}
	return resp, nil
}

// get returns the body of an answer to GET.
func (m *model) get(ctx context.Context, address string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, protocol.ErrModel.With("The address of the model server is wrong: " + err.Error())
	}
	resp, err := m.do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, sse.MaxLine))
	if err != nil {
		return nil, ask.Unreachable(ctx, err)
	}
	return data, nil
}

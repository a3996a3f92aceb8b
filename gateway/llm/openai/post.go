package openai

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"

	"fairlead/gateway/llm/ask"
	"fairlead/gateway/llm/sse"
	"fairlead/gateway/protocol"
)

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
	if err == nil || s.Stopped() || errors.As(err, &known) {
		return err
	}
	return ask.Unreachable(ctx, err)
}

// do sends req with our headers. The response has status 200, and the caller closes its body.
func (m *model) do(req *http.Request) (*http.Response, error) {
	if m.Key != "" {
		req.Header.Set("Authorization", "Bearer "+m.Key)
	}
	if m.host == hostOpenRouter { // identifies the program in OpenRouter's statistics
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
	return ask.CheckStatus(resp, nil)
}

// get returns the body of the response to a GET.
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

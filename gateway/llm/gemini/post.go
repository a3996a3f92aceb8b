package gemini

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"

	"fairlead/gateway/llm/ask"
	"fairlead/gateway/llm/sse"
	"fairlead/gateway/protocol"
)

const (
	pathPrefix = "/v1beta/"
	keyHeader  = "X-Goog-Api-Key"
)

// post requests a streamed answer. The caller closes its body.
func (m *model) post(ctx context.Context, body []byte) (*http.Response, error) {
	name := m.Model
	if !strings.HasPrefix(name, "tunedModels/") {
		name = "models/" + name
	}
	path := (&url.URL{Path: pathPrefix + name + ":streamGenerateContent"}).EscapedPath()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, m.BaseURL+path+"?alt=sse", bytes.NewReader(body))
	if err != nil {
		return nil, wrongAddress(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "text/event-stream")
	return m.do(req)
}

// get returns the body of the response to a GET of path, which begins with the API's version.
func (m *model) get(ctx context.Context, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, m.BaseURL+path, nil)
	if err != nil {
		return nil, wrongAddress(err)
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

func wrongAddress(err error) error {
	return protocol.ErrModel.With("The address of the model server is wrong: " + err.Error())
}

// do sends req with the key. Only a key that the person set is used, never one from the
// environment.
func (m *model) do(req *http.Request) (*http.Response, error) {
	switch {
	case m.Key != "":
		req.Header.Set(keyHeader, m.Key)
	case m.BaseURL == DefaultBaseURL: // a server of one's own may not need a key
		return nil, protocol.ErrModelAuth.With("Google Gemini needs a key. Paste one in Settings.")
	}
	for k, v := range m.Headers {
		req.Header.Set(k, v)
	}
	resp, err := m.Client().Do(req)
	if err != nil {
		return nil, ask.Unreachable(req.Context(), err)
	}
	return ask.CheckStatus(resp, refine)
}

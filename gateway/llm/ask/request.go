package ask

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"

	"fairlead/gateway/llm"
	"fairlead/gateway/protocol"
)

// maxRedirects is the number of redirects that are followed.
const maxRedirects = 5

// BaseURL completes an address as people write it: without a scheme, with a trailing slash, or with
// one of the endpoints, in the order in which they are removed. Without an address it is standard.
func BaseURL(address, standard string, endpoints ...string) string {
	if address == "" {
		return standard
	}
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	for _, path := range append([]string{""}, endpoints...) {
		address = strings.TrimRight(strings.TrimSuffix(address, path), "/")
	}
	return address
}

// Request is a request to a model server.
type Request struct {
	URL    string
	Body   any // sent as JSON with POST; nil means GET
	Header map[string]string
	// Refine corrects a failure with details that are specific to the provider; it may be nil.
	Refine func(f *Failure, body []byte)
}

// Send sends a request. The response has a status of success, and the caller closes its body.
func Send(ctx context.Context, o llm.Options, r Request) (*http.Response, error) {
	method, body := http.MethodGet, io.Reader(nil)
	if r.Body != nil {
		data, err := protocol.Marshal(r.Body)
		if err != nil {
			return nil, fmt.Errorf("build request: %w", err)
		}
		method, body = http.MethodPost, bytes.NewReader(data)
	}
	req, err := http.NewRequestWithContext(ctx, method, r.URL, body)
	if err != nil {
		return nil, protocol.ErrModel.With("The address of the model server is wrong: " + err.Error())
	}
	if r.Body != nil {
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "text/event-stream, application/json, application/x-ndjson")
	}
	for k, v := range r.Header {
		req.Header.Set(k, v)
	}
	resp, err := o.Client().Do(req)
	if err != nil {
		return nil, Unreachable(ctx, req.URL.Host, err)
	}
	return CheckStatus(resp, r.Refine)
}

// Read sends a request and returns the whole body of its response.
func Read(ctx context.Context, o llm.Options, r Request) ([]byte, error) {
	resp, err := Send(ctx, o, r)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	return readAll(ctx, resp)
}

func readAll(ctx context.Context, resp *http.Response) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(resp.Body, MaxLine))
	if err != nil {
		return nil, Unreachable(ctx, host(resp), err)
	}
	return data, nil
}

func host(resp *http.Response) string {
	if resp.Request == nil {
		return "the model server"
	}
	return resp.Request.URL.Host
}

// SameServer is the CheckRedirect function for model servers: it follows redirects only within the
// server that the person configured, and only unchanged requests. Otherwise another server would
// get the chat, and also the key, because net/http removes only the Authorization header.
func SameServer(req *http.Request, via []*http.Request) error {
	first := via[0]
	if len(via) <= maxRedirects && req.Method == first.Method && req.URL.Scheme == first.URL.Scheme && req.URL.Host == first.URL.Host {
		return nil
	}
	return http.ErrUseLastResponse
}

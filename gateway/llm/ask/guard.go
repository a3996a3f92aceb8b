package ask

import (
	"errors"
	"io"
	"net/http"

	"fairlead/gateway/llm"
)

// Guard is the transport of a provider's library. It records the real cause of a failure that the
// library would lose: the status, the requested wait, the server's message, the error that cut off
// a body. It serves one request at a time.
type Guard struct {
	base    http.RoundTripper
	headers map[string]string
	err     error
}

// NewGuard returns an HTTP client like o's, and its Guard. A status other than 2xx becomes an error,
// so that the library does not retry; a body that breaks off ends like a complete one, and the Guard
// has the error.
func NewGuard(o llm.Options) (*http.Client, *Guard) {
	c := *o.Client()
	g := &Guard{base: c.Transport, headers: o.Headers}
	if g.base == nil {
		g.base = http.DefaultTransport
	}
	c.Transport = g
	return &c, g
}

// Err returns the failure of the last request: a *Failure or the context's error, nil if there was
// none.
func (g *Guard) Err() error { return g.err }

// RoundTrip implements [http.RoundTripper].
func (g *Guard) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	for k, v := range g.headers {
		req.Header.Set(k, v)
	}
	resp, err := g.base.RoundTrip(req)
	if err != nil {
		g.err = Unreachable(req.Context(), req.URL.Host, err)
		return nil, g.err
	}
	if resp, g.err = CheckStatus(resp, nil); g.err == nil {
		resp.Body = &watchedBody{resp.Body, req, g}
	}
	return resp, g.err
}

type watchedBody struct {
	io.ReadCloser
	req *http.Request
	g   *Guard
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		b.g.err = Unreachable(b.req.Context(), b.req.URL.Host, err)
		err = io.EOF
	}
	return n, err
}

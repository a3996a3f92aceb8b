package ask

import (
	"context"
	"errors"
	"io"
	"net/http"
)

// Watch records the real cause of a failed request of one context that a provider's library would
// lose: the status, the requested wait, the server's message, the error that cut off a body.
type Watch struct {
	err error
}

type watchKey struct{}

// WithWatch returns a context whose requests through [Guard] report to the Watch. It serves one
// request at a time.
func WithWatch(ctx context.Context) (context.Context, *Watch) {
	w := new(Watch)
	return context.WithValue(ctx, watchKey{}, w), w
}

// Err returns the failure of the last request: a *Failure or the context's error, nil if there was
// none.
func (w *Watch) Err() error { return w.err }

// Guard returns an HTTP client like o's for use by a library. A status other than 2xx becomes an
// error, so that the library does not retry; a body that breaks off ends like a complete one, and
// the Watch has the error.
func Guard(o Options) *http.Client {
	c := *o.Client()
	base := c.Transport
	if base == nil {
		base = http.DefaultTransport
	}
	c.Transport = &guard{base: base, headers: o.Headers}
	return &c
}

type guard struct {
	base    http.RoundTripper
	headers map[string]string
}

func (g *guard) RoundTrip(req *http.Request) (*http.Response, error) {
	w, _ := req.Context().Value(watchKey{}).(*Watch)
	if w == nil {
		w = new(Watch)
	}
	w.err = nil
	if len(g.headers) > 0 {
		req = req.Clone(req.Context())
		for k, v := range g.headers {
			req.Header.Set(k, v)
		}
	}
	resp, err := g.base.RoundTrip(req)
	if err != nil {
		w.err = unreachable(req.Context(), req.URL.Host, err)
		return nil, w.err
	}
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		defer resp.Body.Close()
		w.err = refusal(resp, nil)
		return nil, w.err
	}
	if f := webPageFailure(resp); f != nil {
		resp.Body.Close()
		w.err = f
		return nil, f
	}
	resp.Body = &watchedBody{resp.Body, req, w}
	return resp, nil
}

type watchedBody struct {
	io.ReadCloser
	req *http.Request
	w   *Watch
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		b.w.err = unreachable(b.req.Context(), b.req.URL.Host, err)
		err = io.EOF
	}
	return n, err
}

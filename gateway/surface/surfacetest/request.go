// Package surfacetest makes HTTP requests in the tests of surfaces.
package surfacetest

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"
)

// Request makes a request, which ends with ctx. Headers are pairs; a later one replaces an earlier
// one. The body of the response is closed at the end of the test.
func Request(ctx context.Context, t testing.TB, method, url, body string, headers ...string) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

// Answer makes a request, and reads the whole response.
func Answer(t testing.TB, method, url, body string, headers ...string) (*http.Response, string) {
	t.Helper()
	resp := Request(t.Context(), t, method, url, body, headers...)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(raw)
}

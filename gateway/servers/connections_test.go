package servers

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"

	"fairlead/gateway/peer/publicnet"
)

// A server on the Internet names the addresses of its sign-in, which could be those of a router.
func TestAServerOnTheInternetSendsNoSignInInside(t *testing.T) {
	visits := 0
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { visits++ }))
	defer inside.Close()
	c := newConnections()
	get := func() error {
		resp, err := c.signIn().Get(inside.URL)
		if err == nil {
			resp.Body.Close()
		}
		return err
	}
	if err := get(); err != nil {
		t.Errorf("a server inside: %v", err)
	}
	c.isOnInternet.Store(true)
	if err := get(); !errors.Is(err, publicnet.ErrNotPublic) || visits != 1 {
		t.Errorf("a server on the Internet: got error %v, %d visits, want %v, 1", err, visits, publicnet.ErrNotPublic)
	}
}

func TestRedirectsStayWithTheServer(t *testing.T) {
	for to, ok := range map[string]bool{
		"https://mcp.example/v2": true, "https://mcp.example:8443/": true, "http://mcp.example/": false, "https://thief.example/": false, "http://127.0.0.1/": false, "https://mcp.example.thief.example/": false,
	} {
		first, next := parse(t, "https://mcp.example/mcp"), parse(t, to)
		err := checkRedirect(&http.Request{URL: next}, []*http.Request{{URL: first}})
		if (err == nil) != ok || err != nil && !strings.Contains(err.Error(), to) {
			t.Errorf("%s: got %v; want success %v and either no error or an error with %v", to, err, ok, to)
		}
	}
	u := parse(t, "https://mcp.example/")
	if checkRedirect(&http.Request{URL: u}, slices.Repeat([]*http.Request{{URL: u}}, maxRedirects+1)) == nil {
		t.Error("it redirects without end")
	}
}

func parse(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

package service

import (
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// TestAPageOfAnotherAppUsesNoSignIn sends what a browser sends for a page of another app, at
// another port of the same host or another name below the same domain, together with the visitor's
// cookie.
func TestAPageOfAnotherAppUsesNoSignIn(t *testing.T) {
	s := newSite(t)
	v := s.publish(t, app(t, hello).URL, nil)
	b := s.enter(t, v, "")
	for _, c := range []struct {
		method  string
		headers []string // names and values
		want    int
	}{
		{"GET", []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "navigate"}, 200}, // a link
		{"GET", []string{"Sec-Fetch-Site", "same-origin", "Sec-Fetch-Mode", "cors"}, 200},
		{"POST", []string{"Sec-Fetch-Site", "same-origin", "Origin", v.URL}, 200},
		{"POST", nil, 200}, // a program
		{"GET", []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "no-cors"}, 403},
		{"GET", []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "websocket", "Origin", "http://evil.localhost:8787"}, 403},
		{"POST", []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "navigate"}, 403},
		{"DELETE", []string{"Sec-Fetch-Site", "same-site", "Sec-Fetch-Mode", "cors"}, 403},
		{"POST", []string{"Origin", "http://" + v.Name + ".localhost:1"}, 403},
		{"GET", []string{"Origin", "http://evil.localhost:8787"}, 403},
	} {
		r, err := http.NewRequest(c.method, v.URL+"/x", nil)
		if err != nil {
			t.Fatal(err)
		}
		for pair := range slices.Chunk(c.headers, 2) {
			r.Header.Set(pair[0], pair[1])
		}
		if status, text := read(t)(b.Do(r)); status != c.want {
			t.Errorf("%s with %v: got %d %s, want %d", c.method, c.headers, status, text, c.want)
		}
	}
}

// TestAnAppAtAPortGetsNoCookiesOfAnother keeps what a browser sends to every port of a host.
func TestAnAppAtAPortGetsNoCookiesOfAnother(t *testing.T) {
	s := newSite(t)
	var got string
	srv := app(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Get("Cookie")
		switch r.URL.Path {
		case "/login":
			w.Header().Add("Set-Cookie", "session=secret; HttpOnly; Path=/")
			w.Header().Add("Set-Cookie", "csrf=token; Path=/")
		case "/logout":
			w.Header().Add("Set-Cookie", "session=; Max-Age=0; Path=/")
		case "/attack":
			w.Header().Add("Set-Cookie", appCookie+"svc_one-session=mine; Path=/")
			w.Header().Add("Set-Cookie", plainCookie+"svc_one=mine; Path=/")
		}
		io.WriteString(w, "hello")
	})
	one := s.publish(t, srv.URL, func(d *Definition) { d.SignIn = false })
	two := s.publish(t, srv.URL, func(d *Definition) { d.SignIn = false })
	// visit uses a port, at which the host does not begin with the name of the service.
	visit := func(name, path, cookies string) []string {
		t.Helper()
		r := newRequest(t, "http://127.0.0.1:8800"+path)
		r.Header.Set("Cookie", cookies)
		return s.serve(name, r).Header.Values("Set-Cookie")
	}
	prefix := appCookie + string(one.ID) + "-"
	if set := visit(one.Name, "/login", ""); !slices.Equal(set, []string{prefix + "session=secret; HttpOnly; Path=/", "csrf=token; Path=/"}) {
		t.Errorf("sets %q, want a name of its own for the cookie that only servers read", set)
	}
	if set := visit(one.Name, "/logout", ""); len(set) != 2 || !strings.HasPrefix(set[1], prefix+"session=;") {
		t.Errorf("the end of a session sets %q, want the end of both names", set)
	}
	jar := prefix + "session=secret; csrf=token; " + plainCookie + string(one.ID) + "=ours; " + safeCookie + string(two.ID) + "=ours"
	if visit(one.Name, "/", jar); got != "session=secret; csrf=token" {
		t.Errorf("its app gets %q, want its own cookies under their names", got)
	}
	if visit(two.Name, "/", jar); got != "csrf=token" {
		t.Errorf("another app gets %q, want only the cookie that scripts read", got)
	}
	if set := visit(two.Name, "/attack", ""); len(set) > 0 {
		t.Errorf("an app sets %q, want no cookie of another", set)
	}
}

package service

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"fairlead/gateway/config"
	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
	"fairlead/gateway/signin"
	"fairlead/gateway/store"
)

// site is a site with a real store, whose services lead to a server of the test.
type site struct {
	*Services
	visits *Visits
	site   *Site
	server *httptest.Server // of the site
	port   int
	db     *store.DB
	bus    event.Bus

	settings config.Services

	mu     sync.Mutex // guards the fields below
	dialed []string   // node and address of each connection
	fail   error      // of the next connections
}

func newSite(t *testing.T) *site {
	t.Helper()
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "gateway.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	s := &site{db: db}
	s.visits = NewVisits(db.Services, signin.New(signin.Options{Config: func() config.Services { return s.settings }, Secret: s.secret, Base: func(*http.Request) string { return s.server.URL }, Passkeys: db.Services}))
	s.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, ok := NameIn(r.Host)
		if !ok {
			s.site.ServeCallback(w, r)
			return
		}
		s.site.ServeName(name, w, r)
	}))
	t.Cleanup(s.server.Close)
	s.port = s.server.Listener.Addr().(*net.TCPAddr).Port
	s.reload(t)
	s.site = NewSite(s.Services, s.visits, func(ctx context.Context, node protocol.NodeID, _ protocol.ServiceID, to Target) (net.Conn, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.dialed = append(s.dialed, string(node)+" "+to.Address())
		if s.fail != nil {
			return nil, s.fail
		}
		var d net.Dialer
		return d.DialContext(ctx, "tcp", to.Address())
	})
	t.Cleanup(s.site.Close)
	return s
}

// secret returns the client secret of each provider.
func (s *site) secret(string) (string, bool) { return "the secret", true }

// reload opens the services as a new start does.
func (s *site) reload(t *testing.T) {
	t.Helper()
	var err error
	if s.Services, err = Open(t.Context(), s.db.Services, &s.bus, func(v protocol.Service) []protocol.ServiceAddress {
		return []protocol.ServiceAddress{{URL: LocalURL(v.Name, s.port)}}
	}); err != nil {
		t.Fatal(err)
	}
}

// publish publishes an app at an address.
func (s *site) publish(t *testing.T, target string, change func(*Definition)) protocol.Service {
	t.Helper()
	to, err := ParseTarget(target, "")
	if err != nil {
		t.Fatal(err)
	}
	d := Definition{NodeID: "nas", Title: "The app", Target: to, Enabled: true, SignIn: true}
	if change != nil {
		change(&d)
	}
	v, err := s.Publish(t.Context(), d, "owner")
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// browser returns a client that keeps cookies and finds the names of the services.
func (s *site) browser(t *testing.T) *http.Client {
	t.Helper()
	jar, _ := cookiejar.New(nil) // never fails
	return &http.Client{Jar: jar, Transport: &http.Transport{
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			if strings.Contains(address, localSuffix+":") {
				address = s.server.Listener.Addr().String()
			}
			var d net.Dialer
			return d.DialContext(ctx, network, address)
		},
	}}
}

// enter lets a visitor in by a link, the owner without an email, and returns the browser.
func (s *site) enter(t *testing.T, v protocol.Service, email string) *http.Client {
	t.Helper()
	link, err := s.visits.Link(t.Context(), v, email)
	if err != nil {
		t.Fatal(err)
	}
	b := s.browser(t)
	b.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if status, text := use(t, b, link); status != http.StatusSeeOther {
		t.Fatalf("the link answers %d %s, want the way to the app", status, text)
	}
	b.CheckRedirect = nil
	return b
}

// use presses the button on the page of a link, and returns what the visitor sees then.
func use(t *testing.T, b *http.Client, link string) (int, string) {
	t.Helper()
	u, err := url.Parse(link)
	if err != nil {
		t.Fatal(err)
	}
	return read(t)(b.PostForm(link, url.Values{"link": {u.Query().Get("link")}}))
}

// read returns a function that reads an answer.
func read(t *testing.T) func(*http.Response, error) (int, string) {
	return func(r *http.Response, err error) (int, string) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		data, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return r.StatusCode, strings.TrimSpace(string(data))
	}
}

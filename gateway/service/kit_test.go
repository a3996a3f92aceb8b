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
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
	"fairlead/gateway/question"
	"fairlead/gateway/signin"
	"fairlead/gateway/store"
)

// site is a site with a real store, whose services lead to a server of the test.
type site struct {
	*Services
	visits    *Visits
	site      *Site
	questions *question.Queue
	port      int
	db        *store.DB
	bus       event.Bus
	connect   func(context.Context) (net.Conn, error)                // to the site
	dial      func(ctx context.Context, to Target) (net.Conn, error) // to an app
	stop      func()                                                 // stops the site and the queue of questions
	base      string                                                 // address of the gateway

	settings  config.Services
	unknown   chan *UnknownCertificate // about which the owner was asked, who denies them
	terminals terminals

	mu     sync.Mutex // guards the fields below
	dialed []string   // node and address of each connection
	fail   error      // of the next connections
}

func newSite(t *testing.T) *site {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var d net.Dialer
	return newSiteAt(t, l, func(ctx context.Context) (net.Conn, error) { return d.DialContext(ctx, "tcp", l.Addr().String()) },
		func(ctx context.Context, to Target) (net.Conn, error) { return d.DialContext(ctx, "tcp", to.Address()) })
}

// newSiteInMemory returns a site for a bubble of package testing/synctest, whose services lead to a
// handler.
func newSiteInMemory(t *testing.T, app http.HandlerFunc) *site {
	t.Helper()
	public, private := newMemory(), newMemory()
	srv := &http.Server{Handler: app}
	go srv.Serve(private)
	t.Cleanup(func() { srv.Close() })
	return newSiteAt(t, public, public.dial, func(ctx context.Context, _ Target) (net.Conn, error) { return private.dial(ctx) })
}

func newSiteAt(t *testing.T, l net.Listener, connect func(context.Context) (net.Conn, error), dial func(context.Context, Target) (net.Conn, error)) *site {
	t.Helper()
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "gateway.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	s := &site{db: db, unknown: make(chan *UnknownCertificate, 100), connect: connect, dial: dial, stop: func() {}, base: "http://" + l.Addr().String()}
	in := signin.New(signin.Options{
		Config: func() config.Services { return s.settings }, Secret: s.secret, Base: func(*http.Request) string { return s.base }, Passkeys: db.Services,
		Link: func(ctx context.Context, v protocol.Service, email string) (string, error) {
			return s.visits.Link(ctx, v, email)
		},
	})
	t.Cleanup(in.Close)
	s.visits = NewVisits(db.Services, in)
	if at, ok := l.Addr().(*net.TCPAddr); ok {
		s.port = at.Port
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		now := s.site
		s.mu.Unlock()
		name, ok := NameIn(r.Host)
		if !ok {
			now.ServeCallback(w, r)
			return
		}
		now.ServeName(name, w, r)
	})}
	s.reload(t)
	go srv.Serve(l)
	t.Cleanup(func() {
		srv.Close()
		s.stop()
	})
	return s
}

// secret returns the client secret of each provider.
func (s *site) secret(string) (string, bool) { return "the secret", true }

// reload stops the site and opens it again, as a new start does.
func (s *site) reload(t *testing.T) {
	t.Helper()
	s.stop()
	var err error
	if s.Services, err = Open(t.Context(), s.db.Services, &s.bus, func(v protocol.Service) []protocol.ServiceAddress {
		return []protocol.ServiceAddress{{URL: LocalURL(v.Name, s.port)}}
	}); err != nil {
		t.Fatal(err)
	}
	s.questions = question.New(s.db.Questions, nil, &s.bus)
	now, err := NewSite(t.Context(), Options{
		Services: s.Services, Visits: s.visits, Requests: s.db.Services, Passkeys: s.db.Services, Uses: s.db.Services, Questions: s.questions, Bus: &s.bus,
		Zone: func() *time.Location { return time.UTC }, Dial: s.dialApp,
		AskCertificate: func(_ protocol.Service, e *UnknownCertificate) bool { s.unknown <- e; return true }, Terminals: &s.terminals, MachineName: func(protocol.NodeID) string { return "" },
	})
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	s.site = now
	s.mu.Unlock()
	ctx, end := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { now.Run(ctx) })
	s.stop = func() {
		end()
		running.Wait()
		now.Close(context.Background())
		s.questions.Close()
	}
}

func (s *site) dialApp(ctx context.Context, node protocol.NodeID, _ protocol.ServiceID, to Target) (net.Conn, error) {
	s.mu.Lock()
	s.dialed = append(s.dialed, string(node)+" "+to.Address())
	fail := s.fail
	s.mu.Unlock()
	if fail != nil {
		return nil, fail
	}
	return s.dial(ctx, to)
}

// memory is a listener whose connections are in memory.
type memory struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newMemory() *memory { return &memory{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (m *memory) Addr() net.Addr { return &net.UnixAddr{Name: "memory"} }

func (m *memory) Close() error {
	m.once.Do(func() { close(m.closed) })
	return nil
}

func (m *memory) Accept() (net.Conn, error) {
	select {
	case c := <-m.conns:
		return c, nil
	case <-m.closed:
		return nil, net.ErrClosed
	}
}

func (m *memory) dial(context.Context) (net.Conn, error) {
	near, far := net.Pipe()
	select {
	case m.conns <- far:
		return near, nil
	case <-m.closed:
		return nil, net.ErrClosed
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
	transport := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		if strings.Contains(address, localSuffix+":") {
			return s.connect(ctx)
		}
		var d net.Dialer
		return d.DialContext(ctx, network, address)
	}}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Jar: jar, Transport: transport}
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

func newRequest(t *testing.T, address string) *http.Request {
	t.Helper()
	r, err := http.NewRequest("GET", address, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// serve serves a request to a service by its name, as a listener for it alone does.
func (s *site) serve(name string, r *http.Request) *http.Response {
	w := httptest.NewRecorder()
	s.site.ServeName(name, w, r)
	return w.Result()
}

// leadTo leads all further connections to an address.
func (s *site) leadTo(address string) {
	s.dial = func(ctx context.Context, _ Target) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", address)
	}
}

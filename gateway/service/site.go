package service

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"fairlead/gateway/event"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
	"fairlead/gateway/service/console"
	"fairlead/gateway/signin"
	"fairlead/gateway/store"
)

// Dial connects to a target of a machine. It fails with protocol.ErrUnavailable if the machine is
// offline.
type Dial func(ctx context.Context, node protocol.NodeID, service protocol.ServiceID, t Target) (net.Conn, error)

// Site serves the services under their host names: it lets visitors in and passes their requests
// on.
type Site struct {
	services     *Services
	visits       *Visits
	requests     *requests
	passkeys     PasskeyStore
	presence     *presence
	dial         Dial
	transport    *http.Transport
	certificates *certificateQuestions
	roots        *x509.CertPool // of authorities for apps; nil: the system's
	machineName  func(protocol.NodeID) string
	console      console.Console
}

// Options are what a site needs. All fields are required.
type Options struct {
	Services  *Services
	Visits    *Visits
	Requests  RequestStore
	Passkeys  PasskeyStore
	Uses      UseStore
	Questions Questions
	Bus       *event.Bus
	Zone      func() *time.Location // of the owner
	Dial      Dial
	// AskCertificate asks the owner whether to trust the certificate of an app that a visit has met,
	// and waits for the answer.
	AskCertificate func(protocol.Service, *UnknownCertificate) (isDenied bool)
	// MachineName returns the person's name of a machine; "" means that it has only its ID.
	MachineName func(protocol.NodeID) string
	Terminals   console.Terminals
}

// NewSite returns a site, and asks the questions of an earlier start again. Run and close it.
func NewSite(ctx context.Context, o Options) (*Site, error) {
	present, err := openPresence(ctx, o.Uses, o.Bus, o.Zone)
	if err != nil {
		return nil, err
	}
	p := &Site{services: o.Services, visits: o.Visits, dial: o.Dial, machineName: o.MachineName, passkeys: o.Passkeys, presence: present, console: console.Console{Terminals: o.Terminals}, certificates: newCertificateQuestions(o.AskCertificate)}
	p.requests = &requests{services: o.Services, store: o.Requests, questions: o.Questions}
	o.Visits.present, o.Services.onShare = present.signIn, present.cut
	o.Services.onStop = o.Terminals.End
	o.Services.onDelete = func(id protocol.ServiceID) {
		present.forget(id)
		p.requests.withdraw(context.Background(), id)
	}
	p.transport = &http.Transport{
		DialContext: p.dialPlain, DialTLSContext: p.dialTLS, DisableCompression: true,
		MaxIdleConnsPerHost: 16, IdleConnTimeout: 30 * time.Second, ExpectContinueTimeout: time.Second,
	}
	return p, p.requests.load(ctx)
}

// Run writes about the visits to the audit log until ctx ends.
func (p *Site) Run(ctx context.Context) { p.presence.run(ctx) }

// Close ends the visits, writes about them, and closes the unused connections. It takes the time of
// writing to the disk.
func (p *Site) Close(ctx context.Context) {
	p.services.endVisits()
	p.presence.close(ctx)
	p.transport.CloseIdleConnections()
}

// Paths below ownPath belong to the site, not to the app.
const (
	ownPath   = "/.fairlead/"
	enterPath = ownPath + "enter"
	askPath   = ownPath + "ask"
	leavePath = ownPath + "signout"

	accountPath = ownPath + "account"
)

// NameIn returns the first part of the host name under which a service is reached on this
// computer; ok is false if a request is for the gateway itself.
func NameIn(host string) (name string, ok bool) {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.CutSuffix(strings.ToLower(strings.TrimSuffix(host, ".")), localSuffix)
}

// localSuffix is the domain whose names browsers look up on the computer itself and keep apart.
const localSuffix = ".localhost"

// LocalURL returns the address of a service on this computer; port is the gateway's.
func LocalURL(name string, port int) string {
	return fmt.Sprintf("http://%s%s:%d", name, localSuffix, port)
}

// ServeName serves a request to the service whose host name begins with name. A panic ends the
// connection, so that half an answer is not taken for a whole one.
func (p *Site) ServeName(name string, w http.ResponseWriter, r *http.Request) {
	defer func() {
		if v := recover(); v != nil {
			if err, _ := v.(error); !errors.Is(err, http.ErrAbortHandler) {
				slog.Error("A visit failed", "service", name, "panic", v, "stack", string(debug.Stack()))
			}
			panic(http.ErrAbortHandler)
		}
	}()
	if name == SignInName {
		p.ServeCallback(w, r)
		return
	}
	for {
		cuts := p.presence.cutCount() // before anything that decides who may visit is read
		v, ctx, ok := p.services.Visit(name)
		switch {
		case !ok:
			answer(w, r, http.StatusNotFound, noService)
			return
		case strings.HasPrefix(r.URL.Path, ownPath) && r.URL.Path != askPath && !isTerminal(r, v):
			p.serveOwn(w, r, p.services.described(v))
			return
		}
		visit, ok := p.admit(w, r, v)
		if !ok {
			return
		}
		p.visits.signIn.EndOffer(r)
		if guest, ok := p.presence.enter(cuts, v, ctx, visit, fromOf(r)); ok {
			p.pass(w, r, v, guest)
			return
		} // else somebody was cut since the check
	}
}

// serveOwn serves the paths that belong to the site.
func (p *Site) serveOwn(w http.ResponseWriter, r *http.Request, v protocol.Service) {
	switch {
	case r.URL.Path == enterPath:
		p.visits.enter(w, r, v)
	case r.URL.Path == leavePath:
		if visit := p.visits.leave(w, r, v); visit != "" {
			p.presence.cut(v.ID, func(present store.Visit) bool { return present.Hash == visit })
		}
	case r.URL.Path == accountPath:
		p.serveAccount(w, r, v)
	case signin.Has(r.URL.Path):
		p.visits.prove(w, r, v)
	default:
		answer(w, r, http.StatusNotFound, noService)
	}
}

// admit returns the sign-in of the sender of a request, who may visit the service; it is zero where
// none is needed. Otherwise it has answered, and ok is false.
func (p *Site) admit(w http.ResponseWriter, r *http.Request, v protocol.Service) (visit store.Visit, ok bool) {
	visit, may, err := p.visits.check(r, v)
	switch {
	case err != nil:
		slog.Error("A visitor could not be checked", "service", v.ID, "err", err)
		answer(w, r, http.StatusInternalServerError, broken)
	case r.URL.Path == askPath && may != listedVisitor:
		p.requests.serve(w, r, v, visit, p.visits.signInPage(r, v))
	case r.URL.Path == askPath:
		http.Redirect(w, r, "/", http.StatusSeeOther)
	case may == unknownVisitor:
		p.requests.show(w, r, v, p.visits.signInPage(r, v), http.StatusUnauthorized)
	case may == unlistedVisitor:
		p.requests.show(w, r, v, unlisted(visit.Email, wantedPath(r)), http.StatusForbidden)
	case v.SignIn && isFromNeighbour(r):
		answer(w, r, http.StatusForbidden, neighbour)
	default:
		return visit, true
	}
	return visit, false
}

// isTerminal reports whether a request is for a part of the page of a terminal.
func isTerminal(r *http.Request, v protocol.Service) bool {
	return v.Terminal != nil && console.Has(r.URL.Path)
}

// pass passes a request on to the app, or answers it for a terminal. guest is nil if the gateway
// stops.
func (p *Site) pass(w http.ResponseWriter, r *http.Request, v protocol.Service, guest *visitor) {
	if guest == nil {
		answer(w, r, http.StatusServiceUnavailable, offline)
		return
	}
	defer p.presence.leave(guest)
	if v.Terminal != nil {
		if !p.console.Serve(guest.ctx, w, r, console.Visit{Service: v, Viewer: guest.viewer(), Sent: &guest.sent, Received: &guest.received}) {
			answer(w, r, http.StatusNotFound, noService)
		}
		return
	}
	t, err := ParseTarget(v.Target, "")
	if err != nil {
		answer(w, r, http.StatusBadGateway, broken)
		return
	}
	if r.URL.Path == "/" && t.Path != "/" && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		http.Redirect(w, r, t.Path, http.StatusFound)
		return
	}
	// The visit ends when the service changes, or with the visitor's right.
	visit, end := context.WithCancel(r.Context())
	defer end()
	defer crash.WhenDone(guest.ctx, end)()
	c := http.NewResponseController(w) // uploads and answers take as long as they take
	_ = c.SetReadDeadline(time.Time{})
	_ = c.SetWriteDeadline(time.Time{})
	out := r.WithContext(withVisit(visit, v, t))
	if r.Body != nil && r.Body != http.NoBody {
		// In the copy only: the server must recognize its own body, or it waits for an upload that the
		// app refused.
		out.Body = &counted{r.Body, &guest.received, nil}
	}
	p.forward(v, t, r.Host, guest).ServeHTTP(w, out)
}

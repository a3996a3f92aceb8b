package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"fairlead/gateway/event"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/publicnet"
	"fairlead/gateway/peer/tunnel"
	"fairlead/gateway/protocol"
	"fairlead/gateway/signin"
	"fairlead/gateway/store"
)

// Dial connects to a target of a machine. It fails with protocol.ErrUnavailable if the machine is
// offline.
type Dial func(ctx context.Context, node protocol.NodeID, service protocol.ServiceID, t Target) (net.Conn, error)

// Site serves the services under their host names: it lets visitors in and passes their requests on.
type Site struct {
	services  *Services
	visits    *Visits
	requests  *requests
	presence  *presence
	dial      Dial
	transport *http.Transport
	onUnknown func(protocol.Service, *UnknownCertificate)
}

// OnUnknown calls f when a visit fails because the certificate of the app has changed, or was never
// trusted. It must be set before the first visit; f must not block.
func (p *Site) OnUnknown(f func(protocol.Service, *UnknownCertificate)) { p.onUnknown = f }

// Options are what a site needs. All fields are required.
type Options struct {
	Services  *Services
	Visits    *Visits
	Requests  RequestStore
	Uses      UseStore
	Questions Questions
	Audit     AuditLog
	Bus       *event.Bus
	Zone      func() *time.Location // of the owner
	Dial      Dial
}

// NewSite returns a site, and asks the questions of an earlier start again. Run and close it.
func NewSite(ctx context.Context, o Options) (*Site, error) {
	present, err := openPresence(ctx, o.Uses, o.Audit, o.Bus, o.Zone)
	if err != nil {
		return nil, err
	}
	p := &Site{services: o.Services, visits: o.Visits, dial: o.Dial, presence: present, onUnknown: func(protocol.Service, *UnknownCertificate) {}}
	p.requests = &requests{services: o.Services, store: o.Requests, questions: o.Questions}
	o.Services.onShare = present.cut
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
	cuts := p.presence.cutCount() // before anything that decides who may visit is read
	v, ctx, ok := p.services.Visit(name)
	switch {
	case !ok:
		answer(w, r, http.StatusNotFound, noService)
		return
	case r.URL.Path == enterPath:
		p.visits.enter(w, r, v)
		return
	case r.URL.Path == leavePath:
		if visit := p.visits.leave(w, r, v); visit != "" {
			p.presence.cut(v.ID, func(present store.Visit) bool { return present.Hash == visit })
		}
		return
	case signin.Has(r.URL.Path):
		p.visits.prove(w, r, v)
		return
	case strings.HasPrefix(r.URL.Path, ownPath) && r.URL.Path != askPath:
		answer(w, r, http.StatusNotFound, noService)
		return
	}
	visitor, may, err := p.visits.check(r, v)
	switch {
	case err != nil:
		slog.Error("A visitor could not be checked", "service", v.ID, "err", err)
		answer(w, r, http.StatusInternalServerError, broken)
		return
	case r.URL.Path == askPath && may != listedVisitor:
		p.requests.serve(w, r, v, visitor, p.visits.signInPage(r, v))
		return
	case r.URL.Path == askPath:
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return
	case may == unknownVisitor:
		p.requests.show(w, r, v, p.visits.signInPage(r, v), http.StatusUnauthorized)
		return
	case may == unlistedVisitor:
		p.requests.show(w, r, v, unlisted(visitor.Email), http.StatusForbidden)
		return
	}
	if v.SignIn && isFromNeighbour(r) {
		answer(w, r, http.StatusForbidden, neighbour)
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
	p.visits.signIn.EndOffer(r)
	guest, ok := p.presence.enter(cuts, v, ctx, visitor, fromOf(r))
	switch {
	case !ok: // somebody was cut since the check
		p.ServeName(name, w, r)
		return
	case guest == nil:
		answer(w, r, http.StatusServiceUnavailable, offline)
		return
	}
	defer p.presence.leave(guest)
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

// forward returns the proxy for a request of a visitor to a host.
func (p *Site) forward(v protocol.Service, t Target, host string, guest *visitor) *httputil.ReverseProxy {
	cookies := appCookies{v.ID, !strings.HasPrefix(strings.ToLower(host), v.Name+".")}
	return &httputil.ReverseProxy{
		Transport: p.transport, FlushInterval: -1,
		ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug),
		Rewrite: func(r *httputil.ProxyRequest) {
			// The host is a key of the transport's pool: after a change no old connection is used again.
			r.Out.URL.Scheme, r.Out.URL.Host = "http", string(v.ID)+"."+strconv.FormatInt(v.UpdatedAt, 10)
			if t.TLS {
				r.Out.URL.Scheme = "https"
			}
			r.Out.Host = t.hostHeader()
			r.Out.Trailer = r.In.Trailer // filled when the body has been read, after the copy was made
			for name := range r.Out.Header {
				if strings.HasPrefix(name, "X-Forwarded-") || name == "X-Real-Ip" {
					r.Out.Header.Del(name)
				}
			}
			r.SetXForwarded()
			cookies.toApp(r.Out.Header)
			for _, name := range []string{"Origin", "Referer"} {
				if text := r.Out.Header.Get(name); text != "" {
					r.Out.Header.Set(name, originOf(text, r.In.Host, t))
				}
			}
			if r.Out.Header.Get("Origin") != r.In.Header.Get("Origin") {
				// Apps that trust this header compare it with the origin, and others the host.
				r.Out.Header.Del("X-Forwarded-Host")
			}
		},
		ModifyResponse: func(r *http.Response) error {
			fixLocation(r.Header, t)
			cookies.toBrowser(r.Header)
			r.Body = guest.countBody(r.Body)
			return nil
		},
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			unknown, isUnknown := errors.AsType[*UnknownCertificate](err)
			switch {
			case isUnknown:
				p.onUnknown(v, unknown)
				answer(w, r, http.StatusBadGateway, untrusted)
			case errors.Is(err, context.Canceled):
				answer(w, r, http.StatusNotFound, noService)
			case errors.Is(err, protocol.ErrUnavailable), errors.Is(err, protocol.ErrNotConnected):
				answer(w, r, http.StatusServiceUnavailable, offline)
			case errors.Is(err, tunnel.ErrDenied):
				answer(w, r, http.StatusBadGateway, denied)
			default:
				slog.Info("An app does not answer", "service", v.ID, "err", err)
				answer(w, r, http.StatusBadGateway, silent)
			}
		},
	}
}

// isFromNeighbour reports whether a page of another app, at a port of the same host or at another name
// below the same domain, makes a request in the background. Browsers send cookies along with it. Links
// between apps work.
func isFromNeighbour(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "same-site":
		return r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Method != http.MethodGet && r.Method != http.MethodHead
	case "": // an old browser, or a program
		u, err := url.Parse(r.Header.Get("Origin"))
		if err != nil || u.Host == "" || strings.EqualFold(u.Host, r.Host) {
			return false
		}
		own := (&url.URL{Host: r.Host}).Hostname()
		_, domain, _ := strings.Cut(own, ".")
		_, other, _ := strings.Cut(u.Hostname(), ".")
		return strings.EqualFold(u.Hostname(), own) || strings.EqualFold(other, domain)
	}
	return false
}

type visitKey struct{}

type visiting struct {
	service protocol.Service
	target  Target
}

func withVisit(ctx context.Context, v protocol.Service, t Target) context.Context {
	return context.WithValue(ctx, visitKey{}, visiting{v, t})
}

// dialPlain connects to the target of the visit.
func (p *Site) dialPlain(ctx context.Context, _, _ string) (net.Conn, error) {
	x, ok := ctx.Value(visitKey{}).(visiting)
	if !ok {
		return nil, errors.New("no visit")
	}
	return p.dial(ctx, x.service.NodeID, x.service.ID, x.target)
}

// dialTLS does the same for a target that speaks TLS.
func (p *Site) dialTLS(ctx context.Context, network, address string) (net.Conn, error) {
	plain, err := p.dialPlain(ctx, network, address)
	if err != nil {
		return nil, err
	}
	x := ctx.Value(visitKey{}).(visiting)
	return handshake(ctx, plain, x.target, x.service.Certificate)
}

// hostHeader returns the host as the target expects to be called.
func (t Target) hostHeader() string {
	return strings.TrimSuffix(strings.SplitN(t.String(), "://", 2)[1], t.Path)
}

// originOf replaces the service's own origin by that of its target, because apps compare it with the
// host that they are called by. Other origins stay.
func originOf(text, host string, t Target) string {
	u, err := url.Parse(text)
	if err != nil || !strings.EqualFold(u.Host, host) {
		return text
	}
	u.Scheme, u.Host = "http", t.hostHeader()
	if t.TLS {
		u.Scheme = "https"
	}
	return u.String()
}

// fixLocation makes addresses of the target relative: a visitor cannot reach it.
func fixLocation(h http.Header, t Target) {
	for _, name := range []string{"Location", "Content-Location"} {
		u, err := url.Parse(h.Get(name))
		if err != nil || u.Host == "" {
			continue
		}
		if own, err := ParseTarget(u.Scheme+"://"+u.Host, ""); err == nil && own.Port == t.Port && (own.Host == t.Host || publicnet.IsLoopback(own.Host) && publicnet.IsLoopback(t.Host)) {
			u.Scheme, u.Host, u.User = "", "", nil
			if u.Path == "" {
				u.Path = "/"
			}
			h.Set(name, u.String())
		}
	}
}

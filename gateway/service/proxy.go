package service

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/peer/publicnet"
	"fairlead/gateway/peer/tunnel"
	"fairlead/gateway/protocol"
)

// flushInterval is the time after which a part of an answer goes to the visitor. Answers of unknown
// length, such as server-sent events, go at once. Others would take a system call for each part.
const flushInterval = 10 * time.Millisecond

var noLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)

// bufferPool has the buffers with which answers are copied.
type bufferPool struct{ sync.Pool }

func (p *bufferPool) Get() []byte  { return p.Pool.Get().(*[32 << 10]byte)[:] }
func (p *bufferPool) Put(b []byte) { p.Pool.Put((*[32 << 10]byte)(b)) }

var buffers = &bufferPool{sync.Pool{New: func() any { return new([32 << 10]byte) }}}

// forward returns the proxy for a request of a visitor to a host.
func (p *Site) forward(v protocol.Service, t Target, host string, guest *visitor) *httputil.ReverseProxy {
	cookies := appCookies{v.ID, !strings.HasPrefix(strings.ToLower(host), v.Name+".")}
	return &httputil.ReverseProxy{
		Transport: p.transport, FlushInterval: flushInterval, BufferPool: buffers, ErrorLog: noLog,
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
			r.Out.Header.Set(forwardedHeader, string(v.ID))
			r.Out.Header.Add(viaHeader, instance)
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
				p.certificates.begin(v, unknown)
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

// Headers of requests that a service passes on: the ID of the service, for the app, and the gateways
// on the way. The visitor cannot take them away.
const (
	forwardedHeader = "Fairlead-Service"
	viaHeader       = "Fairlead-Via"
)

// instance names this gateway in viaHeader, until it stops.
var instance = rand.Text()

// RefuseForwarded returns a handler of a gateway's listener that refuses requests that one of its
// services passes on. Otherwise a service whose target is the gateway, at whichever of its
// addresses, would open it to visitors, or a service that leads to itself would call itself without
// end.
func RefuseForwarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if slices.Contains(r.Header.Values(viaHeader), instance) {
			answer(w, r, http.StatusLoopDetected, loop)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// RefuseAllForwarded answers a request that a service of any gateway passes on, and returns true.
// Apps of another gateway can be published again, but never the gateway itself.
func RefuseAllForwarded(w http.ResponseWriter, r *http.Request) bool {
	_, isForwarded := r.Header[viaHeader]
	if isForwarded {
		answer(w, r, http.StatusLoopDetected, loop)
	}
	return isForwarded
}

// isFromNeighbour reports whether a page of another app, at a port of the same host or at another
// name below the same domain, makes a request in the background. Browsers send cookies along with
// it. Links between apps work.
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
	return p.handshake(ctx, plain, x.target, x.service.Certificate)
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

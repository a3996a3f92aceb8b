package address

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/netip"
	"os"
	"slices"
	"strings"

	"fairlead/gateway/config"
	"fairlead/gateway/service"
)

// handler returns what a listener does with requests. None leads to the gateway itself.
func (a *Addresses) handler(s spec) http.Handler {
	switch s.kind {
	case networkKind, localKind:
		return a.serveOne(s)
	case redirectKind:
		h := http.Handler(a.redirect(s.domain))
		if s.certificate != byFile && s.certificate != byProxy {
			h = a.certs.of(s).manager.HTTPHandler(h)
		}
		return h
	}
	serve := a.serveBelow(s.domain)
	if s.certificate == byProxy {
		return a.behindProxy(s, serve)
	}
	return serve
}

func withoutPort(host string) string {
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
}

// nameBelow returns the first part of a host directly below a domain. The host may have a port.
func nameBelow(host, domain string) (name string, ok bool) {
	name, ok = strings.CutSuffix(withoutPort(host), "."+domain)
	isOther := func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-' }
	return name, ok && name != "" && !strings.ContainsFunc(name, isOther)
}

// IsBelow reports whether a request is for a name directly below a domain.
func IsBelow(r *http.Request, domain string) bool {
	_, ok := nameBelow(r.Host, domain)
	return ok && domain != ""
}

func (a *Addresses) serveBelow(domain string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		name, ok := nameBelow(r.Host, domain)
		switch {
		case !ok:
			service.AnswerMisdirected(w, r)
		case name == service.SignInName:
			a.o.Callback(w, r)
		default:
			a.o.Serve(name, w, r)
		}
	}
}

// serveOne serves a service at a port of its own. A request for the name of another computer is
// refused: a page of another site could lead its name to this address, and would then be of the same
// origin.
func (a *Addresses) serveOne(s spec) http.HandlerFunc {
	own := []string{"localhost"}
	if name, err := os.Hostname(); err == nil {
		name = strings.ToLower(name)
		own = append(own, name, name+".local")
	}
	return func(w http.ResponseWriter, r *http.Request) {
		host := withoutPort(r.Host)
		ip, err := netip.ParseAddr(host)
		isOwn := err == nil && (s.kind == networkKind || ip.IsLoopback())
		if !isOwn && !slices.Contains(own, host) {
			service.AnswerMisdirected(w, r)
			return
		}
		a.o.Serve(s.service, w, r)
	}
}

// redirect leads requests below the domain to https, and no others: else it would lead everywhere.
func (a *Addresses) redirect(domain string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		name, ok := nameBelow(r.Host, domain)
		if !ok {
			service.AnswerMisdirected(w, r)
			return
		}
		w.Header().Set("Connection", "close")
		// One slash: two at the beginning of a path would be another host.
		http.Redirect(w, r, a.URL(name)+"/"+strings.TrimLeft(r.URL.RequestURI(), "/"), http.StatusPermanentRedirect)
	}
}

// behindProxy serves requests that the owner's reverse proxy passes on. They count as if the
// browser had come over TLS itself, from the address that the proxy names.
func (a *Addresses) behindProxy(s spec, next http.HandlerFunc) http.HandlerFunc {
	var networks []netip.Prefix
	for _, text := range strings.Fields(s.trusted) {
		if p, err := config.ParseNetwork(text); err == nil { // checked when it was set
			networks = append(networks, p)
		}
	}
	isProxy := func(ip netip.Addr) bool {
		return slices.ContainsFunc(networks, func(p netip.Prefix) bool { return p.Contains(ip.Unmap().WithZone("")) })
	}
	toTLS := a.redirect(s.domain)
	return func(w http.ResponseWriter, r *http.Request) {
		from, err := netip.ParseAddrPort(r.RemoteAddr)
		if err != nil || !isProxy(from.Addr()) {
			service.AnswerNoProxy(w, r)
			return
		}
		if proto := r.Header.Values("X-Forwarded-Proto"); len(proto) > 0 && !strings.EqualFold(lastOf(proto), "https") {
			toTLS(w, r)
			return
		}
		r.RemoteAddr = netip.AddrPortFrom(visitorOf(r, from.Addr(), isProxy), 0).String()
		r.TLS = new(tls.ConnectionState)
		next(w, r)
	}
}

// visitorOf returns the last address that is no trusted proxy: what stands before it in the header,
// the visitor may have written.
func visitorOf(r *http.Request, proxy netip.Addr, isProxy func(netip.Addr) bool) netip.Addr {
	from := proxy
	list := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for _, text := range slices.Backward(list) {
		ip, err := netip.ParseAddr(strings.TrimSpace(text))
		if err != nil {
			break
		}
		if from = ip; !isProxy(ip) {
			break
		}
	}
	return from
}

// lastOf returns the last value of a list in headers: that of the nearest proxy.
func lastOf(values []string) string {
	list := strings.Split(strings.Join(values, ","), ",")
	return strings.TrimSpace(list[len(list)-1])
}

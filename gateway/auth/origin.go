package auth

import (
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"

	"fairlead/gateway/protocol"
)

// CheckOrigin refuses requests that a web page made a browser send. Host must be a loopback name or
// one of hosts; that stops DNS rebinding, where an attacker's name resolves to this machine.
// Programs send no Origin; if there is one, it must be loopback or one of hosts, too. Pages on
// other local ports pass, but still need the token.
func CheckOrigin(r *http.Request, hosts ...string) error {
	if !allowedHost(hostOnly(r.Host), hosts) {
		return protocol.ErrForbidden.With("this host name is not allowed")
	}
	for _, origin := range r.Header.Values("Origin") {
		u, err := url.Parse(origin)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || !allowedHost(u.Hostname(), hosts) {
			return protocol.ErrForbidden.With("web pages of other sites may not connect")
		}
	}
	return nil
}

func hostOnly(hostport string) string {
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		return h
	}
	return strings.Trim(hostport, "[]")
}

func allowedHost(host string, more []string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" {
		return true
	}
	if a, err := netip.ParseAddr(host); err == nil && a.Unmap().IsLoopback() {
		return true
	}
	for _, m := range more {
		if m != "" && strings.EqualFold(host, m) {
			return true
		}
	}
	return false
}

package service

import (
	"net/http"
	"strings"
	"time"

	"fairlead/gateway/protocol"
)

// appCookies passes cookies between browsers and the app of a service, without the site's own.
type appCookies struct {
	service protocol.ServiceID
	// sharesHost means that the service is at a port of a host that others have too. Browsers send
	// the cookies of a host to all its ports, so the app's get names of their own, except those that
	// scripts use: these must find them.
	sharesHost bool
}

// appCookie begins the names of the cookies of apps at ports; the ID of the service follows. It is
// one of those that isOwnCookie knows.
const appCookie = "fairlead-app-"

func (c appCookies) prefix() string { return appCookie + string(c.service) + "-" }

// toBrowser makes the app's cookies those of the service's host alone, and keeps it from setting
// the site's own or those of other apps.
func (c appCookies) toBrowser(h http.Header) {
	var kept []string
	for _, line := range h.Values("Set-Cookie") {
		name, value, _ := strings.Cut(line, "=")
		if name = strings.TrimSpace(name); isOwnCookie(name) {
			continue
		}
		line = withoutDomain(name + "=" + value)
		parsed, err := http.ParseSetCookie(line)
		switch {
		case !c.sharesHost || err != nil:
			kept = append(kept, line)
		case parsed.HttpOnly:
			kept = append(kept, c.prefix()+line)
		case parsed.MaxAge < 0 || !parsed.Expires.IsZero() && parsed.Expires.Before(time.Now()): // it ends either kind
			kept = append(kept, line, c.prefix()+line)
		default:
			kept = append(kept, line)
		}
	}
	h.Del("Set-Cookie")
	for _, line := range kept {
		h.Add("Set-Cookie", line)
	}
}

func withoutDomain(line string) string {
	parts := strings.Split(line, ";")
	fixed := parts[:1]
	for _, part := range parts[1:] {
		if attribute, _, _ := strings.Cut(part, "="); !strings.EqualFold(strings.TrimSpace(attribute), "domain") {
			fixed = append(fixed, part)
		}
	}
	return strings.Join(fixed, ";")
}

// toApp removes the site's own cookies, and those of other apps, from a request to the app.
func (c appCookies) toApp(h http.Header) {
	var kept []string
	for _, line := range h.Values("Cookie") {
		for part := range strings.SplitSeq(line, ";") {
			part = strings.TrimSpace(part)
			name, _, _ := strings.Cut(part, "=")
			name = strings.TrimSpace(name)
			own, isApps := strings.CutPrefix(part, c.prefix())
			switch {
			case isApps && c.sharesHost:
				kept = append(kept, own)
			case !isOwnCookie(name):
				kept = append(kept, part)
			}
		}
	}
	h.Del("Cookie")
	if len(kept) > 0 {
		h.Set("Cookie", strings.Join(kept, "; "))
	}
}

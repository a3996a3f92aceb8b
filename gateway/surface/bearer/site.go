package bearer

import (
	"net/http"
	"strings"

	"fairlead/gateway/config"
)

// Site is the gateway as programs reach it over HTTP.
type Site struct{ Config func() config.Config }

// Base returns the address of the gateway as a program sees it, without a path: its public address,
// or that of the request.
func (s Site) Base(r *http.Request) string {
	if public := s.Config().API.PublicURL; public != "" {
		return strings.TrimRight(public, "/")
	}
	if r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// WhileEnabled serves programs with h as far as the settings allow it: at all, and from other
// machines.
func (s Site) WhileEnabled(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c := s.Config().API
		if !c.Enabled || r.TLS != nil && !c.Network {
			http.NotFound(w, r)
			return
		}
		h.ServeHTTP(w, r)
	})
}

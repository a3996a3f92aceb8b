package bearer

import (
	"context"
	"net/http"
	"strings"

	"fairlead/gateway/auth"
	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
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

// VerifyWhileEnabled returns who a token belongs to that a request carries in its body, as far as the
// settings let programs use the gateway. verify and path are those of a [Guard].
func (s Site) VerifyWhileEnabled(verify func(ctx context.Context, token, resource string) (auth.Principal, error), path string) func(*http.Request, string) (auth.Principal, error) {
	return func(r *http.Request, token string) (auth.Principal, error) {
		if !s.isEnabled(r) {
			return auth.Principal{}, protocol.ErrUnauthorized
		}
		return verify(r.Context(), token, s.Base(r)+path)
	}
}

func (s Site) isEnabled(r *http.Request) bool {
	c := s.Config().API
	return c.Enabled && (r.TLS == nil || c.Network)
}

// WhileEnabled serves programs with h as far as the settings allow it: at all, and from other
// machines.
func (s Site) WhileEnabled(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !s.isEnabled(r) {
			http.NotFound(w, r)
			return
		}
		h.ServeHTTP(w, r)
	})
}

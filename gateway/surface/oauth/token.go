package oauth

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"fairlead/gateway/apps"
	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
)

// codeTime is how long a code is valid.
const codeTime = time.Minute

// codes are the codes that programs exchange for tokens. They are not stored: a program whose
// gateway was restarted in that minute signs in again.
type codes struct {
	mu  sync.Mutex // guards all
	all map[string]code
}

type code struct {
	app                                   protocol.AppID
	scopes                                []protocol.Scope
	client, redirect, challenge, resource string
	expires                               time.Time
	used                                  bool
}

func (c *codes) add(x code) string {
	secret := auth.NewToken("")
	c.mu.Lock()
	defer c.mu.Unlock()
	now := time.Now()
	for s, old := range c.all {
		if now.Sub(old.expires) > 10*time.Minute { // a used one is remembered for a while
			delete(c.all, s)
		}
	}
	x.expires = now.Add(codeTime)
	c.all[secret] = x
	return secret
}

// take returns a code and marks it as used.
func (c *codes) take(secret string) (x code, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	x, ok = c.all[secret]
	if ok {
		after := x
		after.used = true
		c.all[secret] = after
	}
	return x, ok
}

// release makes a code usable again that was not exchanged.
func (c *codes) release(secret string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if x, ok := c.all[secret]; ok {
		x.used = false
		c.all[secret] = x
	}
}

// maxForm is the largest body of a request for tokens, in bytes.
const maxForm = 16 << 10

// token exchanges a code or a refresh token for tokens.
func (h *handler) token(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		refuse(w, http.StatusBadRequest, "invalid_request", "the body must be a form")
		return
	}
	resource, ok := h.resource(r, r.PostForm["resource"])
	if !ok {
		refuse(w, http.StatusBadRequest, "invalid_target", "the resource is not this gateway")
		return
	}
	switch r.PostForm.Get("grant_type") {
	case "authorization_code":
		h.exchange(w, r, resource)
	case "refresh_token":
		scopes := parseScopes(r.PostForm.Get("scope"))
		out, err := h.Apps.Refresh(r.Context(), r.PostForm.Get("refresh_token"), r.PostForm.Get("client_id"), resource, scopes)
		if errors.Is(err, protocol.ErrForbidden) {
			refuse(w, http.StatusBadRequest, "invalid_scope", err.Error())
			return
		}
		grant(w, out, err)
	default:
		refuse(w, http.StatusBadRequest, "unsupported_grant_type", "grant_type must be authorization_code or refresh_token")
	}
}

// exchange exchanges a code. A code that was used before was stolen, so the app's access ends.
func (h *handler) exchange(w http.ResponseWriter, r *http.Request, resource string) {
	f := r.PostForm
	c, ok := h.codes.take(f.Get("code"))
	if !ok {
		refuse(w, http.StatusBadRequest, "invalid_grant", "the code is not valid")
		return
	}
	if c.used {
		if err := h.Apps.Revoke(r.Context(), "a code that was used twice", c.app); err != nil {
			refuse(w, http.StatusServiceUnavailable, "temporarily_unavailable", "the access could not be ended")
			return
		}
		refuse(w, http.StatusBadRequest, "invalid_grant", "the code was used before, so the access was ended: connect the app again")
		return
	}
	sum := sha256.Sum256([]byte(f.Get("code_verifier")))
	verified := subtle.ConstantTimeCompare([]byte(base64.RawURLEncoding.EncodeToString(sum[:])), []byte(c.challenge)) == 1
	switch {
	case time.Now().After(c.expires):
		refuse(w, http.StatusBadRequest, "invalid_grant", "the code has expired")
	case f.Get("client_id") != c.client:
		refuse(w, http.StatusBadRequest, "invalid_grant", "the code belongs to another client")
	case f.Has("redirect_uri") && f.Get("redirect_uri") != c.redirect:
		refuse(w, http.StatusBadRequest, "invalid_grant", "redirect_uri is not that of the request")
	case len(f.Get("code_verifier")) < 43 || len(f.Get("code_verifier")) > 128 || !verified:
		refuse(w, http.StatusBadRequest, "invalid_grant", "code_verifier does not fit")
	case c.resource != resource:
		refuse(w, http.StatusBadRequest, "invalid_target", "the code is for another resource")
	default:
		out, err := h.Apps.Issue(r.Context(), c.app, c.resource, c.scopes)
		if err != nil { // the app has got nothing for it
			h.codes.release(f.Get("code"))
		}
		grant(w, out, err)
	}
}

// grant answers with tokens. Public clients always get a refresh token: without one they would ask
// the person every hour.
func grant(w http.ResponseWriter, s apps.SignIn, err error) {
	if errors.Is(err, protocol.ErrUnauthorized) || errors.Is(err, protocol.ErrNotFound) {
		refuse(w, http.StatusBadRequest, "invalid_grant", err.Error())
		return
	}
	if err != nil {
		refuse(w, http.StatusServiceUnavailable, "temporarily_unavailable", "the tokens could not be stored")
		return
	}
	reply(w, http.StatusOK, map[string]any{
		"access_token": s.Access, "token_type": "Bearer", "expires_in": int(apps.AccessTime.Seconds()), "refresh_token": s.Refresh, "scope": joinScopes(s.Scopes),
	})
}

// revoke ends the access of a token (RFC 7009). It says nothing about whether the token existed.
func (h *handler) revoke(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil || r.PostForm.Get("token") == "" {
		refuse(w, http.StatusBadRequest, "invalid_request", "token is required")
		return
	}
	if err := h.Apps.RevokeToken(r.Context(), r.PostForm.Get("token"), r.PostForm.Get("client_id")); err != nil {
		refuse(w, http.StatusServiceUnavailable, "temporarily_unavailable", "the access could not be ended")
		return
	}
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
}

// Rate of requests of one host.
const (
	perSecond = 2
	burst     = 30
)

// limits bound the requests of each host: everybody who reaches the gateway can make them.
type limits struct {
	mu      sync.Mutex // guards buckets
	buckets map[string]*bucket
}

type bucket struct {
	*rate.Limiter
	used time.Time
}

func (l *limits) allow(host string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	b := l.buckets[host]
	if b == nil {
		for h, old := range l.buckets {
			if now.Sub(old.used) > time.Minute {
				delete(l.buckets, h)
			}
		}
		b = &bucket{Limiter: rate.NewLimiter(perSecond, burst)}
		l.buckets[host] = b
	}
	b.used = now
	return b.AllowN(now, 1)
}

// limit refuses the requests of a host that makes too many.
func (h *handler) limit(f http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.RemoteAddr)
		if err != nil {
			host = r.RemoteAddr
		}
		if !h.limits.allow(host) {
			w.Header().Set("Retry-After", "5")
			refuse(w, http.StatusTooManyRequests, "temporarily_unavailable", "too many requests: wait a few seconds")
			return
		}
		f(w, r)
	}
}

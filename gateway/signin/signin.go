// Package signin has the ways in which a visitor of a published service proves an email address: at a
// provider such as Google, or any OpenID Connect issuer.
//
// A sign-in begins and ends on the host of the service, because its cookie binds the sign-in to one
// browser. In between, the provider sends the browser to one address for all services, which hands
// over to the service's host by a secret that works once.
package signin

import (
	"cmp"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
)

// Paths on the host of a service, and the path to which providers send the browser back.
const (
	beginPath    = "/.fairlead/signin"
	arrivePath   = "/.fairlead/arrive"
	CallbackPath = "/.fairlead/callback"
)

// Has reports whether a path on the host of a service belongs to this package.
func Has(path string) bool { return path == beginPath || path == arrivePath }

// Options configure a [SignIn]. All fields are required.
type Options struct {
	Config func() config.Services
	Secret func(path string) (string, bool) // of the settings
	// Base returns the address, without a path, to which providers send a browser back that visits the
	// host of a request; empty if there is none that it reaches.
	Base func(*http.Request) string
}

// SignIn signs visitors in. It is safe for concurrent use.
type SignIn struct {
	o        Options
	attempts attempts
	guesses  limits // of secrets
	begins   limits // of sign-ins

	mu        sync.Mutex // guards the field below
	providers map[string]*provider
}

// New returns a SignIn.
func New(o Options) *SignIn {
	return &SignIn{o: o, attempts: attempts{open: make(map[string]attempt)}, providers: make(map[string]*provider)}
}

// Proof is the successful end of a sign-in.
type Proof struct {
	Email string
	To    string // the path at which the visitor began
}

// Refusal is why a sign-in failed, for the visitor.
type Refusal struct {
	Status      int
	Title, Text string
	Back        string // the address at which to try again; empty for none
}

func (r *Refusal) Error() string { return r.Title + ". " + r.Text }

// Way is a provider at which visitors can sign in.
type Way struct{ Name, Title string }

// Ways returns the ways that work now at the host of a request, by title.
func (s *SignIn) Ways(r *http.Request) []Way {
	if s.o.Base(r) == "" {
		return nil
	}
	var ways []Way
	for name := range s.o.Config().SignIn {
		if d, ok := s.definition(name); ok {
			ways = append(ways, Way{name, d.title})
		}
	}
	slices.SortFunc(ways, func(a, b Way) int { return cmp.Or(cmp.Compare(a.Title, b.Title), cmp.Compare(a.Name, b.Name)) })
	return ways
}

// Allow counts an attempt to guess a secret from the source of a request, and reports whether it may
// be made.
func (s *SignIn) Allow(r *http.Request) bool { return s.guesses.allow(r) }

// TooMany is the refusal of a source that makes too many attempts.
var TooMany = &Refusal{Status: http.StatusTooManyRequests, Title: "Too many attempts", Text: "Wait a minute, then try again."}

// Serve answers a request for a path of this package on the host of a service. It returns what the
// visitor has proven, or a *Refusal; without both, it has answered.
func (s *SignIn) Serve(w http.ResponseWriter, r *http.Request, id protocol.ServiceID) (*Proof, error) {
	switch {
	case r.Method != http.MethodGet:
		return nil, &Refusal{Status: http.StatusMethodNotAllowed, Title: "This cannot be done", Text: "Go back and try again."}
	case r.URL.Path == beginPath:
		return nil, s.begin(w, r, id)
	}
	return s.arrive(w, r, id)
}

// begin sends the browser to a provider.
func (s *SignIn) begin(w http.ResponseWriter, r *http.Request, id protocol.ServiceID) error {
	q := r.URL.Query()
	a := attempt{service: id, origin: originOf(r), to: localPath(q.Get("to"))}
	if !s.begins.allow(r) {
		return TooMany
	}
	base := s.o.Base(r)
	d, ok := s.definition(q.Get("with"))
	if !ok || base == "" {
		return &Refusal{Status: http.StatusNotFound, Title: "This provider cannot be used", Text: "The owner has removed it. Choose another way to sign in.", Back: a.back()}
	}
	var err error
	if a.provider, err = s.provider(r.Context(), d); err != nil {
		slog.Warn("A sign-in provider does not answer", "provider", d.name, "err", err)
		return &Refusal{Status: http.StatusBadGateway, Title: d.title + " does not answer", Text: "Try again later, or choose another way to sign in.", Back: a.back()}
	}
	a.redirect = base + CallbackPath
	cookie, state := newSecret(), newSecret()
	a.browser, a.nonce, a.verifier = hash(cookie), newSecret(), newSecret()+newSecret()
	if !s.attempts.add(state, a, time.Now()) {
		return TooMany
	}
	setCookie(w, r, cookie, int(attemptLife.Seconds()))
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	http.Redirect(w, r, a.provider.authURL(a, state), http.StatusSeeOther)
	return nil
}

var staleAttempt = &Refusal{
	Status: http.StatusBadRequest, Title: "This sign-in does not work any more", Text: "It was used already, is too old, or began in another browser. Go back to the app and sign in again.",
}

// Callback answers the browser that a provider has sent back: it proves the address and hands over to
// the host of the service. The error is a *Refusal.
func (s *SignIn) Callback(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	a, ok := s.attempts.take(q.Get("state"), time.Now())
	if !ok {
		if !s.guesses.allow(r) {
			return TooMany
		}
		return staleAttempt
	}
	p := a.provider
	if reason := q.Get("error"); reason != "" {
		slog.Info("A provider refused a sign-in", "provider", p.name, "reason", reason, "description", q.Get("error_description"))
		return &Refusal{Status: http.StatusForbidden, Title: p.title + " did not sign you in", Text: "You may have cancelled it. Try again, or choose another way to sign in.", Back: a.back()}
	}
	email, err := p.prove(r.Context(), a, q.Get("code"))
	if refusal, ok := err.(*Refusal); ok {
		refusal.Back = a.back()
		return refusal
	}
	if err != nil {
		slog.Warn("A sign-in failed", "provider", p.name, "err", err)
		return &Refusal{Status: http.StatusBadGateway, Title: "The sign-in failed", Text: p.title + " gave an answer that cannot be trusted. Try again, or choose another way to sign in.", Back: a.back()}
	}
	a.email = email
	secret := newSecret()
	if !s.attempts.add(secret, a, time.Now()) {
		return TooMany
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	http.Redirect(w, r, a.origin+arrivePath+"?"+url.Values{"secret": {secret}}.Encode(), http.StatusSeeOther)
	return nil
}

// arrive ends a sign-in on the host and in the browser in which it began.
func (s *SignIn) arrive(w http.ResponseWriter, r *http.Request, id protocol.ServiceID) (*Proof, error) {
	if !s.guesses.allow(r) {
		return nil, TooMany
	}
	a, ok := s.attempts.take(r.URL.Query().Get("secret"), time.Now())
	c, err := r.Cookie(cookieName(r))
	if !ok || err != nil || a.email == "" || a.browser != hash(c.Value) || a.service != id || a.origin != originOf(r) {
		return nil, staleAttempt
	}
	setCookie(w, r, "", -1)
	return &Proof{Email: a.email, To: a.to}, nil
}

// originOf returns the origin of a request.
func originOf(r *http.Request) string {
	if r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// localPath returns an address if it is a path of the same host, else /. Browsers read \ as /, and
// two of them at the beginning as the begin of a host.
func localPath(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//") || strings.ContainsFunc(text, func(c rune) bool { return c <= ' ' || c == '\\' || c == 0x7f }) {
		return "/"
	}
	return u.RequestURI()
}

// Names of the cookie that binds a sign-in to a browser. Over TLS a browser accepts the first one only
// from this very host.
const (
	safeCookie  = "__Host-fairlead-signin"
	plainCookie = "fairlead-signin"
)

func cookieName(r *http.Request) string {
	if r.TLS != nil {
		return safeCookie
	}
	return plainCookie
}

// setCookie sets the cookie. It is Lax: the browser comes back from another site.
func setCookie(w http.ResponseWriter, r *http.Request, value string, seconds int) {
	http.SetCookie(w, &http.Cookie{Name: cookieName(r), Value: value, Path: "/", MaxAge: seconds, HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteLaxMode})
}

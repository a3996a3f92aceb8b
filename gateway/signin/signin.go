// Package signin has the ways in which a visitor of a published service proves an email address: at
// a provider such as Google, or any OpenID Connect issuer; by a link that is mailed to it; and
// after the first time by a passkey.
//
// A sign-in begins and ends on the host of the service, because its cookie binds the sign-in to one
// browser. In between, the provider sends the browser to one address for all services, which hands
// over to the service's host by a secret that works once.
package signin

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
)

// Paths on the host of a service, and the path to which providers send the browser back.
const (
	beginPath    = "/.fairlead/signin"
	arrivePath   = "/.fairlead/arrive"
	CallbackPath = "/.fairlead/callback"
)

// Has reports whether a path on the host of a service belongs to this package.
func Has(path string) bool {
	return path == beginPath || path == arrivePath || path == mailPath || path == MailedPath || strings.HasPrefix(path, PasskeyPath)
}

// Options configure a [SignIn]. All fields are required.
type Options struct {
	Config func() config.Services
	Secret func(path string) (string, bool) // of the settings
	// Base returns the address, without a path, to which providers send the browser of a request back;
	// empty if that browser reaches no address of the gateway.
	Base     func(*http.Request) string
	Passkeys PasskeyStore
	// Link returns a link that lets an address in at a service. The error is a *protocol.Fault if the
	// address is not on its list.
	Link func(ctx context.Context, v protocol.Service, email string) (string, error)
}

// SignIn signs visitors in. It is safe for concurrent use.
type SignIn struct {
	o          Options
	attempts   attempts // at providers, by the state or the secret of the hand-over
	ceremonies attempts // of passkeys, by the cookie
	guesses    *Limits  // of secrets
	begins     *Limits  // of sign-ins
	mails      *Limits
	workers    *crash.Workers
	sending    chan struct{} // a place for each mail that is being sent

	mu        sync.Mutex // guards the field below
	providers map[string]*provider
}

// New returns a SignIn. Close it.
func New(o Options) *SignIn {
	newAttempts := func() attempts { return attempts{open: make(map[string]attempt)} }
	return &SignIn{
		o: o, attempts: newAttempts(), ceremonies: newAttempts(), providers: make(map[string]*provider),
		guesses: NewLimits(), begins: NewLimits(), mails: &Limits{burst: mailBurst, pace: mailPace},
		workers: crash.NewWorkers(), sending: make(chan struct{}, maxMails),
	}
}

// Close stops the mails that are being sent.
func (s *SignIn) Close() { s.workers.Close(context.Canceled) }

// Visitor is who somebody is: the owner, or who has an email address.
type Visitor struct {
	Email   string
	IsOwner bool
}

// Proof is the successful end of a sign-in.
type Proof struct {
	Visitor
	Provider  string // its title; empty for a passkey
	To        string // the path at which the visitor began
	ByPasskey bool
}

// Refusal is why a sign-in failed, for the visitor.
type Refusal struct {
	Status      int
	Title, Text string
	Back        string // the address at which to try again; empty for none
}

func (r *Refusal) Error() string { return r.Title + ". " + r.Text }

// Ways are the ways to sign in that a page offers.
type Ways struct {
	Providers []Provider // by title
	Passkey   bool
	Mail      bool
}

// Provider is one at which visitors can sign in.
type Provider struct{ Name, Title string }

// IsEmpty reports whether there is no way.
func (w Ways) IsEmpty() bool { return len(w.Providers) == 0 && !w.Passkey && !w.Mail }

// Ways returns the ways that work now at the host of a request.
func (s *SignIn) Ways(r *http.Request, v protocol.Service) Ways {
	ways := Ways{Passkey: s.hasPasskeys(r, v), Mail: s.o.Config().Mail.Works()}
	if s.o.Base(r) == "" {
		return ways
	}
	for name := range s.o.Config().SignIn {
		if d, ok := s.definition(name); ok {
			ways.Providers = append(ways.Providers, Provider{name, d.title})
		}
	}
	slices.SortFunc(ways.Providers, func(a, b Provider) int { return cmp.Or(cmp.Compare(a.Title, b.Title), cmp.Compare(a.Name, b.Name)) })
	return ways
}

// TooMany is the refusal of a source that makes too many attempts.
var TooMany = &Refusal{Status: http.StatusTooManyRequests, Title: "Too many attempts", Text: "Wait a minute, then try again."}

// Serve answers a request for a path of this package on the host of a service; forms of other sites
// are refused before. It returns what the visitor has proven, or a *Refusal; without both, it has
// answered.
func (s *SignIn) Serve(w http.ResponseWriter, r *http.Request, v protocol.Service) (*Proof, error) {
	switch {
	case strings.HasPrefix(r.URL.Path, PasskeyPath):
		return s.servePasskey(w, r, v)
	case r.URL.Path == mailPath:
		return nil, s.mailLink(w, r, v)
	case r.Method != http.MethodGet:
		return nil, &Refusal{Status: http.StatusMethodNotAllowed, Title: "This cannot be done", Text: "Go back and try again."}
	case r.URL.Path == beginPath:
		return nil, s.begin(w, r, v.ID)
	}
	return s.arrive(w, r, v.ID)
}

// begin sends the browser to a provider.
func (s *SignIn) begin(w http.ResponseWriter, r *http.Request, id protocol.ServiceID) error {
	q := r.URL.Query()
	a := attempt{service: id, origin: originOf(r), to: LocalPath(q.Get("to"))}
	if !s.begins.Allow(r) {
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

// Callback answers the browser that a provider has sent back: it proves the address and hands over
// to the host of the service. The error is a *Refusal.
func (s *SignIn) Callback(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	a, ok := s.attempts.take(q.Get("state"), time.Now())
	if !ok {
		if !s.guesses.Allow(r) {
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
	if refusal, ok := errors.AsType[*Refusal](err); ok {
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
	if !s.guesses.Allow(r) {
		return nil, TooMany
	}
	a, ok := s.attempts.take(r.URL.Query().Get("secret"), time.Now())
	c, err := r.Cookie(cookieName(r))
	if !ok || err != nil || a.email == "" || a.browser != hash(c.Value) || a.service != id || a.origin != originOf(r) {
		return nil, staleAttempt
	}
	setCookie(w, r, "", -1)
	return &Proof{Visitor: Visitor{Email: a.email}, Provider: a.provider.title, To: a.to}, nil
}

// originOf returns the origin of a request.
func originOf(r *http.Request) string {
	if r.TLS != nil {
		return "https://" + r.Host
	}
	return "http://" + r.Host
}

// maxPath is the greatest length of a path to which a visitor comes back, in bytes.
const maxPath = 2000

// LocalPath returns an address if it is a path of the same host, else /. Browsers read \ as /, and
// two of them at the beginning as the begin of a host.
func LocalPath(text string) string {
	u, err := url.Parse(text)
	if err != nil || len(text) > maxPath || u.Scheme != "" || u.Host != "" || u.User != nil || !strings.HasPrefix(text, "/") || strings.HasPrefix(text, "//") || strings.ContainsFunc(text, func(c rune) bool { return c <= ' ' || c == '\\' || c == 0x7f }) {
		return "/"
	}
	return u.RequestURI()
}

// Names of the cookie that binds a sign-in to a browser. Over TLS a browser accepts the first one
// only from this very host.
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

package signin

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"github.com/go-webauthn/webauthn/webauthn"
	"golang.org/x/time/rate"

	"fairlead/gateway/protocol"
)

// attempt is a sign-in that has begun.
type attempt struct {
	provider        *provider
	service         protocol.ServiceID
	origin          string // of the service's host
	browser         string // hash of the cookie
	redirect        string // to which the provider sends the browser
	nonce, verifier string
	to              string // the path at which the visitor began
	email           string // proven; empty before
	expires         time.Time

	ceremony *webauthn.SessionData // of a passkey; without a provider
	visitor  Visitor               // who makes one; zero for a sign-in
}

// back returns the address at which the visitor can try again.
func (a attempt) back() string { return a.origin + a.to }

// A sign-in must end within attemptLife. maxAttempts bounds the memory for those that never end.
const (
	attemptLife = 10 * time.Minute
	maxAttempts = 10_000
)

// attempts are open sign-ins by the hash of the secret that continues each, once.
type attempts struct {
	mu   sync.Mutex // guards open
	open map[string]attempt
}

// add makes an attempt that a secret continues; false if too many are open.
func (s *attempts) add(secret string, a attempt, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open) >= maxAttempts {
		maps.DeleteFunc(s.open, func(_ string, old attempt) bool { return now.After(old.expires) })
	}
	if len(s.open) >= maxAttempts {
		return false
	}
	if a.expires.IsZero() {
		a.expires = now.Add(attemptLife)
	}
	s.open[hash(secret)] = a
	return true
}

// take returns and removes the attempt that a secret continues.
func (s *attempts) take(secret string, now time.Time) (a attempt, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := hash(secret)
	a, ok = s.open[key]
	delete(s.open, key)
	return a, ok && now.Before(a.expires)
}

func newSecret() string { return rand.Text() }

func hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// A source can make burst attempts at once, and one more every pace.
const (
	burst = 20
	pace  = 3 * time.Second
	// maxSources bounds the memory for sources.
	maxSources = 10_000
)

// Limits bound the attempts of each source.
type Limits struct {
	burst int
	pace  time.Duration

	mu      sync.Mutex // guards sources
	sources map[string]*rate.Limiter
}

// NewLimits returns limits for guesses.
func NewLimits() *Limits { return &Limits{burst: burst, pace: pace} }

// Allow counts an attempt from the source of a request, and reports whether it may be made.
func (l *Limits) Allow(r *http.Request) bool { return l.allowAt(sourceOf(r), time.Now()) }

func (l *Limits) allowAt(source string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.sources[source]
	if b == nil {
		if len(l.sources) >= maxSources {
			// One with all attempts left is as if it were new.
			maps.DeleteFunc(l.sources, func(_ string, old *rate.Limiter) bool { return old.TokensAt(now) >= float64(l.burst) })
		}
		if len(l.sources) >= maxSources || l.sources == nil {
			l.sources = make(map[string]*rate.Limiter)
		}
		b = rate.NewLimiter(rate.Every(l.pace), l.burst)
		l.sources[source] = b
	}
	return b.AllowN(now, 1)
}

// sourceOf returns where a request comes from: an address, or for IPv6 the network of 64 bits that
// one customer has.
func sourceOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	a, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	if a = a.Unmap().WithZone(""); a.Is6() {
		p, _ := a.Prefix(64) // never fails for IPv6
		return p.String()
	}
	return a.String()
}

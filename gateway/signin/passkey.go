package signin

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	wire "github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// PasskeyStore stores the passkeys of visitors.
type PasskeyStore interface {
	PutPasskey(context.Context, store.Passkey) error
	Passkeys(context.Context, protocol.ServiceID) ([]store.Passkey, error)
}

// Paths of passkeys on the host of a service.
const (
	PasskeyPath = "/.fairlead/passkey" // of the page that offers one, and of its form
	optionsPath = PasskeyPath + "/options"
	scriptPath  = PasskeyPath + ".js"
)

//go:embed passkey.js
var script []byte

// takesPasskeys reports whether browsers keep passkeys for the host of a request apart from those
// for other services: it is a name of the service alone, reached over TLS or on this computer.
func takesPasskeys(r *http.Request, v protocol.Service) bool {
	host := hostname(r)
	return strings.HasPrefix(host, v.Name+".") && (r.TLS != nil || strings.HasSuffix(host, ".localhost"))
}

func hostname(r *http.Request) string {
	host := r.Host
	if h, _, err := net.SplitHostPort(host); err == nil {
		host = h
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// OfferPasskey lets a visitor who has just signed in make a passkey, if it is the first for a
// service. The offer ends when the visitor reaches the app: its scripts have the same origin, and
// could otherwise make a passkey for themselves.
func (s *SignIn) OfferPasskey(w http.ResponseWriter, r *http.Request, v protocol.Service, who Visitor) bool {
	if !takesPasskeys(r, v) {
		return false
	}
	list, err := s.o.Passkeys.Passkeys(r.Context(), v.ID)
	if err != nil {
		slog.Error("Passkeys could not be read", "service", v.ID, "err", err)
		return false
	}
	if slices.ContainsFunc(list, func(p store.Passkey) bool { return p.Visitor == who.handle(v.ID) }) {
		return false
	}
	return s.addCeremony(w, r, attempt{service: v.ID, origin: originOf(r), visitor: who})
}

// EndOffer ends the offer of a passkey to the sender of a request.
func (s *SignIn) EndOffer(r *http.Request) {
	if c, err := r.Cookie(cookieName(r)); err == nil {
		s.ceremonies.take(c.Value, time.Now())
	}
}

// addCeremony adds an attempt with a passkey that the browser of a request continues; false if too
// many are open.
func (s *SignIn) addCeremony(w http.ResponseWriter, r *http.Request, a attempt) bool {
	cookie := newSecret()
	if !s.ceremonies.add(cookie, a, time.Now()) {
		return false
	}
	setCookie(w, r, cookie, int(attemptLife.Seconds()))
	return true
}

// takeCeremony returns and removes the attempt with a passkey that the browser of a request
// continues.
func (s *SignIn) takeCeremony(r *http.Request, v protocol.Service) (a attempt, ok bool) {
	c, err := r.Cookie(cookieName(r))
	if err != nil {
		return attempt{}, false
	}
	a, ok = s.ceremonies.take(c.Value, time.Now())
	return a, ok && a.service == v.ID && a.origin == originOf(r)
}

// hasPasskeys reports whether the page of a service offers to sign in by a passkey.
func (s *SignIn) hasPasskeys(r *http.Request, v protocol.Service) bool {
	if !takesPasskeys(r, v) {
		return false
	}
	list, err := s.o.Passkeys.Passkeys(r.Context(), v.ID)
	if err != nil {
		slog.Error("Passkeys could not be read", "service", v.ID, "err", err)
	}
	return len(list) > 0
}

// handle returns what authenticators call a visitor of a service by, as hex.
func (v Visitor) handle(id protocol.ServiceID) string {
	kind := "visitor"
	if v.IsOwner {
		kind = "owner"
	}
	sum := sha256.Sum256([]byte(string(id) + "\x00" + kind + "\x00" + v.Email))
	return hex.EncodeToString(sum[:])
}

// user is a visitor with passkeys as the library wants it.
type user struct {
	handle, name string
	keys         []webauthn.Credential
}

func (u user) WebAuthnID() []byte {
	id, _ := hex.DecodeString(u.handle)
	return id
}
func (u user) WebAuthnName() string                       { return u.name }
func (u user) WebAuthnDisplayName() string                { return u.name }
func (u user) WebAuthnCredentials() []webauthn.Credential { return u.keys }

// party returns what checks passkeys at the host of a request.
func party(r *http.Request, v protocol.Service) (*webauthn.WebAuthn, error) {
	return webauthn.New(&webauthn.Config{
		RPID: hostname(r), RPDisplayName: v.Title, RPOrigins: []string{originOf(r)}, AttestationPreference: wire.PreferNoAttestation,
		AuthenticatorSelection: wire.AuthenticatorSelection{ResidentKey: wire.ResidentKeyRequirementRequired, UserVerification: wire.VerificationRequired},
	})
}

var noPasskey = &Refusal{
	Status: http.StatusForbidden, Title: "This passkey does not work", Text: "It is not for this app, or the sign-in took too long. Go back and try again, or choose another way to sign in.", Back: "/",
}

// servePasskey answers a request for a path of passkeys.
func (s *SignIn) servePasskey(w http.ResponseWriter, r *http.Request, v protocol.Service) (*Proof, error) {
	switch {
	case !takesPasskeys(r, v):
		return nil, noPasskey
	case r.URL.Path == scriptPath && r.Method == http.MethodGet:
		w.Header().Set("Content-Type", "text/javascript; charset=utf-8")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		w.Write(script)
		return nil, nil
	case r.Method != http.MethodPost:
		return nil, noPasskey
	}
	allowed := s.guesses
	if r.URL.Path == optionsPath {
		allowed = s.begins
	}
	if !allowed.Allow(r) {
		return nil, TooMany
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	rp, err := party(r, v)
	if err != nil {
		return nil, err
	}
	if r.URL.Path == optionsPath {
		return nil, s.passkeyOptions(w, r, rp, v)
	}
	return s.finishPasskey(w, r, rp, v)
}

// maxForm is the greatest size of a form, in bytes.
const maxForm = 64 << 10

// passkeyOptions answers with what a browser makes a passkey by, or signs in by.
func (s *SignIn) passkeyOptions(w http.ResponseWriter, r *http.Request, rp *webauthn.WebAuthn, v protocol.Service) error {
	a := attempt{service: v.ID, origin: originOf(r)}
	var options any
	var err error
	if r.FormValue("kind") == "create" {
		var ok bool
		if a, ok = s.takeCeremony(r, v); !ok || a.visitor == (Visitor{}) {
			return noPasskey
		}
		name := a.visitor.Email
		if a.visitor.IsOwner {
			name = "Owner"
		}
		options, a.ceremony, err = rp.BeginRegistration(user{handle: a.visitor.handle(v.ID), name: name})
	} else {
		options, a.ceremony, err = rp.BeginDiscoverableLogin()
	}
	if err != nil {
		return err
	}
	if !s.addCeremony(w, r, a) {
		return TooMany
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Content-Type", "application/json")
	return json.NewEncoder(w).Encode(options)
}

// finishPasskey takes the answer of an authenticator: it stores a new passkey, or proves who has
// one.
func (s *SignIn) finishPasskey(w http.ResponseWriter, r *http.Request, rp *webauthn.WebAuthn, v protocol.Service) (*Proof, error) {
	a, ok := s.takeCeremony(r, v)
	if !ok || a.ceremony == nil {
		return nil, noPasskey
	}
	setCookie(w, r, "", -1)
	answer, to := []byte(r.FormValue("answer")), LocalPath(r.FormValue("to"))
	if a.visitor != (Visitor{}) {
		if err := s.addPasskey(r.Context(), rp, a, answer); err != nil {
			return nil, err
		}
		http.Redirect(w, r, to, http.StatusSeeOther)
		return nil, nil
	}
	who, err := s.usePasskey(r.Context(), rp, a, answer)
	if err != nil {
		return nil, err
	}
	return &Proof{Visitor: who, To: to, ByPasskey: true}, nil
}

// refusePasskey logs why an answer of an authenticator is refused.
func refusePasskey(id protocol.ServiceID, err error) error {
	why := err.Error()
	var e *wire.Error
	if errors.As(err, &e) {
		why += ": " + e.DevInfo
	}
	slog.Info("A passkey was refused", "service", id, "err", why)
	return noPasskey
}

func (s *SignIn) addPasskey(ctx context.Context, rp *webauthn.WebAuthn, a attempt, answer []byte) error {
	parsed, err := wire.ParseCredentialCreationResponseBytes(answer)
	if err != nil {
		return refusePasskey(a.service, err)
	}
	handle := a.visitor.handle(a.service)
	key, err := rp.CreateCredential(user{handle: handle}, *a.ceremony, parsed)
	if err != nil {
		return refusePasskey(a.service, err)
	}
	id := hex.EncodeToString(key.ID)
	list, err := s.o.Passkeys.Passkeys(ctx, a.service)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(list, func(p store.Passkey) bool { return p.ID == id }) { // it can belong to somebody else
		return refusePasskey(a.service, errors.New("its ID is taken"))
	}
	return s.putPasskey(ctx, store.Passkey{ID: id, Service: a.service, Visitor: handle, CreatedAt: time.Now().UnixMilli(), Email: a.visitor.Email, IsOwner: a.visitor.IsOwner}, key)
}

func (s *SignIn) putPasskey(ctx context.Context, p store.Passkey, key *webauthn.Credential) (err error) {
	key.Attestation = webauthn.CredentialAttestation{} // nobody asked for it
	if p.Credential, err = protocol.Marshal(key); err != nil {
		return err
	}
	return s.o.Passkeys.PutPasskey(ctx, p)
}

func (s *SignIn) usePasskey(ctx context.Context, rp *webauthn.WebAuthn, a attempt, answer []byte) (Visitor, error) {
	parsed, err := wire.ParseCredentialRequestResponseBytes(answer)
	if err != nil {
		return Visitor{}, refusePasskey(a.service, err)
	}
	list, err := s.o.Passkeys.Passkeys(ctx, a.service)
	if err != nil {
		return Visitor{}, err
	}
	var used store.Passkey
	key, err := rp.ValidateDiscoverableLogin(func(id, handle []byte) (webauthn.User, error) {
		for _, p := range list {
			u := user{handle: p.Visitor, keys: make([]webauthn.Credential, 1)}
			if p.ID != hex.EncodeToString(id) || !bytes.Equal(handle, u.WebAuthnID()) {
				continue
			}
			used = p
			return u, json.Unmarshal(p.Credential, &u.keys[0])
		}
		return nil, errors.New("it is not for this service")
	}, *a.ceremony, parsed)
	switch {
	case err != nil:
		return Visitor{}, refusePasskey(a.service, err)
	case key.Authenticator.CloneWarning:
		return Visitor{}, refusePasskey(a.service, errors.New("it was used by a copy of the authenticator"))
	}
	return Visitor{Email: used.Email, IsOwner: used.IsOwner}, s.putPasskey(ctx, used, key)
}

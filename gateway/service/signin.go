package service

import (
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/signin"
	"fairlead/gateway/store"
)

// SignIn lets visitors prove that they have an email address.
type SignIn interface {
	// Ways returns the ways that work at the host of a request.
	Ways(*http.Request, protocol.Service) signin.Ways
	// Serve answers a request for a path of its own on the host of a service. It returns what the
	// visitor has proven; without that and without an error, it has answered.
	Serve(http.ResponseWriter, *http.Request, protocol.Service) (*signin.Proof, error)
	// Callback answers the browser that comes back from a provider, and hands over to the service.
	Callback(http.ResponseWriter, *http.Request) error
	// OfferPasskey lets a visitor who has just signed in make a first passkey, if the host allows one.
	OfferPasskey(http.ResponseWriter, *http.Request, protocol.Service, signin.Visitor) bool
	// EndOffer ends that, before the visitor reaches the app.
	EndOffer(*http.Request)
}

// SignInName is the first part of the host name to which providers send browsers back. No service
// has it: their names end at random.
const SignInName = "signin"

// ServeCallback serves [signin.CallbackPath], to which providers send browsers back.
func (p *Site) ServeCallback(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != signin.CallbackPath {
		answer(w, r, http.StatusNotFound, noService)
	} else if err := p.visits.signIn.Callback(w, r); err != nil {
		refuse(w, r, err)
	}
}

// prove serves the paths at which a visitor proves an address.
func (v *Visits) prove(w http.ResponseWriter, r *http.Request, s protocol.Service) {
	if r.Method != http.MethodGet && isFromOtherSite(r) {
		answer(w, r, http.StatusForbidden, otherSite)
		return
	}
	if r.URL.Path == signin.PasskeyPath && r.Method == http.MethodGet {
		p := passkeyPage
		p.To = signin.LocalPath(r.URL.Query().Get("to"))
		answer(w, r, http.StatusOK, p)
		return
	}
	if r.URL.Path == signin.MailedPath {
		answer(w, r, http.StatusOK, mailedPage)
		return
	}
	proof, err := v.signIn.Serve(w, r, s)
	if err == nil && proof != nil {
		err = v.welcome(w, r, s, *proof)
	}
	if err != nil {
		refuse(w, r, err)
	}
}

// welcome signs in who has proven an address, whether or not it is on the list: check decides at
// each request what they may do.
func (v *Visits) welcome(w http.ResponseWriter, r *http.Request, s protocol.Service, proof signin.Proof) error {
	secret, now, life := rand.Text(), time.Now(), visitLife
	visit := store.Visit{Hash: hash(secret), Service: s.ID, IsOwner: proof.IsOwner, Verified: proof.Provider}
	if proof.ByPasskey {
		visit.Verified = "a passkey"
	}
	if !proof.IsOwner {
		var err error
		visit.Email, err = normalAddress(proof.Email)
		if err != nil || strings.Contains(visit.Email, "*") { // which would be a pattern
			return &signin.Refusal{Status: http.StatusForbidden, Title: "This address cannot be used", Text: proof.Email + " is no address that can be on a list of visitors."}
		}
		if !Matches(s.Visitors, visit.Email) {
			life = linkLife
		}
	}
	visit.ExpiresAt = now.Add(life).UnixMilli()
	if err := v.store.PutVisit(r.Context(), visit, now.UnixMilli()); err != nil {
		return err
	}
	slog.Info("A visitor signed in", "service", s.ID, "email", visit.Email)
	setCookie(w, r, s.ID, secret, int(life.Seconds()))
	if proof.ByPasskey || life < visitLife {
		http.Redirect(w, r, proof.To, http.StatusSeeOther)
		return nil
	}
	v.goOn(w, r, s, visit, proof.To)
	return nil
}

// goOn leads a visitor who has just signed in to a path of the app. A browser comes by the offer of
// a passkey if the visitor has none.
func (v *Visits) goOn(w http.ResponseWriter, r *http.Request, s protocol.Service, visit store.Visit, to string) {
	who := signin.Visitor{Email: visit.Email, IsOwner: visit.IsOwner}
	if strings.Contains(r.Header.Get("Accept"), "text/html") && v.signIn.OfferPasskey(w, r, s, who) {
		to = signin.PasskeyPath + "?" + url.Values{"to": {to}}.Encode()
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// refuse shows why a sign-in failed.
func refuse(w http.ResponseWriter, r *http.Request, err error) {
	var why *signin.Refusal
	if !errors.As(err, &why) {
		slog.Error("A visitor could not sign in", "err", err)
		answer(w, r, http.StatusInternalServerError, broken)
		return
	}
	answer(w, r, why.Status, page{Title: why.Title, Text: why.Text, Back: why.Back})
}

// signInPage shows the ways in which a visitor can sign in, and leads back to where the visitor is.
func (v *Visits) signInPage(r *http.Request, s protocol.Service) page {
	p := signIn
	p.To = wantedPath(r)
	if p.Ways = v.signIn.Ways(r, s); p.Ways.IsEmpty() {
		return p
	}
	if p.Ways.Passkey {
		p.Passkey = "get"
	}
	p.Text = "Show that you are one of the visitors of this app. A link from its owner works too."
	return p
}

// wantedPath returns the path to which a visitor comes back after signing in. It is a path of the
// app, also if somebody else chose the address.
func wantedPath(r *http.Request) string {
	if r.Method != http.MethodGet {
		return "/"
	}
	return signin.LocalPath(r.URL.RequestURI())
}

package service

import (
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/signin"
	"fairlead/gateway/store"
)

// SignIn lets visitors prove that they have an email address.
type SignIn interface {
	// Ways returns the ways that work at the host of a request.
	Ways(*http.Request) []signin.Way
	// Serve answers a request for a path of its own on the host of a service. It returns what the
	// visitor has proven; without that and without an error, it has answered.
	Serve(http.ResponseWriter, *http.Request, protocol.ServiceID) (*signin.Proof, error)
	// Callback answers the browser that comes back from a provider, and hands over to the service.
	Callback(http.ResponseWriter, *http.Request) error
	// Allow reports whether the source of a request may try one more secret.
	Allow(*http.Request) bool
}

// SignInName is the first part of the host name to which providers send browsers back. No service has
// it: their names end at random.
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
	proof, err := v.signIn.Serve(w, r, s.ID)
	if err == nil && proof != nil {
		err = v.welcome(w, r, s, *proof)
	}
	if err != nil {
		refuse(w, r, err)
	}
}

// welcome signs in who has proven an address, whether or not it is on the list: check decides at each
// request what they may do.
func (v *Visits) welcome(w http.ResponseWriter, r *http.Request, s protocol.Service, proof signin.Proof) error {
	email, err := normalAddress(proof.Email)
	if err != nil || strings.Contains(email, "*") { // which would be a pattern
		return &signin.Refusal{Status: http.StatusForbidden, Title: "This address cannot be used", Text: proof.Email + " is no address that can be on a list of visitors."}
	}
	life := visitLife
	if !Matches(s.Visitors, email) {
		life = linkLife
	}
	secret, now := rand.Text(), time.Now()
	visit := store.Visit{Hash: hash(secret), Service: s.ID, Email: email, ExpiresAt: now.Add(life).UnixMilli()}
	if err := v.store.PutVisit(r.Context(), visit, now.UnixMilli()); err != nil {
		return err
	}
	slog.Info("A visitor signed in", "service", s.ID, "email", email)
	setCookie(w, r, s.ID, secret, int(life.Seconds()))
	http.Redirect(w, r, proof.To, http.StatusSeeOther)
	return nil
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
func (v *Visits) signInPage(r *http.Request) page {
	p := signIn
	if p.Ways = v.signIn.Ways(r); len(p.Ways) == 0 {
		return p
	}
	p.Text, p.Back = "Show that you are one of the visitors of this app. A link from its owner works too.", "/"
	if r.Method == http.MethodGet {
		p.Back = r.URL.RequestURI()
	}
	return p
}

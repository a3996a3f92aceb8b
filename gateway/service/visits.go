package service

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/signin"
	"fairlead/gateway/store"
)

// VisitStore stores what lets visitors in.
type VisitStore interface {
	PutVisit(ctx context.Context, v store.Visit, now int64) error
	Visit(ctx context.Context, hash string, now int64) (store.Visit, bool, error)
	Enter(ctx context.Context, link, hash string, now, until int64) (store.Visit, bool, error)
	DeleteVisit(ctx context.Context, hash string) error
}

// How long a link can be used, and how long a sign-in lasts.
const (
	linkLife  = 24 * time.Hour
	visitLife = 30 * 24 * time.Hour
)

// Visits let visitors in: the owner, and those on the list of a service.
type Visits struct {
	store   VisitStore
	signIn  SignIn
	guesses *signin.Limits // of links
	// present returns the sign-in of somebody who visits a service now. The site sets it.
	present func(id protocol.ServiceID, hash string) (store.Visit, bool)
}

// NewVisits returns visits that a store holds.
func NewVisits(s VisitStore, in SignIn) *Visits {
	return &Visits{store: s, signIn: in, guesses: signin.NewLimits()}
}

// Link returns an address that lets one visitor in, once, within a day. Without an email it is for the
// owner. The error is a *protocol.Fault, or that of the store.
func (v *Visits) Link(ctx context.Context, s protocol.Service, email string) (string, error) {
	now := time.Now()
	visit := store.Visit{Service: s.ID, IsLink: true, IsOwner: email == "", ExpiresAt: now.Add(linkLife).UnixMilli()}
	if email != "" {
		var err error
		if visit.Email, err = normalAddress(email); err != nil {
			return "", err
		}
		if !Matches(s.Visitors, visit.Email) {
			return "", protocol.NewFault(protocol.FaultFailedPrecondition, visit.Email+" is not among the visitors of this service: add the address first")
		}
	}
	secret := rand.Text()
	visit.Hash = hash(secret)
	if err := v.store.PutVisit(ctx, visit, now.UnixMilli()); err != nil {
		return "", err
	}
	return strings.TrimSuffix(s.URL, "/") + enterPath + "?" + url.Values{"link": {secret}}.Encode(), nil
}

func hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

// Names of the site's own cookie begin so. Over TLS a browser accepts the first one only from this
// very host. The ID of the service follows: browsers do not keep the cookies of two ports apart.
const (
	safeCookie  = "__Host-fairlead-visit-"
	plainCookie = "fairlead-visit-"
)

// isOwnCookie reports whether a cookie is one of the site, or of package signin.
func isOwnCookie(name string) bool {
	return strings.HasPrefix(strings.TrimPrefix(name, "__Host-"), "fairlead-")
}

func cookieName(r *http.Request, id protocol.ServiceID) string {
	if r.TLS != nil {
		return safeCookie + string(id)
	}
	return plainCookie + string(id)
}

// access is what the sender of a request may do.
type access int

const (
	unknownVisitor  access = iota // they must sign in
	unlistedVisitor               // they signed in with an address that is not on the list, or no longer
	listedVisitor
)

// check returns who the sender of a request is, and what they may do now. On a service without a
// sign-in everyone may visit it, and nobody is known.
func (v *Visits) check(r *http.Request, s protocol.Service) (store.Visit, access, error) {
	if !s.SignIn {
		return store.Visit{}, listedVisitor, nil
	}
	c, err := r.Cookie(cookieName(r, s.ID))
	if err != nil {
		return store.Visit{}, unknownVisitor, nil
	}
	hash := hash(c.Value)
	if visit, ok := v.present(s.ID, hash); ok { // without the database
		return visit, listedVisitor, nil
	}
	visit, ok, err := v.store.Visit(r.Context(), hash, time.Now().UnixMilli())
	switch {
	case !ok || visit.Service != s.ID:
		return store.Visit{}, unknownVisitor, err
	case lets(s, visit):
		return visit, listedVisitor, nil
	}
	return visit, unlistedVisitor, nil
}

// lets reports whether a service lets a visitor in now.
func lets(s protocol.Service, v store.Visit) bool {
	return !s.SignIn || v.IsOwner || v.IsGranted || Matches(s.Visitors, v.Email)
}

// fromOf returns the network address of a visitor.
func fromOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// leave signs a visitor out, and returns the hash of the sign-in that has ended, if any.
func (v *Visits) leave(w http.ResponseWriter, r *http.Request, s protocol.Service) (visit string) {
	if r.Method != http.MethodPost {
		answer(w, r, http.StatusOK, leavePage)
		return ""
	}
	if isFromOtherSite(r) {
		answer(w, r, http.StatusForbidden, otherSite)
		return ""
	}
	if c, err := r.Cookie(cookieName(r, s.ID)); err == nil {
		visit = hash(c.Value)
		if err := v.store.DeleteVisit(r.Context(), visit); err != nil {
			slog.Error("A visitor could not sign out", "service", s.ID, "err", err)
			answer(w, r, http.StatusInternalServerError, broken)
			return ""
		}
	}
	setCookie(w, r, s.ID, "", -1)
	http.Redirect(w, r, "/", http.StatusSeeOther)
	return visit
}

func setCookie(w http.ResponseWriter, r *http.Request, id protocol.ServiceID, secret string, seconds int) {
	http.SetCookie(w, &http.Cookie{
		Name: cookieName(r, id), Value: secret, Path: "/", MaxAge: seconds, HttpOnly: true, Secure: r.TLS != nil, SameSite: http.SameSiteLaxMode,
	})
}

// maxForm is the greatest size of the form with a link, in bytes.
const maxForm = 4096

// isFromOtherSite reports whether a page of another site sent a form.
func isFromOtherSite(r *http.Request) bool {
	site := r.Header.Get("Sec-Fetch-Site")
	u, err := url.Parse(r.Header.Get("Origin"))
	return site != "" && site != "same-origin" || err != nil || r.Header.Get("Origin") != "" && !strings.EqualFold(u.Host, r.Host)
}

// enter lets a visitor in who has a link. Only the button on the page uses it up: programs that look
// at links in messages do not. An owner who is signed in already goes on to the app.
func (v *Visits) enter(w http.ResponseWriter, r *http.Request, s protocol.Service) {
	if r.Method != http.MethodPost {
		to := signin.LocalPath(r.URL.Query().Get("to"))
		if visit, _, err := v.check(r, s); err == nil && visit.IsOwner {
			http.Redirect(w, r, to, http.StatusSeeOther)
			return
		}
		p := enterPage
		p.Title, p.Link, p.To = "Open "+s.Title, r.URL.Query().Get("link"), to
		answer(w, r, http.StatusOK, p)
		return
	}
	if isFromOtherSite(r) {
		answer(w, r, http.StatusForbidden, otherSite)
		return
	}
	if !v.guesses.Allow(r) {
		refuse(w, r, signin.TooMany)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	link, secret := r.PostFormValue("link"), rand.Text()
	now := time.Now()
	visit, ok, err := v.store.Enter(r.Context(), hash(link), hash(secret), now.UnixMilli(), now.Add(visitLife).UnixMilli())
	switch {
	case err != nil:
		slog.Error("A visitor could not enter", "service", s.ID, "err", err)
		answer(w, r, http.StatusInternalServerError, broken)
	case !ok || visit.Service != s.ID:
		answer(w, r, http.StatusForbidden, usedLink)
	default:
		setCookie(w, r, s.ID, secret, int(visitLife.Seconds()))
		v.goOn(w, r, s, visit, signin.LocalPath(r.PostFormValue("to")))
	}
}

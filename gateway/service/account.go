package service

import (
	"context"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// PasskeyStore has the passkeys of visitors.
type PasskeyStore interface {
	Passkeys(context.Context, protocol.ServiceID) ([]store.Passkey, error)
	DeletePasskey(ctx context.Context, service protocol.ServiceID, id string) error
}

// pageKey is a passkey on the page of a visitor's sign-in.
type pageKey struct{ ID, Made string }

// serveAccount shows visitors who they are to a service, deletes their passkeys, and lets them sign
// out.
func (p *Site) serveAccount(w http.ResponseWriter, r *http.Request, v protocol.Service) {
	visit, may, err := p.visits.check(r, v)
	switch {
	case err != nil:
	case !v.SignIn:
		answer(w, r, http.StatusNotFound, noService)
	case may == unknownVisitor:
		p.requests.show(w, r, v, p.visits.signInPage(r, v), http.StatusUnauthorized)
	case r.Method == http.MethodPost && isFromOtherSite(r):
		answer(w, r, http.StatusForbidden, otherSite)
	case r.Method == http.MethodPost:
		r.Body = http.MaxBytesReader(w, r.Body, maxForm)
		if err = p.deletePasskey(r.Context(), v.ID, visit, r.PostFormValue("passkey")); err == nil {
			http.Redirect(w, r, accountPath, http.StatusSeeOther)
		}
	default:
		var list []store.Passkey
		if list, err = p.passkeysOf(r.Context(), v.ID, visit); err == nil {
			answer(w, r, http.StatusOK, p.accountPage(v, visit, list))
		}
	}
	if err != nil {
		slog.Error("The page of a visitor's sign-in failed", "service", v.ID, "err", err)
		answer(w, r, http.StatusInternalServerError, broken)
	}
}

// passkeysOf returns the passkeys of the visitor of a sign-in.
func (p *Site) passkeysOf(ctx context.Context, id protocol.ServiceID, visit store.Visit) ([]store.Passkey, error) {
	list, err := p.passkeys.Passkeys(ctx, id)
	return slices.DeleteFunc(list, func(k store.Passkey) bool { return k.IsOwner != visit.IsOwner || k.Email != visit.Email }), err
}

// deletePasskey deletes a passkey if it belongs to the visitor of a sign-in.
func (p *Site) deletePasskey(ctx context.Context, id protocol.ServiceID, visit store.Visit, passkey string) error {
	list, err := p.passkeysOf(ctx, id, visit)
	if err != nil || !slices.ContainsFunc(list, func(k store.Passkey) bool { return k.ID == passkey }) {
		return err
	}
	return p.passkeys.DeletePasskey(ctx, id, passkey)
}

// accountPage is the page for the visitor of a sign-in; list has their passkeys.
func (p *Site) accountPage(v protocol.Service, visit store.Visit, list []store.Passkey) page {
	who := visit.Email
	if visit.IsOwner {
		who = "its owner"
	}
	a := page{Title: v.Title, Text: "You are signed in as " + who + ". ", Leaves: true}
	for _, k := range list {
		a.Passkeys = append(a.Passkeys, pageKey{k.ID, time.UnixMilli(k.CreatedAt).In(p.presence.zone()).Format("2 January 2006 15:04")})
	}
	if len(a.Passkeys) == 0 {
		a.Text += "You have no passkey for this app."
	} else {
		a.Text += "A deleted passkey no longer signs you in."
	}
	return a
}

package service

import (
	"cmp"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/signin"
	"fairlead/gateway/store"
)

// state returns what became of the request of a browser that may not visit a service: one of
// store.VisitWaiting and so on, or an empty text.
func (q *requests) state(r *http.Request, s protocol.Service) (string, error) {
	c, err := r.Cookie(cookieName(r, s.ID))
	if err != nil {
		return "", nil
	}
	visit, ok, err := q.store.AskingVisit(r.Context(), hash(c.Value), time.Now().UnixMilli())
	if err != nil || !ok || visit.Service != s.ID {
		return "", err
	}
	return visit.State, nil
}

// show answers a visitor who may not visit a service: with a page that has the form, or with what
// became of it.
func (q *requests) show(w http.ResponseWriter, r *http.Request, s protocol.Service, form page, status int) {
	state, err := q.state(r, s)
	switch {
	case err != nil:
		slog.Error("A visitor could not be checked", "service", s.ID, "err", err)
		answer(w, r, http.StatusInternalServerError, broken)
	case state == store.VisitWaiting:
		answer(w, r, http.StatusUnauthorized, waiting)
	case state == store.VisitDenied:
		answer(w, r, http.StatusForbidden, refused)
	default:
		answer(w, r, status, form)
	}
}

// verifiedBy says who has proven the address of a sign-in; empty: nobody.
func verifiedBy(v store.Visit) string {
	if v.IsClaimed {
		return ""
	}
	return cmp.Or(v.Verified, "a link that you gave out")
}

// serve takes the form with which a visitor asks for access. known is their sign-in, with an
// address that is not on the list; zero for others. form is the page that has the form.
func (q *requests) serve(w http.ResponseWriter, r *http.Request, s protocol.Service, known store.Visit, form page) {
	if r.Method != http.MethodPost {
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return
	}
	if isFromOtherSite(r) {
		answer(w, r, http.StatusForbidden, otherForm)
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	form.To = signin.LocalPath(r.PostFormValue("to"))
	state, err := q.state(r, s)
	if err == nil && state != "" {
		http.Redirect(w, r, form.To, http.StatusSeeOther)
		return
	}
	asks := protocol.VisitSubject{Email: r.PostFormValue("email"), From: fromOf(r), Message: r.PostFormValue("message")}
	if known.Email != "" {
		asks.Email, asks.Verified = known.Email, verifiedBy(known)
	}
	secret := ""
	if err == nil {
		secret, err = q.ask(r.Context(), s, asks)
	}
	_, isFault := errors.AsType[*protocol.Fault](err)
	switch {
	case err == nil:
		setCookie(w, r, s.ID, secret, int((requestLife + visitLife).Seconds())) // the longest sign-in begins with the answer
		http.Redirect(w, r, form.To, http.StatusSeeOther)
	case isFault:
		form.Problem, form.Email = "Enter your email address, such as ann@company.com.", asks.Email
		answer(w, r, http.StatusBadRequest, form)
	case errors.Is(err, protocol.ErrTooMany):
		answer(w, r, http.StatusTooManyRequests, busy)
	default:
		slog.Error("A visitor could not ask for access", "service", s.ID, "err", err)
		answer(w, r, http.StatusInternalServerError, broken)
	}
}

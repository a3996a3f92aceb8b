package service

import (
	_ "embed"
	"html/template"
	"net/http"
	"strings"

	"fairlead/gateway/signin"
)

// page is what a visitor sees instead of the app.
type page struct {
	Title, Text string
	Retries     bool   // it loads again by itself
	Link        string // secret of a link that the page's button uses
	Leaves      bool   // its button signs the visitor out
	Ways        signin.Ways
	Passkey     string // what its form does with a passkey: create or get
	To          string // where the visitor goes after signing in
	Back        string // where the visitor can try again
	Passkeys    []pageKey

	// Asks shows the form with which a visitor asks for access. Email is the address that they sign in
	// with, or the one that they entered, with its Problem.
	Asks           bool
	Email, Problem string
}

var (
	noService   = page{Title: "There is nothing here", Text: "This address leads to no app now. Its owner may have closed it."}
	signIn      = page{Title: "Sign in", Text: "Open this address with the link that its owner gave you. A link works once; then this browser is known.", Asks: true}
	usedLink    = page{Title: "This link does not work", Text: "It was used already or is older than a day. Ask the owner for a new one."}
	otherSite   = page{Title: "Open the link again", Text: "Another site tried to use this link for you."}
	neighbour   = page{Title: "Another app tried to use this one", Text: "A page of another app made this request. Open this app itself instead."}
	untrusted   = page{Title: "The app has another certificate", Text: "The gateway does not trust the certificate that the app shows now. Only its owner can trust it. This page tries again by itself.", Retries: true}
	offline     = page{Title: "The computer is offline", Text: "The app runs on a computer that is not connected now. This page tries again by itself.", Retries: true}
	denied      = page{Title: "The computer does not allow this", Text: "Its owner has not allowed the address to which this app leads."}
	silent      = page{Title: "The app does not answer", Text: "The computer is there, but the app on it does not answer. This page tries again by itself.", Retries: true}
	misplaced   = page{Title: "There is nothing here", Text: "No app has this address. Check it, or ask the owner for a new link."}
	loop        = page{Title: "This app leads to Fairlead itself", Text: "Its owner can change it to the address of an app."}
	noProxy     = page{Title: "This address is for a proxy", Text: "The owner can name the proxy's address in the setting services.trustedProxies."}
	broken      = page{Title: "Something went wrong", Text: "The gateway could not do this. Its log says why.", Retries: true}
	passkeyPage = page{Title: "Use a passkey next time?", Text: "You then sign in to this app with your fingerprint, your face or the PIN of your device.", Passkey: "create"}
	mailedPage  = page{Title: "Look into your mail", Text: "If this address is among the visitors, a link is on its way. It works once, within a day."}
	leavePage   = page{Title: "Sign out?", Text: "This app then asks you to sign in again.", Leaves: true}
	enterPage   = page{Text: "The link works once. Then this browser is known."}
	waiting     = page{Title: "The owner has been asked", Text: "Keep this page open: it looks again by itself, and shows the app once the owner has agreed.", Retries: true}
	refused     = page{Title: "The owner said no", Text: "You can ask again in a day."}
	busy        = page{Title: "You cannot ask now", Text: "Too many requests are waiting, or somebody has asked with this address within a day. Try again later."}
	otherForm   = page{Title: "Open the app again", Text: "Another site tried to ask for access for you."}
)

// unlisted is the page for somebody who signed in with an address that is not on the list.
func unlisted(email, to string) page {
	return page{Title: "You are not among the visitors", Text: "You signed in as " + email + ". The owner of this app has not added this address.", Leaves: true, Asks: true, Email: email, To: to}
}

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// AnswerMisdirected answers a request whose host belongs to no app at this listener.
func AnswerMisdirected(w http.ResponseWriter, r *http.Request) {
	answer(w, r, http.StatusMisdirectedRequest, misplaced)
}

// AnswerNoProxy answers a request that comes from no trusted proxy.
func AnswerNoProxy(w http.ResponseWriter, r *http.Request) {
	answer(w, r, http.StatusForbidden, noProxy)
}

// answer shows a page, or its text to programs.
func answer(w http.ResponseWriter, r *http.Request, status int, p page) {
	h := w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	if !strings.Contains(r.Header.Get("Accept"), "text/html") {
		http.Error(w, p.Title+". "+p.Text, status)
		return
	}
	h.Set("Content-Type", "text/html; charset=utf-8")
	policy := "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; frame-ancestors 'none'"
	if p.Passkey != "" {
		policy += "; script-src 'self'; connect-src 'self'"
	}
	h.Set("Content-Security-Policy", policy)
	// The app must not see the link, but with no-referrer browsers send the page's own form with the
	// origin null, as if another site had sent it.
	h.Set("Referrer-Policy", "strict-origin")
	w.WriteHeader(status)
	_ = pageTemplate.Execute(w, p) // the visitor may have left
}

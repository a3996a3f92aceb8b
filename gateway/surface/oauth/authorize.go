package oauth

import (
	"context"
	_ "embed"
	"errors"
	"html/template"
	"net/http"
	"net/url"
	"sync"
	"time"

	"fairlead/gateway/apps"
	"fairlead/gateway/auth"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/publicnet"
	"fairlead/gateway/protocol"
	"fairlead/gateway/surface/bearer"
)

//go:embed page.html
var pageText string

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// shown is what the page in the browser shows.
type shown struct {
	Title, Text, Code string
	Waits             bool // it asks again every second
}

func page(w http.ResponseWriter, status int, s shown) {
	bearer.SetPageHeaders(w.Header())
	w.WriteHeader(status)
	pageTemplate.Execute(w, s)
}

// request is a request to connect that waits for the person.
type request struct {
	program
	redirect, state, challenge, resource, issuer string
}

// pendings are the requests that wait, by the secret of the page that waits with them.
type pendings struct {
	mu  sync.Mutex // guards all
	all map[string]*pending
}

type pending struct {
	request
	consent protocol.Question
	answer  <-chan apps.Decision
	cancel  context.CancelFunc
}

// authorize begins to connect an app: it asks the person, and shows a page that waits for the
// answer. Errors go to the program only if its redirect address is known to be its own.
func (h *handler) authorize(w http.ResponseWriter, r *http.Request) {
	// A picture or a frame in a web page, or a browser that looks ahead, must not ask the person.
	if to := r.Header.Get("Sec-Fetch-Dest"); to != "" && to != "document" || r.Header.Get("Sec-Purpose") != "" {
		page(w, http.StatusBadRequest, shown{Title: "This request is not valid", Text: "Open this address in a window of your browser."})
		return
	}
	q := r.URL.Query()
	for name, values := range q {
		if len(values) > 1 && name != "resource" {
			page(w, http.StatusBadRequest, shown{Title: "This request is not valid", Text: "The parameter " + name + " is given twice."})
			return
		}
	}
	p, err := h.find(r.Context(), q.Get("client_id"))
	if err != nil {
		text := "Fairlead does not know this app. Connect it again."
		if f, ok := errors.AsType[failure](err); ok {
			text = f.Description
		}
		page(w, http.StatusBadRequest, shown{Title: "This app cannot connect", Text: text})
		return
	}
	redirect := q.Get("redirect_uri")
	if redirect == "" && len(p.redirects) == 1 {
		redirect = p.redirects[0]
	}
	if !p.allows(redirect) {
		page(w, http.StatusBadRequest, shown{Title: "This app cannot connect", Text: "The address to which the browser should return does not belong to this app."})
		return
	}
	req := request{program: p, redirect: redirect, state: q.Get("state"), challenge: q.Get("code_challenge"), issuer: h.Base(r)}
	scopes := parseScopes(q.Get("scope"))
	if len(scopes) == 0 {
		scopes = []protocol.Scope{protocol.ScopeNetworkRead, protocol.ScopeFilesRead}
	}
	var ok bool
	req.resource, ok = h.resource(r, q["resource"])
	switch {
	case q.Get("response_type") != "code":
		req.refuse(w, r, "unsupported_response_type", "response_type must be code")
	case len(req.challenge) != 43 || q.Get("code_challenge_method") != "S256":
		req.refuse(w, r, "invalid_request", "code_challenge with method S256 is required")
	case !ok:
		req.refuse(w, r, "invalid_target", "the resource is not this gateway")
	default:
		h.ask(w, r, req, scopes)
	}
}

// ask asks the person and shows the page that waits.
func (h *handler) ask(w http.ResponseWriter, r *http.Request, req request, scopes []protocol.Scope) {
	back, _ := url.Parse(req.redirect) // checked by allows
	ctx, cancel := context.WithCancel(context.WithoutCancel(r.Context()))
	consent, answer, err := h.Apps.Ask(ctx, protocol.AppSubject{
		Name: req.name, ClientID: req.id, ClientHost: req.host, RedirectHost: back.Hostname(), IsLocal: publicnet.IsLoopback(back.Hostname()), Scopes: scopes,
	})
	if err != nil {
		cancel()
		req.refuse(w, r, "temporarily_unavailable", err.Error())
		return
	}
	secret := auth.NewToken("")
	h.pending.mu.Lock()
	h.pending.all[secret] = &pending{req, consent, answer, cancel}
	h.pending.mu.Unlock()
	crash.AfterFunc(time.Until(time.UnixMilli(consent.ExpiresAt))+time.Minute, func() {
		cancel()
		h.pending.mu.Lock()
		delete(h.pending.all, secret)
		h.pending.mu.Unlock()
	})
	http.Redirect(w, r, waitPath+"?id="+secret, http.StatusFound)
}

// wait shows the page that waits for the person, and at the end leads back to the program.
func (h *handler) wait(w http.ResponseWriter, r *http.Request) {
	secret := r.URL.Query().Get("id")
	h.pending.mu.Lock()
	p := h.pending.all[secret]
	h.pending.mu.Unlock()
	if p == nil {
		page(w, http.StatusNotFound, shown{Title: "This request has ended", Text: "Connect the app again."})
		return
	}
	select {
	case d, answered := <-p.answer:
		h.pending.mu.Lock()
		_, first := h.pending.all[secret]
		delete(h.pending.all, secret)
		h.pending.mu.Unlock()
		p.cancel()
		switch {
		case !first:
			page(w, http.StatusNotFound, shown{Title: "This request has ended", Text: "Connect the app again."})
		case !answered:
			p.fail(w, r, "access_denied", "nobody answered in Fairlead in time")
		case !d.Allowed:
			p.fail(w, r, "access_denied", "the owner refused")
		default:
			h.keepRegistration(r.Context(), p.program)
			p.succeed(w, r, h.codes.add(code{app: d.App.ID, scopes: d.Scopes, client: p.id, redirect: p.redirect, challenge: p.challenge, resource: p.resource}))
		}
	default:
		page(w, http.StatusOK, shown{
			Title: "Allow it in Fairlead", Text: "Fairlead asks you now whether this app may connect. Compare the code: it must be the same in both places. " +
				"Without a window, use: fairlead approve " + p.consent.App.Code, Code: p.consent.App.Code, Waits: true,
		})
	}
}

// refuse refuses a request of which the person knows nothing. It leads only to a program on this
// computer: anybody can publish one with a web address, and would have the gateway lead browsers
// there (RFC 9700, section 4.11.2).
func (q request) refuse(w http.ResponseWriter, r *http.Request, code, description string) {
	if u, err := url.Parse(q.redirect); err != nil || !publicnet.IsLoopback(u.Hostname()) {
		page(w, http.StatusBadRequest, shown{Title: "This app cannot connect", Text: description})
		return
	}
	q.fail(w, r, code, description)
}

func (q request) fail(w http.ResponseWriter, r *http.Request, code, description string) {
	q.back(w, r, url.Values{"error": {code}, "error_description": {description}})
}

func (q request) succeed(w http.ResponseWriter, r *http.Request, code string) {
	q.back(w, r, url.Values{"code": {code}})
}

// back leads the browser back to the program, with the server's name (RFC 9207).
func (q request) back(w http.ResponseWriter, r *http.Request, values url.Values) {
	u, err := url.Parse(q.redirect)
	if err != nil {
		page(w, http.StatusBadRequest, shown{Title: "This app cannot connect", Text: "Its address is not valid."})
		return
	}
	all := u.Query()
	for name, value := range values {
		all[name] = value
	}
	if q.state != "" {
		all.Set("state", q.state)
	}
	all.Set("iss", q.issuer)
	u.RawQuery = all.Encode()
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	http.Redirect(w, r, u.String(), http.StatusFound)
}

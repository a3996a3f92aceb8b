package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/peer/publicnet"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// program is a client of OAuth.
type program struct {
	id, name  string
	host      string // that published it; empty if nobody has proven who it is
	redirects []string
}

// Limits of documents and registrations.
const (
	maxDocument  = 10 << 10 // bytes
	maxRedirects = 20
	// unusedClient is how long a registration stays that never connected an app.
	unusedClient = 24 * time.Hour
	maxClients   = 1000
	maxName      = 100 // characters
)

// find returns the program with a client ID: an address whose document describes it (a client ID
// metadata document), or an ID from a registration.
func (h *handler) find(ctx context.Context, id string) (program, error) {
	if strings.HasPrefix(id, "https://") {
		return h.fetchProgram(ctx, id)
	}
	list, err := h.Clients.Clients(ctx)
	if err != nil {
		return program{}, err
	}
	for _, c := range list {
		if c.ID == id {
			return program{id: c.ID, name: c.Name, redirects: c.RedirectURIs}, nil
		}
	}
	return program{}, failure{"invalid_client", "the client is not registered: register it again"}
}

// checkRedirects checks the addresses to which the browser may return: https, or a program on this
// computer.
func checkRedirects(list []string) error {
	if len(list) == 0 || len(list) > maxRedirects {
		return failure{"invalid_redirect_uri", fmt.Sprintf("1 to %d redirect addresses are needed", maxRedirects)}
	}
	for _, text := range list {
		u, err := url.Parse(text)
		switch {
		case err != nil || !isPlainHost(u.Host) || u.User != nil || u.Fragment != "" || strings.Contains(text, "*"):
			return failure{"invalid_redirect_uri", "a redirect address must be complete, without user name and fragment"}
		case u.Scheme == "https", u.Scheme == "http" && publicnet.IsLoopback(u.Hostname()):
		default:
			return failure{"invalid_redirect_uri", "a redirect address must be https, or http to this computer"}
		}
	}
	return nil
}

// isPlainHost reports whether a host has only the characters of a domain name or an address. The
// person decides by it, and letters of other alphabets look like these.
func isPlainHost(host string) bool {
	return host != "" && !strings.ContainsFunc(host, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-.:[]", r)
	})
}

// allows reports whether the browser may return to an address: one that the program named, exactly.
// The port of a program on this computer may differ, because it is chosen when the program starts
// (RFC 8252, section 7.3).
func (p program) allows(redirect string) bool {
	if slices.Contains(p.redirects, redirect) {
		return true
	}
	u, err := url.Parse(redirect)
	if err != nil || u.Scheme != "http" || u.User != nil || u.Fragment != "" || !publicnet.IsLoopback(u.Hostname()) {
		return false
	}
	return slices.ContainsFunc(p.redirects, func(known string) bool {
		k, err := url.Parse(known)
		return err == nil && k.Scheme == u.Scheme && k.Hostname() == u.Hostname() && k.EscapedPath() == u.EscapedPath() && k.RawQuery == u.RawQuery
	})
}

// register takes the registration of a program (RFC 7591). It proves nothing about who it is.
func (h *handler) register(w http.ResponseWriter, r *http.Request) {
	var in struct {
		ClientName   string   `json:"client_name"`
		RedirectURIs []string `json:"redirect_uris"`
		AuthMethod   string   `json:"token_endpoint_auth_method"`
		GrantTypes   []string `json:"grant_types"`
		Scope        string   `json:"scope"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxDocument)).Decode(&in); err != nil {
		refuse(w, http.StatusBadRequest, "invalid_client_metadata", "the body must be a JSON object of at most 10 KiB")
		return
	}
	if in.AuthMethod != "" && in.AuthMethod != "none" {
		refuse(w, http.StatusBadRequest, "invalid_client_metadata", "token_endpoint_auth_method must be none")
		return
	}
	if err := checkRedirects(in.RedirectURIs); err != nil {
		reply(w, http.StatusBadRequest, err)
		return
	}
	now := time.Now()
	if err := h.makeRoom(r.Context()); err != nil {
		refuse(w, http.StatusServiceUnavailable, "temporarily_unavailable", "too many programs are registered")
		return
	}
	c := store.AppClient{ID: "client_" + protocol.NewID(), Name: format.Line(in.ClientName, maxName), RedirectURIs: in.RedirectURIs, CreatedAt: now.UnixMilli()}
	if err := h.Clients.PutClient(r.Context(), c); err != nil {
		refuse(w, http.StatusServiceUnavailable, "temporarily_unavailable", "the registration could not be stored")
		return
	}
	reply(w, http.StatusCreated, map[string]any{
		"client_id": c.ID, "client_id_issued_at": now.Unix(), "client_name": c.Name, "redirect_uris": c.RedirectURIs, "token_endpoint_auth_method": "none",
		"grant_types": []string{"authorization_code", "refresh_token"}, "response_types": []string{"code"},
	})
}

// makeRoom deletes the registrations that are of no use. If there are too many, it deletes the
// oldest that never connected an app, so that nobody can keep others from registering.
func (h *handler) makeRoom(ctx context.Context) error {
	if err := h.Clients.DeleteClients(ctx, time.Now().Add(-unusedClient).UnixMilli()); err != nil {
		return err
	}
	list, err := h.Clients.Clients(ctx)
	if err != nil || len(list) < maxClients {
		return err
	}
	i := slices.IndexFunc(list, func(c store.AppClient) bool { return c.UsedAt == 0 }) // the oldest come first
	if i < 0 {
		return errors.New("all registrations are in use")
	}
	return h.Clients.DeleteClients(ctx, list[i].CreatedAt+1)
}

// keepRegistration keeps the registration of a program that has connected an app. A failure only
// means that it has to register again some day.
func (h *handler) keepRegistration(ctx context.Context, p program) {
	if p.host == "" {
		now := time.Now().UnixMilli()
		h.Clients.PutClient(ctx, store.AppClient{ID: p.id, Name: p.name, RedirectURIs: p.redirects, CreatedAt: now, UsedAt: now})
	}
}

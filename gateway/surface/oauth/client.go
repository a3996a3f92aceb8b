package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/peer/display"
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
	fetchLimit   = 5 * time.Second
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

// fetchProgram reads the document at the address that is a program's ID.
func (h *handler) fetchProgram(ctx context.Context, id string) (program, error) {
	u, err := url.Parse(id)
	if err != nil || !isPlainHost(u.Host) || u.User != nil || u.Fragment != "" || len(u.Path) < 2 {
		return program{}, failure{"invalid_client", "the client ID must be an https address with a path"}
	}
	ctx, cancel := context.WithTimeout(ctx, fetchLimit)
	defer cancel()
	raw, err := h.Fetch(ctx, id)
	if err != nil {
		return program{}, failure{"invalid_client", "the document of the client could not be read: " + err.Error()}
	}
	var doc struct {
		ClientID     string   `json:"client_id"`
		ClientName   string   `json:"client_name"`
		RedirectURIs []string `json:"redirect_uris"`
		AuthMethod   string   `json:"token_endpoint_auth_method"`
	}
	switch {
	case json.Unmarshal(raw, &doc) != nil:
		return program{}, failure{"invalid_client", "the document of the client is not JSON"}
	case doc.ClientID != id:
		return program{}, failure{"invalid_client", "the document is that of another client"}
	case doc.AuthMethod != "" && doc.AuthMethod != "none":
		return program{}, failure{"invalid_client", "only public clients can sign in"}
	}
	return program{id: id, name: doc.ClientName, host: u.Host, redirects: doc.RedirectURIs}, checkRedirects(doc.RedirectURIs)
}

// FetchDocument reads a document over HTTPS from a public address. It refuses private addresses, also
// those that a name leads to, and follows no redirects.
func FetchDocument(ctx context.Context, address string) ([]byte, error) {
	dialer := &net.Dialer{ControlContext: publicnet.Control}
	return fetchDocument(ctx, &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true, ForceAttemptHTTP2: true, MaxResponseHeaderBytes: 16 << 10}, address)
}

// errUnreachable does not tell the cause: anybody may ask for an address, and would learn which names
// and machines this network has.
var errUnreachable = errors.New("it must be reachable over https at a public address, without redirects")

func fetchDocument(ctx context.Context, over http.RoundTripper, address string) ([]byte, error) {
	client := &http.Client{Transport: over, CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("it redirects") }}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, errUnreachable
	}
	r.Header.Set("Accept", "application/json")
	resp, err := client.Do(r)
	if err != nil {
		slog.Info("The document of an app that wants to connect cannot be read", "err", err)
		return nil, errUnreachable
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %s", resp.Status)
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	switch {
	case err != nil:
		return nil, errUnreachable
	case len(raw) > maxDocument:
		return nil, fmt.Errorf("it has more than %d bytes", maxDocument)
	}
	return raw, nil
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
		case u.Scheme == "https", u.Scheme == "http" && isLoopback(u.Hostname()):
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

func isLoopback(host string) bool {
	a, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && a.IsLoopback()
}

// allows reports whether the browser may return to an address: one that the program named, exactly.
// The port of a program on this computer may differ, because it is chosen when the program starts
// (RFC 8252, section 7.3).
func (p program) allows(redirect string) bool {
	if slices.Contains(p.redirects, redirect) {
		return true
	}
	u, err := url.Parse(redirect)
	if err != nil || u.Scheme != "http" || u.User != nil || u.Fragment != "" || !isLoopback(u.Hostname()) {
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
	c := store.AppClient{ID: "client_" + protocol.NewID(), Name: display.Line(in.ClientName, maxName), RedirectURIs: in.RedirectURIs, CreatedAt: now.UnixMilli()}
	if err := h.Clients.PutClient(r.Context(), c); err != nil {
		refuse(w, http.StatusServiceUnavailable, "temporarily_unavailable", "the registration could not be stored")
		return
	}
	reply(w, http.StatusCreated, map[string]any{
		"client_id": c.ID, "client_id_issued_at": now.Unix(), "client_name": c.Name, "redirect_uris": c.RedirectURIs, "token_endpoint_auth_method": "none",
		"grant_types": []string{"authorization_code", "refresh_token"}, "response_types": []string{"code"},
	})
}

// makeRoom deletes the registrations that are of no use. If there are too many, it deletes the oldest
// that never connected an app, so that nobody can keep others from registering.
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

// used keeps the registration of a program that has connected an app. A failure only means that it
// has to register again some day.
func (h *handler) used(ctx context.Context, p program) {
	if p.host == "" {
		now := time.Now().UnixMilli()
		h.Clients.PutClient(ctx, store.AppClient{ID: p.id, Name: p.name, RedirectURIs: p.redirects, CreatedAt: now, UsedAt: now})
	}
}

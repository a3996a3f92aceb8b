// Package oauth lets apps sign in: it is the authorization server of a gateway, with the parts of
// OAuth 2.1 that the Model Context Protocol needs. Its clients are public programs (PKCE with S256).
// The person decides in Fairlead's window, not in the browser. docs/oauth.md describes it.
package oauth

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"fairlead/gateway/apps"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
	"fairlead/gateway/surface/bearer"
)

// Apps keeps the apps and asks the person ([apps.Apps]).
type Apps interface {
	Ask(ctx context.Context, c protocol.AppSubject) (protocol.Question, <-chan apps.Decision, error)
	Issue(ctx context.Context, id protocol.AppID, resource string, scopes []protocol.Scope) (apps.SignIn, error)
	Refresh(ctx context.Context, token, clientID, resource string, scopes []protocol.Scope) (apps.SignIn, error)
	RevokeToken(ctx context.Context, token, clientID string) error
	Revoke(ctx context.Context, by string, id protocol.AppID) error
}

// Clients are the programs that registered themselves ([store.Apps]).
type Clients interface {
	Clients(ctx context.Context) ([]store.AppClient, error)
	PutClient(ctx context.Context, c store.AppClient) error
	DeleteClients(ctx context.Context, before int64) error
}

// Options are the parts that the handler uses.
type Options struct {
	Apps    Apps
	Clients Clients
	// Base returns the address of the gateway as the program sees it, without a path.
	Base func(*http.Request) string
	// Path is the path of the resource that tokens are for, such as /mcp.
	Path string
	// Fetch reads the document that describes a program; nil uses FetchDocument.
	Fetch func(ctx context.Context, address string) (Document, error)
}

type handler struct {
	Options
	mux       *http.ServeMux
	codes     codes
	pending   pendings
	limits    limits
	documents documentCache
}

// Paths of the server.
const (
	authorizePath = "/oauth/authorize"
	waitPath      = "/oauth/wait"
	tokenPath     = "/oauth/token"
	registerPath  = "/oauth/register"
	revokePath    = "/oauth/revoke"
	serverPath    = "/.well-known/oauth-authorization-server"
	resourcePath  = "/.well-known/oauth-protected-resource"
)

// New returns a handler for the paths below /oauth and /.well-known.
func New(o Options) http.Handler {
	if o.Fetch == nil {
		o.Fetch = FetchDocument
	}
	h := &handler{Options: o, mux: http.NewServeMux()}
	h.codes.all, h.pending.all, h.limits.buckets = make(map[string]code), make(map[string]*pending), make(map[string]*bucket)
	h.documents.all = make(map[string]cachedProgram)
	for _, path := range []string{serverPath, serverPath + o.Path, "/.well-known/openid-configuration"} {
		h.mux.HandleFunc("GET "+path, h.serverMetadata)
	}
	for _, path := range []string{resourcePath, resourcePath + o.Path} {
		h.mux.HandleFunc("GET "+path, h.resourceMetadata)
	}
	h.mux.HandleFunc("GET "+authorizePath, h.limit(h.authorize))
	h.mux.HandleFunc("GET "+waitPath, h.wait)
	h.mux.HandleFunc("POST "+tokenPath, h.limit(h.token))
	h.mux.HandleFunc("POST "+registerPath, h.limit(h.register))
	h.mux.HandleFunc("POST "+revokePath, h.limit(h.revoke))
	return h.mux
}

// serverMetadata describes the authorization server (RFC 8414).
func (h *handler) serverMetadata(w http.ResponseWriter, r *http.Request) {
	base := h.Base(r)
	reply(w, http.StatusOK, map[string]any{
		"issuer": base, "authorization_endpoint": base + authorizePath, "token_endpoint": base + tokenPath, "registration_endpoint": base + registerPath,
		"revocation_endpoint": base + revokePath, "response_types_supported": []string{"code"}, "response_modes_supported": []string{"query"},
		"grant_types_supported": []string{"authorization_code", "refresh_token"}, "code_challenge_methods_supported": []string{"S256"},
		"token_endpoint_auth_methods_supported": []string{"none"}, "revocation_endpoint_auth_methods_supported": []string{"none"},
		"scopes_supported": append(protocol.ScopeNames(protocol.AppScopes), string(protocol.ScopeOfflineAccess)), "authorization_response_iss_parameter_supported": true,
		"client_id_metadata_document_supported": true,
	})
}

// resourceMetadata describes the resource that tokens are for (RFC 9728).
func (h *handler) resourceMetadata(w http.ResponseWriter, r *http.Request) {
	base := h.Base(r)
	reply(w, http.StatusOK, map[string]any{
		"resource": base + h.Path, "authorization_servers": []string{base}, "scopes_supported": protocol.ScopeNames(protocol.AppScopes), "bearer_methods_supported": []string{"header"},
		"resource_name": "Fairlead",
	})
}

// resource returns the resource that a program asks for: ours, also if it names none.
func (h *handler) resource(r *http.Request, asked []string) (string, bool) {
	ours := h.Base(r) + h.Path
	for _, a := range asked {
		if a = strings.TrimSuffix(a, "/"); a != ours && a != h.Base(r) {
			return "", false
		}
	}
	return ours, true
}

// parseScopes splits a list of scopes. Unknown ones are left out, as RFC 6749 permits, and so is
// offline_access: every app gets a refresh token.
func parseScopes(text string) (scopes []protocol.Scope) {
	for _, name := range strings.Fields(text) {
		s := protocol.Scope(name)
		if slices.Contains(protocol.AppScopes, s) && !slices.Contains(scopes, s) {
			scopes = append(scopes, s)
		}
	}
	return scopes
}

func joinScopes(scopes []protocol.Scope) string {
	return strings.Join(protocol.ScopeNames(scopes), " ")
}

// failure is an error of OAuth (RFC 6749, section 5.2).
type failure struct {
	Code        string `json:"error"`
	Description string `json:"error_description,omitempty"`
}

func (f failure) Error() string { return f.Code + ": " + f.Description }

func reply(w http.ResponseWriter, status int, v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	bearer.SendJSON(w, status, raw)
}

func refuse(w http.ResponseWriter, status int, code, description string) {
	reply(w, status, failure{code, description})
}

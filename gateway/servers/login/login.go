// Package login signs the person in to MCP servers, in the browser: OAuth 2.1 with the authorization
// code flow. Sign-ins are stored in the keychain and renewed.
package login

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"fairlead/gateway/config"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
)

// stored is a sign-in as it is stored.
type stored struct {
	URL          string           `json:"url"` // of the server that it is for
	ClientID     string           `json:"clientId"`
	ClientSecret string           `json:"clientSecret,omitempty"`
	TokenURL     string           `json:"tokenUrl"`
	AuthStyle    oauth2.AuthStyle `json:"authStyle"`
	Scopes       []string         `json:"scopes,omitempty"`
	Token        *oauth2.Token    `json:"token"`
}

// Options say which server the sign-in is for, and who Fairlead is there.
type Options struct {
	URL                    string       // of the server
	Client                 *http.Client // for the addresses that the server names
	ClientID, ClientSecret string       // as the person registered Fairlead; may be empty
	// Document returns the public address of [ClientDocument], or "".
	Document func() string
	Secrets  keychain.Store
	Secret   string // the name of the sign-in in Secrets
	// Show shows the address at which the person signs in, until done is called.
	Show func(address string) (done func())
	// Logf adds a line to the log of the server.
	Logf func(format string, args ...any)
	// Failed gets the reason why a sign-in that the person saw did not succeed.
	Failed func(error)
}

// Handler authorizes the requests to a server. It implements [auth.OAuthHandler].
type Handler struct {
	o Options

	authorizing sync.Mutex // one sign-in at a time; guards scopes
	scopes      []string   // requested so far: asking for more must not lose them

	mu     sync.Mutex // guards the fields below
	source oauth2.TokenSource
	isRead bool // the stored sign-in
}

// New returns a handler.
func New(o Options) *Handler { return &Handler{o: o} }

// TokenSource returns the source of tokens, or nil before the first sign-in.
func (h *Handler) TokenSource(context.Context) (oauth2.TokenSource, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.isRead {
		h.isRead = true
		if s := h.saved(); s != nil {
			h.source = s
		}
	}
	if h.source == nil {
		return nil, nil
	}
	if _, err := h.source.Token(); err != nil {
		if refused, ok := errors.AsType[*oauth2.RetrieveError](err); !ok || refused.Response == nil || refused.Response.StatusCode >= 500 {
			return nil, fmt.Errorf("refresh the sign-in: %w", err)
		}
		h.source = nil // it ended or was revoked: the server asks for a new one
		return nil, nil
	}
	return h.source, nil
}

// renew gets a new access token after the server refused one before its end, and reports whether that
// worked.
func (h *Handler) renew() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	s, ok := h.source.(*savedSource)
	if !ok {
		return false
	}
	s.mu.Lock()
	l := s.login
	s.mu.Unlock()
	ended := *l.Token
	ended.Expiry = time.Now().Add(-time.Hour)
	l.Token = &ended
	next := l.source(h.o)
	if ended.RefreshToken != "" {
		if _, err := next.Token(); err == nil {
			h.source = next
			return true
		}
	}
	h.source = nil
	return false
}

// source returns the source of a sign-in.
func (l stored) source(o Options) *savedSource {
	c := &oauth2.Config{ClientID: l.ClientID, ClientSecret: l.ClientSecret, Endpoint: oauth2.Endpoint{TokenURL: l.TokenURL, AuthStyle: l.AuthStyle}}
	return &savedSource{o: o, login: l, next: c.TokenSource(context.WithValue(context.Background(), oauth2.HTTPClient, o.Client), l.Token)}
}

// saved returns the source of the sign-in in the keychain; nil if none exists for this address.
func (h *Handler) saved() *savedSource {
	secret, err := h.o.Secrets.Get(h.o.Secret)
	if err != nil {
		return nil
	}
	var l stored
	if json.Unmarshal([]byte(secret.Reveal()), &l) != nil || l.URL != h.o.URL || l.Token == nil {
		return nil
	}
	return l.source(h.o)
}

// savedSource stores each new token.
type savedSource struct {
	o    Options
	next oauth2.TokenSource

	mu       sync.Mutex // guards the fields below
	login    stored
	unstored bool // login has changed since it was stored
}

func (s *savedSource) Token() (*oauth2.Token, error) {
	t, err := s.next.Token()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.AccessToken != s.login.Token.AccessToken {
		s.login.Token, s.unstored = t, true
	}
	if s.unstored { // if it cannot be stored, the sign-in lasts until the gateway stops
		if err := s.save(); err != nil {
			s.o.Logf("%v", err)
		}
	}
	return t, nil
}

func (s *savedSource) save() error {
	raw, err := json.Marshal(s.login)
	if err == nil {
		err = s.o.Secrets.Set(s.o.Secret, keychain.Secret(raw))
	}
	if err != nil {
		return fmt.Errorf("the sign-in could not be stored: %w", err)
	}
	s.unstored = false
	return nil
}

// Authorize signs the person in: it opens a port of this machine for the browser's return, shows the
// address, and waits for the person without a time limit.
func (h *Handler) Authorize(ctx context.Context, req *http.Request, resp *http.Response) error {
	h.authorizing.Lock()
	defer h.authorizing.Unlock()
	if s := h.saved(); s != nil {
		h.addScopes(s.login.Scopes)
	}
	if resp.StatusCode == http.StatusUnauthorized && h.renew() {
		resp.Body.Close()
		return nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		resp.Body.Close()
		return fmt.Errorf("listen for the browser: %w", err)
	}
	back := newReturn(l)
	defer back.close()
	redirect := "http://" + l.Addr().String() + returnPath
	handler, err := auth.NewAuthorizationCodeHandler(h.client(&auth.AuthorizationCodeHandlerConfig{
		DynamicClientRegistrationConfig: &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "Fairlead", RedirectURIs: []string{redirect}, GrantTypes: []string{"authorization_code", "refresh_token"},
			ResponseTypes: []string{"code"}, TokenEndpointAuthMethod: "none",
		}},
		Client: h.o.Client, RedirectURL: redirect, RequestRefreshToken: true, ScopeFilter: h.addScopes,
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			return h.wait(ctx, args.URL, back)
		},
		NewTokenSource: h.newSource,
	}))
	if err != nil {
		resp.Body.Close()
		return err
	}
	if err := handler.Authorize(ctx, req, resp); err != nil {
		h.o.Logf("Sign-in: %v", err)
		return fmt.Errorf("sign in: %w", err)
	}
	source, err := handler.TokenSource(ctx)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if source != nil {
		h.source, h.isRead = source, true
	}
	return nil
}

// client adds the ways in which Fairlead can be known to an authorization server, before it registers
// itself: by its document, or as the person registered it.
func (h *Handler) client(c *auth.AuthorizationCodeHandlerConfig) *auth.AuthorizationCodeHandlerConfig {
	if address := h.o.Document(); address != "" {
		c.ClientIDMetadataDocumentConfig = &auth.ClientIDMetadataDocumentConfig{URL: address}
	}
	if h.o.ClientID != "" {
		c.PreregisteredClient = &oauthex.ClientCredentials{ClientID: h.o.ClientID}
		if h.o.ClientSecret != "" {
			c.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: h.o.ClientSecret}
		}
	}
	return c
}

// DocumentPath is the path of [ClientDocument] on the gateway.
const DocumentPath = "/oauth/client.json"

// DocumentAddress returns the public address of [ClientDocument]; empty if others cannot read it.
func DocumentAddress(c config.API) string {
	if !c.Enabled || !strings.HasPrefix(c.PublicURL, "https://") {
		return ""
	}
	return strings.TrimRight(c.PublicURL, "/") + DocumentPath
}

// ClientDocument describes Fairlead to authorization servers that read who a client is from the
// address that is its client ID.
func ClientDocument(address string) ([]byte, error) {
	return protocol.Marshal(map[string]any{
		"client_id": address, "client_name": "Fairlead", "redirect_uris": []string{"http://127.0.0.1" + returnPath},
		"grant_types": []string{"authorization_code", "refresh_token"}, "response_types": []string{"code"}, "token_endpoint_auth_method": "none",
	})
}

// ServeDocument serves [ClientDocument] where others can read it.
func ServeDocument(config func() config.Config) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		address := DocumentAddress(config().API)
		raw, err := ClientDocument(address)
		if err != nil || address == "" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write(raw)
	}
}

// addScopes adds scopes to those that were requested before.
func (h *Handler) addScopes(more []string) []string {
	for _, scope := range more {
		if !slices.Contains(h.scopes, scope) {
			h.scopes = append(h.scopes, scope)
		}
	}
	return slices.Clone(h.scopes)
}

// newSource stores a sign-in that succeeded.
func (h *Handler) newSource(_ context.Context, c *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
	l := stored{
		URL: h.o.URL, ClientID: c.ClientID, ClientSecret: c.ClientSecret, TokenURL: c.Endpoint.TokenURL, AuthStyle: c.Endpoint.AuthStyle, Token: t,
		Scopes: h.scopes,
	}
	s := l.source(h.o)
	if err := s.save(); err != nil {
		h.o.Failed(err)
		return nil, err
	}
	return s, nil
}

// wait shows the address of the sign-in, and waits until the browser has returned.
func (h *Handler) wait(ctx context.Context, address string, back *browserReturn) (*auth.AuthorizationResult, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	state := u.Query().Get("state")
	back.state.Store(&state)
	defer h.o.Show(address)()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case r := <-back.results:
		if r.problem != "" {
			err := errors.New("the sign-in did not succeed: " + r.problem)
			h.o.Failed(err)
			return nil, err
		}
		return &r.AuthorizationResult, nil
	}
}

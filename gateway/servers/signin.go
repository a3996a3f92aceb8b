package servers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	neturl "net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"

	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
)

// signInName is the name of a server's sign-in in the keychain.
func signInName(name protocol.ServerName) string { return "mcp-sign-in-" + string(name) }

// login is a sign-in as it is stored.
type login struct {
	URL          string           `json:"url"` // of the server that it is for
	ClientID     string           `json:"clientId"`
	ClientSecret string           `json:"clientSecret,omitempty"`
	TokenURL     string           `json:"tokenUrl"`
	AuthStyle    oauth2.AuthStyle `json:"authStyle"`
	Scopes       []string         `json:"scopes,omitempty"`
	Token        *oauth2.Token    `json:"token"`
}

// signIn authorizes the requests to a server. It implements [auth.OAuthHandler].
type signIn struct {
	server *server
	paused *atomic.Pointer[time.Timer] // the time limit of the connection, which a person stops

	authorizing sync.Mutex // one sign-in at a time; guards scopes
	scopes      []string   // requested so far: asking for more must not lose them

	mu     sync.Mutex // guards the fields below
	source oauth2.TokenSource
	isRead bool // the stored sign-in
}

// TokenSource returns the source of tokens, or nil before the first sign-in.
func (h *signIn) TokenSource(context.Context) (oauth2.TokenSource, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.isRead {
		h.isRead = true
		if s := h.stored(); s != nil {
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
func (h *signIn) renew() bool {
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
	next := l.source(h.server)
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
func (l login) source(s *server) *savedSource {
	c := &oauth2.Config{ClientID: l.ClientID, ClientSecret: l.ClientSecret, Endpoint: oauth2.Endpoint{TokenURL: l.TokenURL, AuthStyle: l.AuthStyle}}
	return &savedSource{server: s, login: l, next: c.TokenSource(context.Background(), l.Token)}
}

// stored returns the source of the sign-in in the keychain; nil if there is none for this address.
func (h *signIn) stored() *savedSource {
	secret, err := h.server.m.o.Secrets.Get(signInName(h.server.name))
	if err != nil {
		return nil
	}
	var l login
	if json.Unmarshal([]byte(secret.Reveal()), &l) != nil || l.URL != h.server.settings().URL || l.Token == nil {
		return nil
	}
	return l.source(h.server)
}

// savedSource stores each new token.
type savedSource struct {
	server *server
	next   oauth2.TokenSource

	mu    sync.Mutex // guards login
	login login
}

func (s *savedSource) Token() (*oauth2.Token, error) {
	t, err := s.next.Token()
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.AccessToken != s.login.Token.AccessToken {
		s.login.Token = t
		s.save()
	}
	return t, nil
}

// save stores the sign-in. If that fails, it lasts until the gateway stops.
func (s *savedSource) save() {
	raw, err := json.Marshal(s.login)
	if err == nil {
		err = s.server.m.o.Secrets.Set(signInName(s.server.name), keychain.Secret(raw))
	}
	if err != nil {
		s.server.log.addf("The sign-in could not be stored: %v", err)
	}
}

// errSignedOut ends a connection whose sign-in failed.
var errSignedOut = errors.New("the sign-in did not succeed")

// Authorize signs the person in: it opens a port of this machine for the browser's return, sets the
// state signIn with the address, and waits for the person without a time limit.
func (h *signIn) Authorize(ctx context.Context, req *http.Request, resp *http.Response) error {
	h.authorizing.Lock()
	defer h.authorizing.Unlock()
	if s := h.stored(); s != nil {
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
		RedirectURL: redirect, RequestRefreshToken: true, ScopeFilter: h.addScopes,
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
func (h *signIn) client(c *auth.AuthorizationCodeHandlerConfig) *auth.AuthorizationCodeHandlerConfig {
	if document := h.server.m.o.ClientDocument; document != nil && document() != "" {
		c.ClientIDMetadataDocumentConfig = &auth.ClientIDMetadataDocumentConfig{URL: document()}
	}
	if spec := h.server.settings(); spec.ClientID != "" {
		c.PreregisteredClient = &oauthex.ClientCredentials{ClientID: spec.ClientID}
		if spec.ClientSecret != "" {
			c.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: spec.ClientSecret}
		}
	}
	return c
}

// ClientDocument describes Fairlead to authorization servers that read who a client is from the
// address that is its client ID.
func ClientDocument(address string) ([]byte, error) {
	return protocol.Marshal(map[string]any{
		"client_id": address, "client_name": "Fairlead", "redirect_uris": []string{"http://127.0.0.1" + returnPath},
		"grant_types": []string{"authorization_code", "refresh_token"}, "response_types": []string{"code"}, "token_endpoint_auth_method": "none",
	})
}

// addScopes adds scopes to those that were requested before.
func (h *signIn) addScopes(more []string) []string {
	for _, scope := range more {
		if !slices.Contains(h.scopes, scope) {
			h.scopes = append(h.scopes, scope)
		}
	}
	return slices.Clone(h.scopes)
}

// newSource stores a sign-in that succeeded.
func (h *signIn) newSource(_ context.Context, c *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
	l := login{
		URL: h.server.settings().URL, ClientID: c.ClientID, ClientSecret: c.ClientSecret, TokenURL: c.Endpoint.TokenURL, AuthStyle: c.Endpoint.AuthStyle, Token: t,
		Scopes: h.scopes,
	}
	s := l.source(h.server)
	s.save()
	return s, nil
}

// wait shows the address of the sign-in, and waits until the browser has returned.
func (h *signIn) wait(ctx context.Context, url string, back *browserReturn) (*auth.AuthorizationResult, error) {
	s := h.server
	address, err := neturl.Parse(url)
	if err != nil {
		return nil, err
	}
	state := address.Query().Get("state")
	back.state.Store(&state)
	if limit := h.paused.Load(); limit != nil {
		limit.Stop()
		defer limit.Reset(connectLimit)
	}
	s.mu.Lock()
	before := s.state
	s.pending = url
	s.mu.Unlock()
	s.setState(protocol.ServerSignIn, nil)
	defer func() {
		s.mu.Lock()
		s.pending = ""
		s.mu.Unlock()
		s.setState(before, nil)
	}()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case r := <-back.results:
		if r.problem != "" {
			return nil, fmt.Errorf("%w: %s", errSignedOut, r.problem)
		}
		return &r.AuthorizationResult, nil
	}
}

// signInAddress waits for the address at which the person signs in. It starts a sign-in if none
// waits.
func signInAddress(ctx context.Context, s *server) (string, error) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for isFirst := true; ; isFirst = false {
		s.mu.Lock()
		url, state := s.pending, s.state
		s.mu.Unlock()
		switch {
		case url != "":
			return url, nil
		case state == protocol.ServerReady:
			return "", protocol.ErrConflict.With("the server is connected, and needs no sign-in")
		case state == protocol.ServerDisabled:
			return "", protocol.ErrConflict.With("the server is switched off")
		case isFirst:
			s.restart()
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return "", protocol.ErrUnavailable.With("the server did not ask for a sign-in")
		}
	}
}

// returnPath is where the browser returns to.
const returnPath = "/callback"

// returned is what the browser brought.
type returned struct {
	auth.AuthorizationResult
	problem string
}

// browserReturn serves the address to which the browser returns after a sign-in.
type browserReturn struct {
	server  *http.Server
	state   atomic.Pointer[string] // of the sign-in; other visits are refused
	results chan returned          // the first one
	done    chan struct{}
}

func newReturn(l net.Listener) *browserReturn {
	b := &browserReturn{results: make(chan returned, 1), done: make(chan struct{})}
	b.server = &http.Server{Handler: http.HandlerFunc(b.serve), ReadHeaderTimeout: 10 * time.Second}
	go func() {
		defer close(b.done)
		_ = b.server.Serve(l) // ends with close
	}()
	return b
}

// close answers the browser that is being served, and closes the port.
func (b *browserReturn) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if b.server.Shutdown(ctx) != nil {
		b.server.Close()
	}
	<-b.done
}

func (b *browserReturn) serve(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	state := b.state.Load()
	if r.URL.Path != returnPath || state == nil || q.Get("state") != *state {
		http.NotFound(w, r)
		return
	}
	out := returned{AuthorizationResult: auth.AuthorizationResult{Code: q.Get("code"), State: q.Get("state"), Iss: q.Get("iss")}}
	text := "You are signed in. You can close this page and go back to Fairlead."
	if out.Code == "" {
		out.problem = q.Get("error") + " " + q.Get("error_description")
		text = "The sign-in did not succeed. Go back to Fairlead to try again."
	}
	select {
	case b.results <- out:
	default: // a second visit of the page
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Content-Security-Policy", "default-src 'none'")
	fmt.Fprintln(w, text)
}

package signin

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

// definition is a provider as the settings have it.
type definition struct{ name, title, issuer, clientID, secret string }

// github is the name of the provider that is GitHub, or a server of one's own of it. It is no
// OpenID Connect issuer.
const github = "github"

// presets are the titles and issuers of providers by name.
var presets = map[string][2]string{
	"google":    {"Google", "https://accounts.google.com"},
	"microsoft": {"Microsoft", "https://login.microsoftonline.com/common/v2.0"},
	github:      {"GitHub", "https://github.com"},
}

// definition returns a provider by its name in the settings. ok is false if the settings do not have
// it, or only a part of it.
func (s *SignIn) definition(name string) (d definition, ok bool) {
	c, ok := s.o.Config().SignIn[name]
	secret, _ := s.o.Secret("services.signIn." + name + ".clientSecret")
	d = definition{name: name, title: cmp.Or(c.Title, presets[name][0], name), issuer: cmp.Or(c.Issuer, presets[name][1]), clientID: c.ClientID, secret: secret}
	return d, ok && d.issuer != "" && d.clientID != ""
}

// provider is one that can be used.
type provider struct {
	definition
	oauth oauth2.Config
	// address returns the verified address of whom a token is about.
	address func(ctx context.Context, t *oauth2.Token, nonce string) (string, error)
}

// client makes the requests to providers. It follows the system's proxy settings.
var client = &http.Client{Timeout: 20 * time.Second}

// provider returns the provider of a definition. It asks its issuer for its addresses the first
// time.
func (s *SignIn) provider(ctx context.Context, d definition) (*provider, error) {
	s.mu.Lock()
	p := s.providers[d.name]
	s.mu.Unlock()
	if p != nil && p.definition == d {
		return p, nil
	}
	var err error
	if d.name == github {
		p = newGitHub(d)
	} else if p, err = newOIDC(ctx, d); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.providers[d.name] = p
	return p, nil
}

func (d definition) oauth(endpoint oauth2.Endpoint, scopes ...string) oauth2.Config {
	return oauth2.Config{ClientID: d.clientID, ClientSecret: d.secret, Endpoint: endpoint, Scopes: scopes}
}

// authURL returns where a browser signs in for an attempt.
func (p *provider) authURL(a attempt, state string) string {
	c := p.oauth
	c.RedirectURL = a.redirect
	options := []oauth2.AuthCodeOption{oauth2.S256ChallengeOption(a.verifier), oidc.Nonce(a.nonce)}
	if _, ok := presets[p.name]; ok { // who came with the wrong account can choose another one
		options = append(options, oauth2.SetAuthURLParam("prompt", "select_account"))
	}
	return c.AuthCodeURL(state, options...)
}

// prove returns the verified address of who signed in. The error can be a *Refusal.
func (p *provider) prove(ctx context.Context, a attempt, code string) (string, error) {
	c := p.oauth
	c.RedirectURL = a.redirect
	ctx = oidc.ClientContext(ctx, client) // it is the context of oauth2 too
	t, err := c.Exchange(ctx, code, oauth2.VerifierOption(a.verifier))
	if err != nil {
		return "", err
	}
	return p.address(ctx, t, a.nonce)
}

// unverified is the refusal of an address that a provider has not checked.
func (d definition) unverified(email string) *Refusal {
	if email == "" {
		return &Refusal{Status: http.StatusForbidden, Title: "No email address", Text: d.title + " did not say which email address you have. Choose another way to sign in."}
	}
	return &Refusal{
		Status: http.StatusForbidden, Title: "This address is not verified",
		Text: fmt.Sprintf("%s has not verified that %s is yours. Verify the address there, or choose another way to sign in.", d.title, email),
	}
}

// Microsoft names in tokens the issuer of the account's own organization. The issuer that signs
// accounts of all organizations in has this name, with the place for it.
const (
	microsoft        = "https://login.microsoftonline.com/"
	microsoftTenants = microsoft + "{tenantid}/v2.0"
)

// claims are what an issuer says about an account.
type claims struct {
	Email    string `json:"email"`
	Verified truth  `json:"email_verified"`
	// DomainVerified is what Microsoft has instead, as an optional claim. Without it, everyone could
	// write every address into an account of an organization of their own.
	DomainVerified truth  `json:"xms_edov"`
	Tenant         string `json:"tid"`
}

func (c claims) isVerified(issuer string) bool {
	return c.Email != "" && (bool(c.Verified) || strings.HasPrefix(issuer, microsoft) && bool(c.DomainVerified))
}

// truth is a boolean that some issuers write as a text or a number.
type truth bool

func (t *truth) UnmarshalJSON(data []byte) error {
	switch string(data) {
	case `true`, `"true"`, `1`, `"1"`:
		*t = true
	}
	return nil
}

func newOIDC(ctx context.Context, d definition) (*provider, error) {
	ctx = oidc.ClientContext(context.WithoutCancel(ctx), client)
	anyTenant := d.issuer == microsoft+"common/v2.0" || d.issuer == microsoft+"organizations/v2.0"
	if anyTenant {
		ctx = oidc.InsecureIssuerURLContext(ctx, microsoftTenants)
	}
	issuer, err := oidc.NewProvider(ctx, d.issuer)
	if err != nil {
		return nil, err
	}
	verifier := issuer.Verifier(&oidc.Config{ClientID: d.clientID, SkipIssuerCheck: anyTenant})
	address := func(ctx context.Context, t *oauth2.Token, nonce string) (string, error) {
		raw, _ := t.Extra("id_token").(string)
		token, err := verifier.Verify(ctx, raw)
		if err != nil {
			return "", err
		}
		if token.Nonce != nonce {
			return "", errors.New("the token is of another sign-in")
		}
		var c claims
		if err := token.Claims(&c); err != nil {
			return "", err
		}
		if anyTenant && (c.Tenant == "" || token.Issuer != strings.Replace(microsoftTenants, "{tenantid}", c.Tenant, 1)) {
			return "", fmt.Errorf("the token has the issuer %q", token.Issuer)
		}
		if c.Email == "" && issuer.UserInfoEndpoint() != "" { // where some issuers say it
			info, err := issuer.UserInfo(ctx, oauth2.StaticTokenSource(t))
			if err != nil {
				return "", err
			}
			if info.Subject != token.Subject {
				return "", errors.New("the account is not that of the token")
			}
			c = claims{}
			if err := info.Claims(&c); err != nil {
				return "", err
			}
		}
		if !c.isVerified(d.issuer) {
			return "", d.unverified(c.Email)
		}
		return c.Email, nil
	}
	return &provider{definition: d, oauth: d.oauth(issuer.Endpoint(), oidc.ScopeOpenID, "email"), address: address}, nil
}

// maxAnswer is the greatest size of an answer of GitHub, in bytes.
const maxAnswer = 1 << 20

// newGitHub returns the provider for GitHub, or for a server of one's own of it.
func newGitHub(d definition) *provider {
	site := strings.TrimSuffix(d.issuer, "/")
	api := site + "/api/v3"
	if site == presets[github][1] {
		api = "https://api.github.com"
	}
	address := func(ctx context.Context, t *oauth2.Token, _ string) (string, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, api+"/user/emails", nil)
		if err != nil {
			return "", err
		}
		t.SetAuthHeader(r)
		r.Header.Set("Accept", "application/vnd.github+json")
		answer, err := client.Do(r)
		if err != nil {
			return "", err
		}
		defer answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			return "", fmt.Errorf("the addresses of the account: %s", answer.Status)
		}
		var list []struct {
			Email             string
			Primary, Verified bool
		}
		if err := json.NewDecoder(io.LimitReader(answer.Body, maxAnswer)).Decode(&list); err != nil {
			return "", err
		}
		for _, e := range list {
			if e.Primary && e.Verified {
				return e.Email, nil
			}
			if e.Primary {
				return "", d.unverified(e.Email)
			}
		}
		return "", d.unverified("")
	}
	endpoint := oauth2.Endpoint{AuthURL: site + "/login/oauth/authorize", TokenURL: site + "/login/oauth/access_token", AuthStyle: oauth2.AuthStyleInParams}
	return &provider{definition: d, oauth: d.oauth(endpoint, "user:email"), address: address}
}

package servers

import (
	"cmp"
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"golang.org/x/oauth2"

	"fairlead/gateway/protocol"
	"fairlead/gateway/servers/login"
)

// signInName is the name of a server's sign-in in the keychain.
func signInName(name protocol.ServerName) string { return "mcp-sign-in-" + string(name) }

// authorizer marks the errors of sign-ins: nothing was done without one.
type authorizer struct{ *login.Handler }

func (a authorizer) TokenSource(ctx context.Context) (oauth2.TokenSource, error) {
	source, err := a.Handler.TokenSource(ctx)
	if err != nil {
		return nil, &refusal{error: err}
	}
	return source, nil
}

func (a authorizer) Authorize(ctx context.Context, r *http.Request, resp *http.Response) error {
	if err := a.Handler.Authorize(ctx, r, resp); err != nil {
		return &refusal{error: err}
	}
	return nil
}

// login makes the handler of sign-ins for one connection, which uses client. limit is the time limit
// of the connection, which stops while the person signs in. failed gets the reason why a sign-in
// failed.
func (s *server) login(limit *atomic.Pointer[time.Timer], client *http.Client, failed func(error)) *login.Handler {
	spec, o := s.settings(), s.m.o
	document := func() string { return cmp.Or(o.ClientDocument, login.DocumentAddress(o.Config.Get().API)) }
	return login.New(login.Options{
		URL: spec.URL, Client: client, ClientID: spec.ClientID, ClientSecret: spec.ClientSecret, Document: document,
		Secrets: o.Secrets, Secret: signInName(s.name), Logf: s.log.addf, Failed: failed,
		Show: func(address string) func() {
			timer := limit.Load()
			if timer != nil {
				timer.Stop()
			}
			s.mu.Lock()
			before := s.state
			s.pending = address
			s.mu.Unlock()
			s.setState(protocol.ServerSignIn, nil)
			return func() {
				s.mu.Lock()
				s.pending = ""
				s.mu.Unlock()
				s.setState(before, nil)
				if timer != nil {
					timer.Reset(connectLimit)
				}
			}
		},
	})
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
			return "", protocol.ErrConflict.With("the server is turned off")
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

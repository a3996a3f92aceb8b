package gateway

import (
	"context"
	"net/http"

	"fairlead/gateway/auth"
	"fairlead/gateway/config"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
)

func (g *Gateway) status(context.Context) protocol.Status {
	paused, storage := g.sessions.Paused()
	cfg := g.config.Get()
	s := protocol.Status{
		Version: Version, StartedAt: g.startedAt.UnixMilli(), Paused: paused, Storage: storage, SecretStore: g.secrets.Where(), Missing: g.config.Missing(), Home: g.home,
		Model: protocol.ModelRef{Provider: cfg.Model.Provider, ID: cfg.Model.ID}, MainSession: cfg.MainSession(),
	}
	if g.listener != nil {
		s.Listen = g.listener.Addr().String()
	}
	return s
}

func (g *Gateway) pause(ctx context.Context, paused bool) (protocol.Status, error) {
	g.sessions.SetPaused(paused)
	g.tellStatus()
	return g.status(ctx), nil
}

// tellStatus publishes the gateway's state to every client.
func (g *Gateway) tellStatus() {
	s := g.status(context.Background())
	g.bus.Publish(protocol.Change{Kind: protocol.ChangeStatus, Status: &s})
}

// configChanged publishes the change, and activates a new token.
func (g *Gateway) configChanged(path string) {
	if path == "auth.token" {
		if v, ok := g.config.Secret(path); ok {
			if err := g.tokens.Set(keychain.Secret(v)); err != nil {
				g.log.Error("The new token is not in force", "err", err)
			}
		}
	}
	if path == "session" || path == "session.mainKey" {
		g.mainMoved()
	}
	g.schedules.Wake()
	g.network.wake()
	g.bus.Publish(protocol.Change{Kind: protocol.ChangeConfig, Path: path})
	g.tellStatus()
}

// mainMoved posts a notice in the former main chats if the name of the main chats has changed.
func (g *Gateway) mainMoved() {
	now := g.config.Get().Session.MainName()
	if before := g.mainName.Swap(&now); *before != now {
		if err := g.sessions.MainMoved(context.Background(), *before); err != nil {
			g.log.Error("The main chat of before could not be told", "err", err)
		}
	}
}

func (g *Gateway) checkOrigin(r *http.Request) error {
	host := ""
	if at, ok := g.listenAddr(); ok && !at.IP.IsUnspecified() {
		host = at.IP.String()
	}
	return auth.CheckOrigin(r, host)
}

// modelSettings provides the person's settings to the registry.
type modelSettings struct{ c *config.Store }

func (s modelSettings) APIKey(provider string) string {
	key, _ := s.c.Secret("apiKeys." + provider)
	return key
}

func (s modelSettings) BaseURL(provider string) string { return s.c.Get().Providers[provider].BaseURL }

func (s modelSettings) Wire(provider string) string { return s.c.Get().Providers[provider].Wire }

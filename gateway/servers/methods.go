package servers

import (
	"context"
	"fmt"
	"os"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/servers/snippet"
)

// Parse reads the servers of a text that the person pasted. Nothing is stored.
func (m *Manager) Parse(_ context.Context, p protocol.ServerParseParams) (protocol.ServersFoundResult, error) {
	list, err := snippet.Parse(p.Text)
	return m.mark(list), err
}

// Find returns the servers that other programs on this machine use.
func (m *Manager) Find(context.Context) (protocol.ServersFoundResult, error) {
	home, err := os.UserHomeDir()
	if err != nil {
		return protocol.ServersFoundResult{}, fmt.Errorf("find the home folder: %w", err)
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return protocol.ServersFoundResult{}, fmt.Errorf("find the folder of settings: %w", err)
	}
	return m.mark(snippet.Find(home, dir)), nil
}

// mark marks the servers whose names are in use.
func (m *Manager) mark(list []protocol.FoundServer) protocol.ServersFoundResult {
	specs := m.o.Config.Get().MCP.Servers
	for i, f := range list {
		_, list[i].Exists = specs[string(f.Name)]
	}
	if list == nil {
		list = []protocol.FoundServer{}
	}
	return protocol.ServersFoundResult{Servers: list}
}

// Logs returns the last lines of a server.
func (m *Manager) Logs(_ context.Context, p protocol.ServerParams) (protocol.ServerLogsResult, error) {
	s, err := m.find(p.Name)
	if err != nil {
		return protocol.ServerLogsResult{}, err
	}
	return protocol.ServerLogsResult{Lines: s.log.lines()}, nil
}

// signInWait is how long SignIn waits for the address of the sign-in.
const signInWait = 30 * time.Second

// SignIn returns the address at which the person signs in.
func (m *Manager) SignIn(ctx context.Context, p protocol.ServerParams) (protocol.ServerSignInResult, error) {
	s, err := m.find(p.Name)
	if err != nil {
		return protocol.ServerSignInResult{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, signInWait)
	defer cancel()
	url, err := signInAddress(ctx, s)
	return protocol.ServerSignInResult{URL: url}, err
}

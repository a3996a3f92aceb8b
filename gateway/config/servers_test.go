package config

import (
	"encoding/json"
	"strings"
	"testing"

	"fairlead/gateway/peer/keychain"
)

// TestSecretsOfServersAreInTheKeychainAlone follows a secret through set, restart, change and removal.
func TestSecretsOfServersAreInTheKeychainAlone(t *testing.T) {
	t.Setenv("FAIRLEAD_SECRETS", "file")
	home, rows := t.TempDir(), memory{}
	s := open(t, rows, home)
	set := func(path, value string) {
		t.Helper()
		if err := s.Set(t.Context(), path, json.RawMessage(value)); err != nil {
			t.Fatal(err)
		}
	}
	// as a whole, and then a part of it
	set("mcp.servers", `{"hub": {"command": "npx", "env": {"API_TOKEN": "very-secret-1", "MODE": "fast", "DB": "postgres://u:very-secret-2@h/x"}}}`)
	set("mcp.servers.web", `{"url": "https://example.org/mcp", "headers": {"X-Any": "very-secret-3"}, "clientId": "me", "clientSecret": "very-secret-4"}`)
	check := func(s *Store) {
		t.Helper()
		all, err := s.All()
		if err != nil || strings.Contains(string(all), "very-secret") {
			t.Errorf("config.get shows a secret: %s %v", all, err)
		}
		hub, _ := s.Server("hub")
		web, ok := s.Server("web")
		if hub.Env["API_TOKEN"] != "very-secret-1" || hub.Env["MODE"] != "fast" || hub.Env["DB"] != "postgres://u:very-secret-2@h/x" || !ok || web.Headers["X-Any"] != "very-secret-3" || web.ClientSecret != "very-secret-4" {
			t.Errorf("the servers get %v and %v, want the secrets in them", hub.Env, web.Headers)
		}
	}
	check(s)
	for path, value := range rows {
		if strings.Contains(string(value), "very-secret") {
			t.Errorf("%s is stored with its secret: %s", path, value)
		}
	}
	check(open(t, rows, home))
	// a masked value stays, what is left out goes
	set("mcp.servers.hub", `{"command": "npx", "env": {"API_TOKEN": "***"}}`)
	if hub, _ := s.Server("hub"); hub.Env["API_TOKEN"] != "very-secret-1" || len(hub.Env) != 1 {
		t.Errorf("the server gets %v, want its token alone", hub.Env)
	}
	set("mcp.servers.hub", `null`)
	for _, path := range []string{"mcp.servers.hub.env.API_TOKEN", "mcp.servers.hub.env.DB"} {
		if _, err := keychain.Open(home).Get(path); err == nil {
			t.Errorf("%s is still in the keychain", path)
		}
	}
	if _, ok := s.Server("hub"); ok {
		t.Error("the server is still there")
	}
	if err := s.Set(t.Context(), "mcp.servers.new", json.RawMessage(`{"url": "https://e.org", "headers": {"A": "***"}}`)); err == nil {
		t.Error("a placeholder became a value")
	}
}

func TestServersThatCannotWorkAreRefused(t *testing.T) {
	s := open(t, memory{}, t.TempDir())
	for _, c := range []struct{ path, value, why string }{
		{"mcp.servers.a__b", `{"command": "x"}`, "single underscores"},
		{"mcp.servers.a_", `{"command": "x"}`, "single underscores"},
		{"mcp.servers.gsv", `{"command": "x"}`, "reserved"},
		{"mcp.servers.a", `{}`, "needs a command or a url"},
		{"mcp.servers.a", `{"command": "x", "url": "https://e.org"}`, "not both"},
		{"mcp.servers.a", `{"url": "file:///etc"}`, "must be an address"},
		{"mcp.servers.a", `{"url": "https://u:p@e.org"}`, "password"},
		{"mcp.servers.a", `{"url": "https://e.org", "node": "n"}`, "belong to a command"},
		{"mcp.servers.a", `{"url": "https://e.org", "headers": {"A B": "x"}}`, "cannot be a header"},
		{"mcp.servers.a", `{"command": "x", "clientId": "y"}`, "belong together"},
		{"mcp.servers.a", `{"url": "https://e.org", "clientSecret": "y"}`, "belong together"},
		{"mcp.servers.a", `{"command": "x", "env": {"A=B": "x"}}`, "cannot be a variable"},
		{"mcp.servers.a", `{"command": "x", "env": {"MODE": "${env:MODE}"}}`, "placeholder ${env:MODE}"},
		{"mcp.servers.a", `{"command": "x", "env": {"API_KEY": "${input:key}"}}`, "placeholder ${input:key}"},
		{"mcp.servers.a", `{"url": "https://e.org", "headers": {"Authorization": "Bearer ${input:key}"}}`, "placeholder ${input:key}"},
		{"mcp.servers.a", `{"url": "https://e.org/mcp?key=${input:key}"}`, "placeholder ${input:key}"},
		{"mcp.servers.a", `{"command": "x", "args": ["${workspaceFolder}/a"]}`, "placeholder ${workspaceFolder}"},
	} {
		err := s.Set(t.Context(), c.path, json.RawMessage(c.value))
		if err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s %s: %v, want %q", c.path, c.value, err, c.why)
		}
	}
}

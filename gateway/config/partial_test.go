package config

import (
	"context"
	"encoding/json"
	"errors"
	"testing"

	"fairlead/gateway/peer/keychain"
)

// refusing is a backend that can refuse to store.
type refusing struct {
	memory
	err error
}

func (r *refusing) Put(ctx context.Context, values map[string]json.RawMessage) error {
	if r.err != nil {
		return r.err
	}
	return r.memory.Put(ctx, values)
}

func TestRefusedSettingLeavesSecretsAsTheyWere(t *testing.T) {
	secrets, backend := keychain.OpenFile(t.TempDir()), &refusing{memory: memory{}}
	s, _, err := Open(t.Context(), backend, secrets)
	if err != nil {
		t.Fatal(err)
	}
	changes := []string{"auth.token", "apiKeys.openai", "mcp.servers.web"}
	set := func(path, secret string) error {
		value := `"` + secret + `"`
		if path == "mcp.servers.web" {
			value = `{"url":"https://example.com/mcp","headers":{"Authorization":"` + secret + `"}}`
		}
		return s.Set(t.Context(), path, json.RawMessage(value))
	}
	stored := func() (list []string) {
		for _, name := range []string{"gateway-token", "key-openai", "mcp.servers.web.headers.Authorization"} {
			v, err := secrets.Get(name)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			list = append(list, v.Reveal())
		}
		return list
	}
	for _, path := range changes {
		if err := set(path, "first"); err != nil {
			t.Fatal(err)
		}
	}
	s.OnChange(func(path string) { t.Errorf("%s is reported as changed", path) })
	backend.err = errors.New("the disk is full")
	for _, path := range append(changes, "mcp.servers") {
		err := set(path, "second")
		if path == "mcp.servers" { // removes the server
			err = s.Set(t.Context(), path, nil)
		}
		if !errors.Is(err, backend.err) {
			t.Errorf("%s: got %v, want that the disk is full", path, err)
		}
		for i, got := range stored() {
			if got != "first" {
				t.Errorf("after %s: secret %d: got %q, want the first one", path, i, got)
			}
		}
	}
	if spec, ok := s.Server("web"); !ok || spec.Headers["Authorization"] != "first" {
		t.Errorf("got the server %+v, %v, want it unchanged", spec, ok)
	}
}

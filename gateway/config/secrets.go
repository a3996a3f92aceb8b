package config

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
)

// Secret returns a secret by its path, such as "apiKeys.anthropic".
func (s *Store) Secret(path string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.keys[path]
	return v, ok
}

// Missing returns the paths of secrets that were set but were not in the secret store at the start.
// A path is removed when the secret is set or deleted.
func (s *Store) Missing() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.missing)
}

// setSecrets sets the secrets of an object one by one: null removes one, and "***" leaves it
// unchanged. API keys that the object does not name are removed.
func (s *Store) setSecrets(ctx context.Context, path string, value json.RawMessage, reset bool) (changed []string, err error) {
	if path == "auth" && reset {
		return nil, errTokenStays
	}
	parts := map[string]json.RawMessage{}
	if !reset {
		if err := json.Unmarshal(value, &parts); err != nil {
			return nil, bad("%s must be an object", path) // do not repeat a value that may be a key
		}
	}
	type change struct {
		path, name string
		value      json.RawMessage
	}
	var changes []change
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		part := path + "." + name
		f, err := lookup(part)
		if err != nil {
			return nil, err
		}
		if f.secret == "" || strings.Contains(name, ".") {
			return nil, bad("%s is not the path of a secret", part)
		}
		switch string(parts[name]) {
		case `"` + protocol.MaskedSecret + `"`:
			continue
		case "null":
			if path == "auth" {
				return nil, errTokenStays
			}
		default:
			if _, err := plainSecret(part, parts[name]); err != nil {
				return nil, err
			}
		}
		changes = append(changes, change{part, f.secret, parts[name]})
	}
	s.mu.Lock()
	for have := range s.keys {
		name, below := strings.CutPrefix(have, path+".")
		if _, named := parts[name]; below && !named && path != "auth" {
			changes = append(changes, change{have, "key-" + name, nil})
		}
	}
	s.mu.Unlock()
	for _, c := range changes {
		if err := s.setSecret(ctx, c.path, c.name, c.value, len(c.value) == 0 || string(c.value) == "null"); err != nil {
			return changed, err
		}
		changed = append(changed, c.path)
	}
	return changed, nil
}

func (s *Store) setSecret(ctx context.Context, path, name string, value json.RawMessage, reset bool) error {
	if reset {
		if path == "auth.token" {
			return errTokenStays
		}
		if err := s.secrets.Delete(name); err != nil {
			return fmt.Errorf("remove %s: %w", path, err)
		}
		s.mu.Lock()
		delete(s.keys, path)
		s.removeMissing(path)
		s.mu.Unlock()
		return s.backend.Put(ctx, path, nil)
	}
	plain, err := plainSecret(path, value)
	if err != nil {
		return err
	}
	if err := s.secrets.Set(name, keychain.Secret(plain)); err != nil {
		return fmt.Errorf("store %s: %w", path, err)
	}
	if err := s.backend.Put(ctx, path, json.RawMessage(`true`)); err != nil {
		return err
	}
	s.mu.Lock()
	s.keys[path] = plain
	s.removeMissing(path)
	s.mu.Unlock()
	return nil
}

// removeMissing removes a secret from the missing ones. The caller holds s.mu.
func (s *Store) removeMissing(path string) {
	s.missing = slices.DeleteFunc(s.missing, func(p string) bool { return p == path })
}

var errTokenStays = bad("the token cannot be removed: without it, anyone could control the gateway")

// plainSecret decodes a secret. Its errors do not contain it.
func plainSecret(path string, value json.RawMessage) (string, error) {
	var v any
	dec := json.NewDecoder(bytes.NewReader(value))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil || dec.More() {
		return "", bad("%s must be text", path)
	}
	var plain string
	switch v := v.(type) {
	case string:
		plain = strings.TrimSpace(v)
	case json.Number: // typed without quotes in a terminal
		plain = v.String()
	default:
		return "", bad("%s must be text", path)
	}
	switch plain {
	case "":
		return "", bad("%s must not be empty", path)
	case protocol.MaskedSecret:
		return "", bad("%s must be the secret itself, not its placeholder %s", path, protocol.MaskedSecret)
	}
	return plain, nil
}

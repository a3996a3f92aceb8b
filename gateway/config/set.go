package config

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
)

// Set changes the value at a path. nil or null restores the default; within an object, each null
// does so for its part. The value is validated first; it is stored and active when Set returns. An
// invalid value fails with a protocol.ErrBadRequest that lists the valid ones.
func (s *Store) Set(ctx context.Context, path string, value json.RawMessage) error {
	f, err := lookup(path)
	if err != nil {
		return err
	}
	changed, err := s.set(ctx, path, f, value)
	s.mu.Lock()
	watchers := slices.Clone(s.watchers)
	s.mu.Unlock()
	for _, p := range changed {
		for _, w := range watchers {
			w(p)
		}
	}
	return err
}

// set returns the changed paths, also when it failed after a part.
func (s *Store) set(ctx context.Context, path string, f field, value json.RawMessage) (changed []string, err error) {
	s.write.Lock()
	defer s.write.Unlock()
	switch {
	case path == "apiKeys" || path == "auth":
		return s.setSecrets(ctx, path, value)
	case f.secret != "":
		err = s.setSecret(ctx, path, f.secret, value)
	default:
		err = s.setValue(ctx, path, f, value)
	}
	if err != nil {
		return nil, err
	}
	return []string{path}, nil
}

func isReset(value json.RawMessage) bool { return len(value) == 0 || string(value) == "null" }

func (s *Store) setValue(ctx context.Context, path string, f field, value json.RawMessage) error {
	reset := isReset(value)
	s.mu.Lock()
	overrides := maps.Clone(s.overrides)
	s.mu.Unlock()
	var dropped []string
	trimmed := map[string]json.RawMessage{}
	for p, whole := range overrides {
		// it was set as a part of an object; a server is replaced as a whole
		if below, ok := strings.CutPrefix(path, p+"."); ok && (reset || isServer(path)) {
			if rest, had := without(whole, below); had {
				overrides[p], trimmed[p] = rest, rest
			}
		}
		if p == path || strings.HasPrefix(p, path+".") { // a new object replaces its stored parts
			delete(overrides, p)
			if p != path || reset {
				dropped = append(dropped, p)
			}
		}
	}
	var hidden map[string]string
	if !reset {
		var err error
		if value, hidden, err = s.hideSecrets(path, value); err != nil {
			return err
		}
		if err := f.check(path, value); err != nil {
			return err
		}
		overrides[path] = value
	}
	next, _, err := build(overrides)
	if errors.Is(err, protocol.ErrBadRequest) {
		return err
	} else if err != nil {
		return bad("%s: %v", path, err)
	}
	if err := s.saveSecrets(hidden); err != nil {
		return err
	}
	for _, p := range dropped {
		if err := s.backend.Put(ctx, p, nil); err != nil {
			return err
		}
	}
	for p, rest := range trimmed {
		if err := s.backend.Put(ctx, p, rest); err != nil {
			return err
		}
	}
	if !reset {
		if err := s.backend.Put(ctx, path, value); err != nil {
			return err
		}
	}
	s.mu.Lock()
	s.overrides, s.current = overrides, next
	s.mu.Unlock()
	s.dropSecrets(next)
	return nil
}

func without(whole json.RawMessage, path string) (rest json.RawMessage, had bool) {
	var tree map[string]any
	if err := json.Unmarshal(whole, &tree); err != nil {
		return nil, false
	}
	parts := strings.Split(path, ".")
	at := tree
	for _, name := range parts[:len(parts)-1] {
		next, ok := at[name].(map[string]any)
		if !ok {
			return nil, false
		}
		at = next
	}
	last := parts[len(parts)-1]
	if _, had = at[last]; !had {
		return nil, false
	}
	delete(at, last)
	rest, err := protocol.Marshal(tree)
	return rest, err == nil
}

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
func (s *Store) setSecrets(ctx context.Context, path string, value json.RawMessage) (changed []string, err error) {
	parts := map[string]json.RawMessage{}
	switch {
	case !isReset(value):
		if err := json.Unmarshal(value, &parts); err != nil {
			return nil, bad("%s must be an object", path) // do not repeat a value that may be a key
		}
	case path == "auth":
		return nil, errTokenStays
	}
	const unchanged = `"` + protocol.MaskedSecret + `"`
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		part, value := path+"."+name, parts[name]
		if f, err := lookup(part); err != nil {
			return nil, err
		} else if f.secret == "" || strings.Contains(name, ".") {
			return nil, bad("%s is not the path of a secret", part)
		}
		if _, err := plainSecret(part, value); err != nil && !isReset(value) && string(value) != unchanged {
			return nil, err
		}
	}
	s.mu.Lock()
	for have := range s.keys {
		name, below := strings.CutPrefix(have, path+".")
		if _, named := parts[name]; below && !named && path != "auth" {
			parts[name] = nil
		}
	}
	s.mu.Unlock()
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		if string(parts[name]) == unchanged {
			continue
		}
		part := path + "." + name
		f, err := lookup(part)
		if err == nil {
			err = s.setSecret(ctx, part, f.secret, parts[name])
		}
		if err != nil {
			return changed, err
		}
		changed = append(changed, part)
	}
	return changed, nil
}

func (s *Store) setSecret(ctx context.Context, path, name string, value json.RawMessage) error {
	if isReset(value) {
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

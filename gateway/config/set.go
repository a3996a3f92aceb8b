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
	if err != nil {
		return err
	}
	s.mu.Lock()
	watchers := slices.Clone(s.watchers)
	s.mu.Unlock()
	for _, p := range changed {
		for _, w := range watchers {
			w(p)
		}
	}
	return nil
}

// set returns the changed paths.
func (s *Store) set(ctx context.Context, path string, f field, value json.RawMessage) ([]string, error) {
	s.write.Lock()
	defer s.write.Unlock()
	switch {
	case path == "apiKeys" || path == "auth":
		return s.setSecrets(ctx, path, value)
	case f.secret != "":
		return s.setSecretsAt(ctx, map[string]json.RawMessage{path: value})
	}
	if err := s.setValue(ctx, path, f, value); err != nil {
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
	values, secrets := map[string]json.RawMessage{}, map[string]string{}
	for p, whole := range overrides {
		// it was set as a part of an object; a server or a provider is replaced as a whole
		if below, ok := strings.CutPrefix(path, p+"."); ok && (reset || isServer(path)) {
			if rest, had := without(whole, below); had {
				overrides[p], values[p] = rest, rest
			}
		}
		if p == path || strings.HasPrefix(p, path+".") { // a new object replaces its stored parts
			delete(overrides, p)
			values[p] = nil
		}
	}
	if !reset {
		var err error
		if value, secrets, err = s.hideSecrets(path, value); err != nil {
			return err
		}
		if err := f.check(path, value); err != nil {
			return err
		}
		overrides[path], values[path] = value, value
	}
	next, _, err := build(overrides)
	if errors.Is(err, protocol.ErrBadRequest) {
		return err
	} else if err != nil {
		return bad("%s: %v", path, err)
	}
	for _, unused := range s.unusedSecrets(next) {
		secrets[unused] = ""
	}
	if err := s.store(ctx, values, secrets); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.overrides, s.current = overrides, next
	return nil
}

// store stores values, and secrets by their paths, all of them or none; nil or an empty secret removes
// one. Only then the secrets are active.
func (s *Store) store(ctx context.Context, values map[string]json.RawMessage, secrets map[string]string) error {
	named := make(map[string]keychain.Secret, len(secrets))
	for path, plain := range secrets {
		named[nameInStore(path)] = keychain.Secret(plain)
	}
	undo, err := keychain.Replace(s.secrets, named)
	if err != nil {
		return err
	}
	if err := s.backend.Put(ctx, values); err != nil {
		return errors.Join(err, undo())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for path, plain := range secrets {
		s.keys[path] = plain
		if plain == "" {
			delete(s.keys, path)
		}
		s.missing = slices.DeleteFunc(s.missing, func(p string) bool { return p == path })
	}
	return nil
}

// nameInStore returns the name in the secret store of the secret at a path.
func nameInStore(path string) string {
	if f, err := lookup(path); err == nil && f.secret != "" {
		return f.secret
	}
	return path // of a server or a provider
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
	at := map[string]json.RawMessage{}
	for name, value := range parts {
		if string(value) != unchanged {
			at[path+"."+name] = value
		}
	}
	return s.setSecretsAt(ctx, at)
}

// setSecretsAt sets secrets by their paths, all of them or none, and returns the paths.
func (s *Store) setSecretsAt(ctx context.Context, at map[string]json.RawMessage) ([]string, error) {
	values, secrets := map[string]json.RawMessage{}, map[string]string{}
	for path, value := range at {
		values[path], secrets[path] = nil, ""
		if isReset(value) {
			if path == "auth.token" {
				return nil, errTokenStays
			}
			continue
		}
		plain, err := plainSecret(path, value)
		if err != nil {
			return nil, err
		}
		values[path], secrets[path] = json.RawMessage(`true`), plain // only the fact that it is set
	}
	if err := s.store(ctx, values, secrets); err != nil {
		return nil, fmt.Errorf("store %s: %w", strings.Join(slices.Sorted(maps.Keys(at)), ", "), err)
	}
	return slices.Sorted(maps.Keys(at)), nil
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

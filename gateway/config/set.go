package config

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

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
	watchers := slices.Collect(maps.Values(s.watchers))
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
	reset := len(value) == 0 || string(value) == "null"
	switch {
	case path == "apiKeys" || path == "auth":
		return s.setSecrets(ctx, path, value, reset)
	case f.secret != "":
		err = s.setSecret(ctx, path, f.secret, value, reset)
	default:
		err = s.setValue(ctx, path, f, value, reset)
	}
	if err != nil {
		return nil, err
	}
	return []string{path}, nil
}

func (s *Store) setValue(ctx context.Context, path string, f field, value json.RawMessage, reset bool) error {
	s.mu.Lock()
	overrides := maps.Clone(s.overrides)
	s.mu.Unlock()
	var dropped []string
	trimmed := map[string]json.RawMessage{}
	for p, whole := range overrides {
		// it was set as a part of an object
		if below, ok := strings.CutPrefix(path, p+"."); ok && reset {
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
	if !reset {
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
	return nil
}

// without removes the part at a path from a stored object.
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

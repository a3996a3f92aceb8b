package config

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/secret"
)

// Backend keeps the settings that differ from their defaults, by path.
type Backend interface {
	Settings(ctx context.Context) (map[string]json.RawMessage, error)
	PutSetting(ctx context.Context, key string, value json.RawMessage) error
}

// Store is the live configuration. It is safe for use by many goroutines; reading never blocks on the disk.
type Store struct {
	backend Backend
	secrets secret.Store

	write sync.Mutex // held over a whole Set, so that changes come one after another

	mu        sync.Mutex // guards what follows
	overrides map[string]json.RawMessage
	present   Config
	keys      map[string]string // secrets by path; values in memory only
	watchers  map[int]func(string)
	next      int
}

// Open loads the configuration. A stored value that is no longer legal is left out, and returned as a problem, instead of keeping
// the gateway from starting.
func Open(ctx context.Context, backend Backend, secrets secret.Store) (s *Store, problems []error, err error) {
	stored, err := backend.Settings(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("read configuration: %w", err)
	}
	s = &Store{backend: backend, secrets: secrets, overrides: map[string]json.RawMessage{}, keys: map[string]string{}, watchers: map[int]func(string){}}
	for _, path := range slices.Sorted(maps.Keys(stored)) {
		value := stored[path]
		f, err := lookup(path)
		if err == nil && f.secret != "" {
			// Only the fact that it is set is stored here.
			var v secret.Secret
			if v, err = secrets.Get(f.secret); err == nil {
				s.keys[path] = v.Reveal()
			} else if errors.Is(err, secret.ErrNotFound) {
				err = fmt.Errorf("%s was set, but %s does not have it: enter it again", path, secrets.Where())
			}
		} else if path == "auth" || path == "apiKeys" {
			err = fmt.Errorf("%s was stored as a whole and is ignored: secrets belong in the keychain, set them again", path)
		} else if err == nil {
			if err = f.check(path, value); err == nil {
				s.overrides[path] = value
			}
		}
		if err != nil {
			problems = append(problems, err)
		}
	}
	for {
		var path string
		if s.present, path, err = build(s.overrides); err == nil {
			return s, problems, nil
		} else if path == "" {
			return nil, nil, err
		}
		problems = append(problems, err)
		delete(s.overrides, path)
	}
}

// Get returns a copy of the configuration, with every secret empty. Maps and slices in it must not be changed.
func (s *Store) Get() Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.present
}

// All returns the whole configuration as JSON. Secrets that are set read as "***".
func (s *Store) All() (json.RawMessage, error) {
	tree, err := s.masked()
	if err != nil {
		return nil, err
	}
	return protocol.Marshal(tree)
}

func (s *Store) masked() (map[string]any, error) {
	tree, err := toTree(s.Get())
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	if auth, ok := tree["auth"].(map[string]any); ok {
		auth["token"] = protocol.MaskedSecret // a gateway always has one
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for path := range s.keys {
		put(tree, strings.Split(path, "."), protocol.MaskedSecret)
	}
	return tree, nil
}

// Read returns the value at a path, masked like All. ok is false for a legal path that holds nothing; a path that cannot exist is a
// protocol.ErrBadRequest.
func (s *Store) Read(path string) (value json.RawMessage, ok bool, err error) {
	if _, err := lookup(path); err != nil {
		return nil, false, err
	}
	tree, err := s.masked()
	if err != nil {
		return nil, false, err
	}
	var v any = tree
	for _, name := range strings.Split(path, ".") {
		m, isMap := v.(map[string]any)
		if !isMap {
			return nil, false, nil
		}
		if v, ok = m[name]; !ok {
			return nil, false, nil
		}
	}
	value, err = protocol.Marshal(v)
	return value, true, err
}

// Set changes the value at a path; nil or null brings the default back, and in an object each null does so for its part. It is
// checked first, stored, and in force when Set returns. An illegal value is a protocol.ErrBadRequest that says what is legal.
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

// set returns what has changed, also when it failed after a part.
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
		if below, ok := strings.CutPrefix(path, p+"."); ok && reset { // it was set with the whole
			if rest, had := without(whole, below); had {
				overrides[p], trimmed[p] = rest, rest
			}
		}
		if p == path || strings.HasPrefix(p, path+".") { // what was set below is replaced with the whole
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
		if err := s.backend.PutSetting(ctx, p, nil); err != nil {
			return err
		}
	}
	for p, rest := range trimmed {
		if err := s.backend.PutSetting(ctx, p, rest); err != nil {
			return err
		}
	}
	if !reset {
		if err := s.backend.PutSetting(ctx, path, value); err != nil {
			return err
		}
	}
	s.mu.Lock()
	s.overrides, s.present = overrides, next
	s.mu.Unlock()
	return nil
}

// without takes the part at a path out of a stored object.
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

// OnChange calls f with the path after every change, on the goroutine that made it, until cancel is called. f may
// call the Store.
func (s *Store) OnChange(f func(path string)) (cancel func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := s.next
	s.next++
	s.watchers[id] = f
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.watchers, id)
	}
}

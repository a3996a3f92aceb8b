package config

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
)

// Backend stores the settings that differ from their defaults, by path.
type Backend interface {
	All(ctx context.Context) (map[string]json.RawMessage, error)
	// Put stores all of the values or none; nil removes one.
	Put(ctx context.Context, values map[string]json.RawMessage) error
}

// Store is the live configuration. It is safe for concurrent use; reading never blocks on the disk.
type Store struct {
	backend Backend
	secrets keychain.Store

	write sync.Mutex // held during a whole Set, so that changes run one after the other

	mu        sync.Mutex // guards the fields below
	overrides map[string]json.RawMessage
	current   Config
	keys      map[string]string // secrets by path; values in memory only
	// paths of secrets that were set but are missing in the secret store
	missing  []string
	watchers []func(path string)
}

// Open loads the configuration. A stored value that is no longer valid is skipped and returned as a
// problem, so that the gateway starts nevertheless.
func Open(ctx context.Context, backend Backend, secrets keychain.Store) (s *Store, problems []error, err error) {
	stored, err := backend.All(ctx)
	if err != nil {
		return nil, nil, fmt.Errorf("read configuration: %w", err)
	}
	s = &Store{backend: backend, secrets: secrets, overrides: map[string]json.RawMessage{}, keys: map[string]string{}}
	for _, path := range slices.Sorted(maps.Keys(stored)) {
		value := stored[path]
		f, err := lookup(path)
		if err == nil && f.secret != "" {
			// Only the fact that it is set is stored here.
			var v keychain.Secret
			if v, err = secrets.Get(f.secret); err == nil {
				s.keys[path] = v.Reveal()
			} else if errors.Is(err, keychain.ErrNotFound) {
				s.missing = append(s.missing, path)
				err = fmt.Errorf("%s is missing in %s: enter it again", path, secrets.Where())
			}
		} else if path == "auth" || path == "apiKeys" {
			err = fmt.Errorf("%s is ignored because it was stored as a whole: set its secrets one by one", path)
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
		if s.current, path, err = build(s.overrides); err == nil {
			return s, append(problems, s.loadSecrets()...), nil
		} else if path == "" {
			return nil, nil, err
		}
		problems = append(problems, err)
		delete(s.overrides, path)
	}
}

// Get returns a copy of the configuration, with every secret empty. Maps and slices in it must not
// be changed.
func (s *Store) Get() Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

// All returns the whole configuration as JSON. Secrets that are set read as "***".
func (s *Store) All() (json.RawMessage, error) {
	tree, err := s.maskedValues()
	if err != nil {
		return nil, err
	}
	return protocol.Marshal(tree)
}

func (s *Store) maskedValues() (map[string]any, error) {
	tree, err := recode[map[string]any](s.Get())
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	if auth, ok := tree["auth"].(map[string]any); ok {
		auth["token"] = protocol.MaskedSecret // a gateway always has one
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for path := range s.keys {
		setPath(tree, strings.Split(path, "."), protocol.MaskedSecret)
	}
	return tree, nil
}

// Read returns the value at a path, masked as in All, or nil for a valid path without a value. An
// invalid path fails with protocol.ErrBadRequest.
func (s *Store) Read(path string) (json.RawMessage, error) {
	if _, err := lookup(path); err != nil {
		return nil, err
	}
	tree, err := s.maskedValues()
	if err != nil {
		return nil, err
	}
	var v any = tree
	for name := range strings.SplitSeq(path, ".") {
		part, ok := v.(map[string]any)
		if !ok {
			return nil, nil
		}
		if v, ok = part[name]; !ok {
			return nil, nil
		}
	}
	return protocol.Marshal(v)
}

// OnChange registers f, which is called with the path after every change, on the goroutine that
// made the change. f may call the Store.
func (s *Store) OnChange(f func(path string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.watchers = append(s.watchers, f)
}

// build merges overrides into the defaults, short paths first so that a part overrides the whole,
// and validates the result. On an error, culprit is the override that causes it, if it can be
// determined.
func build(overrides map[string]json.RawMessage) (c Config, culprit string, err error) {
	tree, err := recode[map[string]any](Default())
	if err != nil {
		return Config{}, "", err
	}
	paths := slices.SortedFunc(maps.Keys(overrides), func(a, b string) int {
		return cmp.Or(strings.Count(a, ".")-strings.Count(b, "."), strings.Compare(a, b))
	})
	c = Default()
	for _, path := range paths {
		var v any
		if err := json.Unmarshal(overrides[path], &v); err != nil {
			return Config{}, path, fmt.Errorf("read setting %s: %w", path, err)
		}
		setPath(tree, strings.Split(path, "."), v)
		if c, err = recode[Config](tree); err != nil {
			return Config{}, path, fmt.Errorf("read setting %s: %w", path, err)
		}
		if err := validate("", reflect.ValueOf(c), ""); err != nil {
			return Config{}, path, err
		}
	}
	return c, "", nil
}

// recode returns what the JSON of v is as a T.
func recode[T any](v any) (out T, err error) {
	raw, err := protocol.Marshal(v)
	if err != nil {
		return out, err
	}
	return out, json.Unmarshal(raw, &out)
}

// setPath sets a value in the tree; objects are merged, everything else is replaced.
func setPath(tree map[string]any, path []string, v any) {
	if v == nil {
		return // the default remains
	}
	for _, name := range path[:len(path)-1] {
		next, ok := tree[name].(map[string]any)
		if !ok {
			next = map[string]any{}
			tree[name] = next
		}
		tree = next
	}
	last := path[len(path)-1]
	old, isObject := tree[last].(map[string]any)
	if add, ok := v.(map[string]any); ok && isObject {
		for k, x := range add {
			setPath(old, []string{k}, x)
		}
		return
	}
	tree[last] = v
}

// Provider returns the person's key, address and API ("chat" or "responses") of a model provider;
// "" for a missing one.
func (s *Store) Provider(id string) (key, baseURL, wire string) {
	key, _ = s.Secret("apiKeys." + id)
	p := s.Get().Providers[id]
	return key, p.BaseURL, p.Wire
}

// LocalModels returns the model that llama-server runs, its context in tokens, and the address from
// which files of models are downloaded.
func (s *Store) LocalModels() (serve string, contextTokens int, mirror string) {
	c := s.Get().LocalModels
	return c.Serve, c.ContextTokens, c.Mirror
}

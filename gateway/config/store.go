package config

import (
	"bytes"
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

// build lays overrides over the defaults, short paths first so that a part overrides the whole, and validates the result. culprit is
// the override without which it would have been legal, as far as that can be told.
func build(overrides map[string]json.RawMessage) (c Config, culprit string, err error) {
	tree, err := toTree(Default())
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
		put(tree, strings.Split(path, "."), v)
		if c, err = fromTree(tree); err != nil {
			return Config{}, path, fmt.Errorf("read setting %s: %w", path, err)
		}
		if err := validate("", reflect.ValueOf(c), ""); err != nil {
			return Config{}, path, err
		}
	}
	return c, "", nil
}

func fromTree(tree map[string]any) (c Config, err error) {
	raw, err := protocol.Marshal(tree)
	if err != nil {
		return Config{}, err
	}
	return c, json.Unmarshal(raw, &c)
}

func toTree(c Config) (map[string]any, error) {
	raw, err := protocol.Marshal(c)
	if err != nil {
		return nil, err
	}
	var tree map[string]any
	return tree, json.Unmarshal(raw, &tree)
}

// put sets a value in the tree; objects merge, everything else is replaced.
func put(tree map[string]any, path []string, v any) {
	if v == nil {
		return // the default holds
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
			put(old, []string{k}, x)
		}
		return
	}
	tree[last] = v
}

// Get returns a copy of the configuration, with every secret empty. Maps and slices in it must not be changed.
func (s *Store) Get() Config {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.present
}

// Secret returns a secret by its path, such as "apiKeys.anthropic".
func (s *Store) Secret(path string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	v, ok := s.keys[path]
	return v, ok
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

// setSecrets sets the secrets of an object one by one: null removes one, "***" leaves it, and of the keys those that are not named go.
func (s *Store) setSecrets(ctx context.Context, path string, value json.RawMessage, reset bool) (changed []string, err error) {
	if path == "auth" && reset {
		return nil, errTokenStays
	}
	parts := map[string]json.RawMessage{}
	if !reset {
		if err := json.Unmarshal(value, &parts); err != nil {
			return nil, bad("%s must be an object", path) // never repeat what may be a key
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
			return nil, bad("%s cannot be addressed", part)
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

func (s *Store) setValue(ctx context.Context, path string, f field, value json.RawMessage, reset bool) error {
	s.mu.Lock()
	overrides := maps.Clone(s.overrides)
	s.mu.Unlock()
	var dropped []string
	for p := range overrides {
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
		s.mu.Unlock()
		return s.backend.PutSetting(ctx, path, nil)
	}
	plain, err := plainSecret(path, value)
	if err != nil {
		return err
	}
	if err := s.secrets.Set(name, secret.Secret(plain)); err != nil {
		return fmt.Errorf("store %s: %w", path, err)
	}
	if err := s.backend.PutSetting(ctx, path, json.RawMessage(`true`)); err != nil {
		return err
	}
	s.mu.Lock()
	s.keys[path] = plain
	s.mu.Unlock()
	return nil
}

var errTokenStays = bad("the token cannot be removed: a gateway without one would obey anybody")

// plainSecret reads a secret's text. Its errors do not repeat it.
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
	if plain == "" || plain == protocol.MaskedSecret {
		return "", bad("%s must not be empty", path)
	}
	return plain, nil
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

package config

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"fairlead/gateway/protocol"
)

// build merges overrides into the defaults, short paths first so that a part overrides the whole,
// and validates the result. On an error, culprit is the override that causes it, if it can be
// determined.
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

// put sets a value in the tree; objects are merged, everything else is replaced.
func put(tree map[string]any, path []string, v any) {
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
			put(old, []string{k}, x)
		}
		return
	}
	tree[last] = v
}

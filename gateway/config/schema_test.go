package config

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

func TestSchemaDescribesEverySetting(t *testing.T) {
	described := map[string]bool{}
	for _, f := range Schema() {
		if described[f.Path] {
			t.Errorf("%s is there twice", f.Path)
		}
		described[f.Path] = true
		if f.Description == "" || !strings.HasSuffix(f.Description, ".") || strings.HasSuffix(f.Description, "..") {
			t.Errorf(`%s: description %q; want some Description, a Description that ends with "." and a Description that does not end with ".."`, f.Path, f.Description)
		}
		if f.Title == "" || f.Group == "" || strings.HasSuffix(f.Title, ".") {
			t.Errorf("%s: title %q, group %q; want both, and no full stop", f.Path, f.Title, f.Group)
		}
		if (f.Type == "list") != (f.Items != "") {
			t.Errorf("%s is a %s of %q, want items for a list alone", f.Path, f.Type, f.Items)
		}
		if _, err := lookup(strings.ReplaceAll(f.Path, "*", "name")); err != nil {
			t.Errorf("%s: %v", f.Path, err)
		}
	}
	for path := range descriptions() {
		if !described[path] {
			t.Errorf("settings.json describes %s, which does not exist", path)
		}
	}
	if n := strings.Count(string(settingsJSON), `{"path"`); n != len(descriptions()) {
		t.Errorf("settings.json has %d entries for %d paths", n, len(descriptions()))
	}
}

// TestSchemaMatchesValidation sets each setting to the values that its entry declares valid, and to
// invalid ones.
func TestSchemaMatchesValidation(t *testing.T) {
	t.Setenv("FAIRLEAD_SECRETS", "file")
	s := open(t, memory{}, t.TempDir())
	for _, f := range Schema() {
		path := strings.ReplaceAll(f.Path, "*", "name")
		set := func(v any) error {
			raw, err := protocol.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			return s.Set(t.Context(), path, raw)
		}
		if f.Default != nil {
			now, err := s.Read(path)
			if err != nil || string(now) != string(f.Default) {
				t.Errorf("%s: its default is %s, a new gateway has %s, %v", path, f.Default, now, err)
			}
			if err := s.Set(t.Context(), path, f.Default); err != nil {
				t.Errorf("%s: its default is refused: %v", path, err)
			}
		}
		if f.Enum != nil && strings.HasPrefix(path, "mcp.servers.") {
			if err := s.Set(t.Context(), "mcp.servers.name", json.RawMessage(`{"command": "npx", "args": ["-y", "x"]}`)); err != nil {
				t.Fatal(err)
			}
		}
		for _, one := range f.Enum {
			if err := set(one); err != nil {
				t.Errorf("%s = %q: %v", path, one, err)
			}
		}
		if f.Enum != nil && set("something else") == nil {
			t.Errorf("%s takes what is not in its list", path)
		}
		if f.Min != nil && (set(*f.Min) != nil || set(*f.Min-1) == nil) {
			t.Errorf("%s: the least is not %v", path, *f.Min)
		}
		if f.Max != nil && (set(*f.Max) != nil || set(*f.Max+1) == nil) {
			t.Errorf("%s: the most is not %v", path, *f.Max)
		}
		wrong := map[string]any{"string": []int{1}, "integer": 1.5, "number": "x", "boolean": "yes", "list": map[string]int{}}[f.Type]
		if err := set(wrong); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s, said to be a %s, took %v: %v", path, f.Type, wrong, err)
		}
		if f.Secret {
			if err := set("sk-secret"); err != nil {
				t.Errorf("%s: %v", path, err)
			}
			if v, _ := s.Read(path); string(v) != `"***"` || f.Default != nil {
				t.Errorf("%s reads as %s, want *** and no default", path, v)
			}
		}
		if path != "auth.token" {
			if err := s.Set(t.Context(), path, nil); err != nil {
				t.Errorf("%s cannot be reset: %v", path, err)
			}
		}
	}
}

func TestSchemaIsSmallAndStable(t *testing.T) {
	raw, err := json.Marshal(Schema())
	if err != nil || len(raw) > 64<<10 {
		t.Errorf("got %d bytes, %v; want at most 64 KiB", len(raw), err)
	}
	keys := slices.IndexFunc(Schema(), func(f protocol.ConfigField) bool { return f.Path == "apiKeys.*" })
	if f := Schema()[keys]; !f.Secret || f.Type != "string" || f.Default != nil {
		t.Errorf(`got %+v; want Secret, Type "string" and no Default`, f)
	}
}

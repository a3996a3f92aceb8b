package state

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"fairlead/gateway/protocol"
)

// Setting is one setting of the gateway with its value.
type Setting struct {
	protocol.ConfigField
	// Name is the path with the person's names in place of "*". In a Pattern it still contains "*",
	// where a name can be added.
	Name    string
	Pattern bool
	// Value is nil without a setting and a default. A secret that is set is
	// [protocol.MaskedSecret].
	Value   json.RawMessage
	Changed bool // differs from the default
}

// SettingsView is the state of the page of all settings.
type SettingsView struct {
	Loaded  bool
	Problem string // reason why loading failed
	List    []Setting
}

// Groups returns the names of the groups of settings, in order.
func (v SettingsView) Groups() []string {
	var list []string
	for _, s := range v.List {
		if !slices.Contains(list, s.Group) {
			list = append(list, s.Group)
		}
	}
	return list
}

// Find returns the settings that have every word of the query in their path, title, explanation or
// group. It can be limited to a group (unless empty) and to changed settings. Settings of a group
// are adjacent.
func (v SettingsView) Find(query, group string, changed bool) []Setting {
	var list []Setting
	for _, s := range v.List {
		found := matches(s.Name+" "+s.Title+" "+s.Description+" "+s.Group, query)
		if found && (group == "" || s.Group == group) && (!changed || s.Changed) {
			list = append(list, s)
		}
	}
	order := v.Groups()
	slices.SortStableFunc(list, func(a, b Setting) int { return cmp.Compare(slices.Index(order, a.Group), slices.Index(order, b.Group)) })
	return list
}

// Settings is the view model of all settings. Its methods are safe for concurrent use.
type Settings struct {
	Value *Value[SettingsView]
	app   *App
}

// NewSettings returns an empty view model; Follow loads it.
func NewSettings(a *App) *Settings { return &Settings{Value: NewValue(SettingsView{}), app: a} }

// Follow loads the settings, and reloads them when the feed reports a change or the connection is
// back, until ctx ends. It blocks.
func (s *Settings) Follow(ctx context.Context) {
	type seen struct {
		changes   int
		connected bool
	}
	var last *seen
	for v := range s.app.Value.Changes(ctx) {
		if now := (seen{v.ConfigChanged, v.Connected}); last == nil || *last != now {
			last = &now
			s.Load(ctx)
		}
	}
}

// Load loads the settings once. It blocks.
func (s *Settings) Load(ctx context.Context) {
	schema, err := Call(ctx, s.app, protocol.ConfigSchema, protocol.Empty{})
	var tree map[string]json.RawMessage
	if err == nil {
		var all protocol.ConfigGetResult
		if all, err = Call(ctx, s.app, protocol.ConfigGet, protocol.ConfigGetParams{}); err == nil {
			err = json.Unmarshal(all.Config, &tree)
		}
	}
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		s.Value.Update(func(v SettingsView) SettingsView { v.Problem = sentence(err); return v })
		return
	}
	list := settingsOf(schema.Fields, tree)
	s.Value.Update(func(SettingsView) SettingsView { return SettingsView{Loaded: true, List: list} })
}

// Save changes a setting; nil restores its default. It blocks.
func (s *Settings) Save(ctx context.Context, name string, value json.RawMessage) error {
	_, err := Call(ctx, s.app, protocol.ConfigSet, protocol.ConfigSetParams{Path: name, Value: value})
	return err
}

// settingsOf combines the descriptions of settings with their values.
func settingsOf(fields []protocol.ConfigField, tree map[string]json.RawMessage) []Setting {
	var list []Setting
	for _, f := range fields {
		if f.Group == "" { // gateway without group names
			f.Group, _, _ = strings.Cut(f.Path, ".")
		}
		if f.Title == "" {
			f.Title = f.Path[strings.LastIndex(f.Path, ".")+1:]
		}
		for _, name := range namesOf(strings.Split(f.Path, "."), tree) {
			s := Setting{ConfigField: f, Name: name}
			s.Value = valueAt(strings.Split(name, "."), tree)
			if s.Value == nil {
				s.Value = f.Default
			}
			// every gateway has a token of its own
			s.Changed = !sameJSON(s.Value, f.Default) && name != "auth.token"
			list = append(list, s)
		}
		if strings.Contains(f.Path, "*") {
			list = append(list, Setting{ConfigField: f, Name: f.Path, Pattern: true})
		}
	}
	return list
}

// namesOf replaces each "*" by every existing name.
func namesOf(path []string, tree map[string]json.RawMessage) []string {
	star := slices.Index(path, "*")
	if star < 0 {
		return []string{strings.Join(path, ".")}
	}
	var inside map[string]json.RawMessage
	if err := json.Unmarshal(valueAt(path[:star], tree), &inside); err != nil {
		return nil
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(inside)) {
		full := slices.Clone(path)
		full[star] = name
		list = append(list, strings.Join(full, "."))
	}
	return list
}

// valueAt returns the value at a path, or nil.
func valueAt(path []string, tree map[string]json.RawMessage) json.RawMessage {
	v := tree[path[0]]
	for _, name := range path[1:] {
		var inside map[string]json.RawMessage
		if err := json.Unmarshal(v, &inside); err != nil {
			return nil
		}
		v = inside[name]
	}
	return v
}

// sameJSON compares values. A missing value equals an empty text, an empty list and false: clients
// cannot tell them apart.
func sameJSON(a, b json.RawMessage) bool {
	return bytes.Equal(compact(a), compact(b))
}

func compact(v json.RawMessage) []byte {
	var plain any
	if json.Unmarshal(v, &plain) != nil {
		return nil
	}
	switch x := plain.(type) {
	case nil:
		return nil
	case string:
		if x == "" {
			return nil
		}
	case []any:
		if len(x) == 0 {
			return nil
		}
	}
	out, err := protocol.Marshal(plain) // this was parsed before and cannot fail
	if err != nil {
		return nil
	}
	return out
}

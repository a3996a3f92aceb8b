package settings

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

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/app/wording"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/display"
)

// Setting is one setting of the gateway with its value.
type Setting struct {
	protocol.ConfigField
	// Name is the path with a name in place of "*", except in a Pattern, where one can be added.
	Name    string
	Pattern bool
	// Value is nil if unknown; a secret that is set is [protocol.MaskedSecret].
	Value   json.RawMessage
	Changed bool // differs from the default
}

// IsOfProvider reports whether the name in its path is that of a model provider.
func (s Setting) IsOfProvider() bool {
	return strings.HasPrefix(s.Path, "apiKeys.") || strings.HasPrefix(s.Path, "providers.")
}

// View is the state of the page of all settings.
type View struct {
	Loaded  bool
	Problem string // reason why loading failed
	List    []Setting
}

// Groups returns the names of the groups of settings, in order.
func (v View) Groups() []string {
	var list []string
	for _, s := range v.List {
		if !slices.Contains(list, s.Group) {
			list = append(list, s.Group)
		}
	}
	return list
}

// Find returns the settings that have every word of the query, limited to a group unless it is
// empty, and to changed ones. Settings of a group are adjacent.
func (v View) Find(query, group string, changed bool) []Setting {
	list := lists.Without(v.List, func(s Setting) bool {
		found := wording.Matches(s.Name+" "+s.Title+" "+s.Description+" "+s.Group, query)
		return !found || group != "" && s.Group != group || changed && !s.Changed
	})
	order := v.Groups()
	slices.SortStableFunc(list, func(a, b Setting) int { return cmp.Compare(slices.Index(order, a.Group), slices.Index(order, b.Group)) })
	return list
}

// Model is the view model of all settings.
type Model struct {
	feed.Loader[View]
	feed *feed.Feed
}

// newModel returns an empty view model; Follow loads it.
func newModel(f *feed.Feed) *Model {
	s := &Model{feed: f}
	s.Loader = feed.Loader[View]{
		Value: feed.NewValue(View{}), Feed: f, Fetch: s.fetch, Problem: func(v *View) *string { return &v.Problem },
		Facts: []feed.Fact{f.Changed, f.Status},
		Key:   func(v feed.View) string { return fmt.Sprint(v.Changed.Config, v.Status.Connected) },
	}
	return s
}

func (s *Model) fetch(ctx context.Context) (func(*View), error) {
	schema, err := feed.Call(ctx, s.feed, protocol.ConfigSchema, protocol.Empty{})
	if err != nil {
		return nil, err
	}
	tree, err := feed.ConfigAt[map[string]json.RawMessage](ctx, s.feed, "")
	if err != nil {
		return nil, err
	}
	list := settingsOf(schema.Fields, tree)
	return func(v *View) { *v = View{Loaded: true, List: list} }, nil
}

// Save changes a setting; nil restores its default. It blocks.
func (s *Model) Save(ctx context.Context, name string, value json.RawMessage) error {
	return feed.Send(ctx, s.feed, protocol.ConfigSet, protocol.ConfigSetParams{Path: name, Value: value})
}

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
	return lists.Map(slices.Sorted(maps.Keys(inside)), func(name string) string {
		return strings.Join(slices.Replace(slices.Clone(path), star, star+1, name), ".")
	})
}

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

// sameJSON compares values; clients cannot tell a missing one from an empty text or list.
func sameJSON(a, b json.RawMessage) bool { return reflect.DeepEqual(plainValue(a), plainValue(b)) }

func plainValue(raw json.RawMessage) any {
	var v any
	err := json.Unmarshal(raw, &v)
	if list, ok := v.([]any); err != nil || v == "" || ok && len(list) == 0 {
		return nil
	}
	return v
}

// secretPlace says where a pasted key will be stored.
func secretPlace(st protocol.Status) string {
	if st.SecretStore == "" || st.SecretStore == "keychain" {
		return "the system's keychain"
	}
	return "a file that only you can read"
}

// MissingSecrets says which configured secrets are missing.
func MissingSecrets(st protocol.Status) string {
	names := lists.Map(st.Missing, display.SecretName)
	verb := " is missing."
	if len(names) > 1 {
		verb = " are missing."
	}
	return format.Capital(strings.Join(names, ", ") + verb)
}

// MissingSecretsHelp says how to restore them.
func MissingSecretsHelp(st protocol.Status) string {
	if st.SecretStore == "keychain" {
		if len(st.Missing) > 1 {
			return "They are no longer in the system's keychain. Enter them again in the settings."
		}
		return "It is no longer in the system's keychain. Enter it again in the settings."
	}
	return "The system's keychain does not respond; it may be locked. Unlock it and restart Fairlead, or enter the missing values in the settings. They are then stored in " +
		st.SecretStore + ", which only you can read."
}

// Models finds and selects models.
type Models struct{ Feed *feed.Feed }

// Detect searches for model servers on the gateway's machine. It blocks for some seconds.
func (m Models) Detect(ctx context.Context) ([]protocol.DetectedServer, error) {
	r, err := feed.Call(ctx, m.Feed, protocol.ModelsDetect, protocol.Empty{})
	return r.Servers, err
}

// UseServer makes a detected server the default, with its first model with tools, if any.
func (m Models) UseServer(ctx context.Context, s protocol.DetectedServer) (protocol.ModelRef, error) {
	if len(s.Models) == 0 {
		return protocol.ModelRef{}, errors.New(s.Name + " has no model loaded. Load one there, then try again")
	}
	ref := protocol.ModelRef{Provider: s.Provider, ID: s.Models[0].ID}
	if model, ok := lists.Find(s.Models, func(i protocol.ModelInfo) bool { return i.Tools }); ok {
		ref.ID = model.ID
	}
	if err := feed.Set(ctx, m.Feed, "providers."+s.Provider+".baseUrl", s.BaseURL); err != nil {
		return ref, err
	}
	return ref, m.Use(ctx, ref)
}

// Use sets the default model and leaves the thinking level unchanged. It blocks.
func (m Models) Use(ctx context.Context, ref protocol.ModelRef) error {
	type model struct {
		protocol.ModelRef
		ThinkingLevel json.RawMessage `json:"thinkingLevel,omitempty"`
	}
	r, err := feed.Call(ctx, m.Feed, protocol.ConfigGet, protocol.ConfigGetParams{Path: "model.thinkingLevel"})
	if err != nil {
		return err
	}
	return feed.Set(ctx, m.Feed, "model", model{ref, r.Value})
}

// toggleDay returns the days of quiet hours with or without one day; the last one stays. No days
// are all of them.
func toggleDay(days []string, day string) []string {
	all := lists.Map(weekdays, func(d [2]string) string { return d[1] })
	if len(days) == 0 {
		days = all
	}
	toggled := lists.Without(all, func(d string) bool { return slices.Contains(days, d) == (d == day) })
	switch len(toggled) {
	case 0:
		return days
	case len(all):
		return []string{}
	}
	return toggled
}

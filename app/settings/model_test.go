package settings

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/app/feed"
	"fairlead/app/feed/feedtest"
	"fairlead/gateway/protocol"
)

func floatPointer(n float64) *float64 { return &n }

var someFields = []protocol.ConfigField{
	{Path: "apiKeys.*", Title: "Key", Group: "Keys", Type: "string", Secret: true, Description: "The key for the provider of this name."},
	{
		Path: "timeouts.llmMs", Title: "Time for a step", Group: "Time limits", Type: "integer", Default: json.RawMessage(`300000`),
		Min: floatPointer(1000), Max: floatPointer(86400000), Format: protocol.FormatMillis,
	},
	{Path: "cron.enabled", Title: "Schedules run", Group: "Schedules", Type: "boolean", Default: json.RawMessage(`true`)},
	{Path: "session.identityLinks.*", Title: "Addresses of a person", Group: "Chats", Type: "list", Items: "string"},
	{Path: "old.key", Type: "string"},
}

func serveSettings(config *string) func(*feedtest.Gateway) {
	return func(f *feedtest.Gateway) {
		feedtest.On(f, protocol.ConfigSchema, func(protocol.Empty) (protocol.ConfigSchemaResult, error) {
			return protocol.ConfigSchemaResult{Fields: someFields}, nil
		})
		feedtest.On(f, protocol.ConfigGet, func(protocol.ConfigGetParams) (protocol.ConfigGetResult, error) {
			return protocol.ConfigGetResult{Config: json.RawMessage(*config)}, nil
		})
	}
}

func settingNames(list []Setting) string {
	var out []string
	for _, s := range list {
		mark := ""
		if s.Changed {
			mark = "!"
		}
		out = append(out, s.Name+mark)
	}
	return strings.Join(out, " ")
}

func TestListHasSchemaFieldsAndNamedEntries(t *testing.T) {
	config := `{"apiKeys":{"openai":"***"},"timeouts":{"llmMs":60000},"cron":{"enabled":true},"session":{"identityLinks":{"ann":["irc:ann"]}}}`
	feedtest.Run(t, feed.New, serveSettings(&config), func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		s := newModel(a)
		s.Load(t.Context())
		v := s.Value.Get()
		if got := settingNames(v.List); got != "apiKeys.openai! apiKeys.* timeouts.llmMs! cron.enabled session.identityLinks.ann! session.identityLinks.* old.key" {
			t.Errorf("got %s, want %q", got, "apiKeys.openai! apiKeys.* timeouts.llmMs! cron.enabled session.identityLinks.ann! session.identityLinks.* old.key")
		}
		if last := v.List[len(v.List)-1]; last.Group != "old" || last.Title != "key" {
			t.Errorf("a gateway without titles gives %+v", last)
		}
		for _, c := range []struct {
			query, group string
			changed      bool
			want         string
		}{
			{"KEY provider", "", false, "apiKeys.openai! apiKeys.*"},
			{"llm", "", false, "timeouts.llmMs!"},
			{"", "Schedules", false, "cron.enabled"},
			{"", "", true, "apiKeys.openai! timeouts.llmMs! session.identityLinks.ann!"},
			{"nothing like it", "", false, ""},
		} {
			if got := settingNames(v.Find(c.query, c.group, c.changed)); got != c.want {
				t.Errorf("%+v: got %s, want %v", c, got, c.want)
			}
		}
	})
}

func TestSettingChangedElsewhereIsLoaded(t *testing.T) {
	config := `{"cron":{"enabled":true}}`
	feedtest.Run(t, feed.New, serveSettings(&config), func(t *testing.T, a *feed.Feed, f *feedtest.Gateway) {
		s := newModel(a)
		a.Tasks.Start(s.Follow)
		synctest.Wait()
		config = `{"cron":{"enabled":false}}`
		f.Change(protocol.Change{Kind: protocol.ChangeConfig, Path: "cron.enabled"})
		if got := settingNames(s.Value.Get().Find("cron", "", true)); got != "cron.enabled!" {
			t.Errorf(`changed: got %q, want "cron.enabled!"`, got)
		}
		feedtest.On(f, protocol.ConfigGet, func(protocol.ConfigGetParams) (protocol.ConfigGetResult, error) {
			return protocol.ConfigGetResult{}, protocol.ErrInternal.With("the disk is full")
		})
		f.Change(protocol.Change{Kind: protocol.ChangeConfig, Path: "x"})
		if v := s.Value.Get(); v.Problem != "The disk is full" || len(v.List) == 0 {
			t.Errorf("a failure leaves %+v", v)
		}
	})
}

func TestSettingsRoundTripAsText(t *testing.T) {
	texts := protocol.ConfigField{Type: "list", Items: "string"}
	objects := protocol.ConfigField{Type: "list", Items: "object"}
	millis := protocol.ConfigField{Type: "integer", Format: protocol.FormatMillis, Min: floatPointer(0), Max: floatPointer(86400000)}
	every := protocol.ConfigField{Type: "string", Format: protocol.FormatDuration}
	for _, c := range []struct {
		field              protocol.ConfigField
		value, text, words string
	}{
		{millis, `300000`, "5 minutes", "5 minutes"},
		{millis, `5400500`, "1 hour 30 minutes 500 milliseconds", "1 hour 30 minutes 500 milliseconds"},
		{millis, `0`, "never", "never"},
		{every, `"1h30m"`, "1 hour 30 minutes", "1 hour 30 minutes"},
		{every, `"0m"`, "never", "never"},
		{every, `"24h"`, "24 hours", "24 hours"},
		{texts, `["a","b"]`, "a\nb", "a, b"},
		{texts, `[]`, "", "nothing"},
		{objects, "[\n  {\n    \"id\": \"x\"\n  }\n]", "[\n  {\n    \"id\": \"x\"\n  }\n]", "1 entry"},
		{protocol.ConfigField{Type: "boolean"}, `true`, "true", "on"},
		{protocol.ConfigField{Type: "number", Unit: "times normal"}, `1.25`, "1.25", "1.25 times normal"},
		{protocol.ConfigField{Type: "integer", Unit: "tokens"}, `20000`, "20000", "20000 tokens"},
		{protocol.ConfigField{Type: "string"}, `"Europe/Berlin"`, "Europe/Berlin", "Europe/Berlin"},
		{protocol.ConfigField{Type: "string", Format: protocol.FormatLines}, `" a\nb "`, " a\nb ", "a, b"},
	} {
		t.Run(c.value, func(t *testing.T) {
			raw := json.RawMessage(c.value)
			if got := settingText(c.field, raw); got != c.text {
				t.Errorf("%s reads %q, want %q", c.value, got, c.text)
			}
			if got := settingWords(c.field, raw); got != c.words {
				t.Errorf("got %q for %s, want %q", got, c.value, c.words)
			}
			back, err := parseSetting(c.field, c.text)
			if err != nil || string(back) != c.value {
				t.Errorf("%q becomes %s, %v; want no error and back %v", c.text, back, err, c.value)
			}
		})
	}
	secret := protocol.ConfigField{Type: "string", Secret: true}
	if settingText(secret, json.RawMessage(`"***"`)) != "" || settingWords(secret, json.RawMessage(`"***"`)) != "set" {
		t.Error("a secret is shown")
	}
	if got := settingLimits(millis); got != "up to 24 hours, or never" {
		t.Errorf(`limits: got %q; want "up to 24 hours, or never"`, got)
	}
	for text, f := range map[string]protocol.ConfigField{
		"five": {Type: "integer"}, "1.5": {Type: "integer"}, "5": millis, "": millis,
		"5 lightyears": millis, "[{\n]": objects, `{"a":1}`: objects,
		"999999999999 days": every,
	} {
		if v, err := parseSetting(f, text); err == nil {
			t.Errorf("%q becomes %s, want an error", text, v)
		}
	}
	if n, err := parseSetting(protocol.ConfigField{Type: "integer", Unit: "tokens"}, "20 000 tokens"); err != nil || string(n) != "20000" {
		t.Errorf(`got %s, %v; want no error and "20000"`, n, err)
	}
}

func TestDurationsAreReadAsPeopleWriteThem(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "1 h 30 min": 90 * time.Minute, "1.5 hours": 90 * time.Minute,
		"2 days": 48 * time.Hour, "250 ms": 250 * time.Millisecond,
		"1 hour and 5 minutes": 65 * time.Minute, "Never": 0, "30m": 30 * time.Minute,
	} {
		t.Run(text, func(t *testing.T) {
			if got, err := parseDuration(text); err != nil || got != want {
				t.Errorf("%q is %v, %v; want no error and %v", text, got, err, want)
			}
		})
	}
}

func TestRefusalIsInTheWordsOfThePage(t *testing.T) {
	s := Setting{
		ConfigField: protocol.ConfigField{Type: "integer", Format: protocol.FormatMillis, Min: floatPointer(1000), Max: floatPointer(60000)},
		Name:        "timeouts.llmMs",
	}
	for text, want := range map[string]string{
		"timeouts.llmMs must be a whole number from 1000 to 60000, not 1": "this must be from 1 second to 1 minute",
		"timeouts.llmMs must be a whole number, not \"x\"":                "this must be a whole number, not \"x\"",
		"only an owner may": "only an owner may",
	} {
		if got := refusalText(s, errors.New(text)); got != want {
			t.Errorf("%q is said as %q, want %q", text, got, want)
		}
	}
}

func FuzzSettingsAreReadOrRefused(f *testing.F) {
	for _, text := range []string{"5 minutes", "[]", "[{\"a\":1}]", "1 h 30", "\xff", "9e9 days"} {
		f.Add(text)
	}
	fields := []protocol.ConfigField{
		{Type: "list", Items: "object"},
		{Type: "list", Items: "string"},
		{
			Type:   "integer",
			Format: protocol.FormatMillis,
		},
		{Format: protocol.FormatDuration},
		{Type: "integer"},
		{Type: "number"},
		{Type: "string"},
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, field := range fields {
			if v, err := parseSetting(field, text); err == nil && !json.Valid(v) {
				t.Errorf("%q becomes %q as %+v", text, v, field)
			}
		}
	})
}

func TestChoicesHaveNamesInTheWindows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ path, value, want string }{
		{"model.thinkingLevel", "", "Model default"},
		{"model.thinkingLevel", "xhigh", "Very high"},
		{"ui.theme", "system", "Match system"},
		{"toolApproval.defaultDecision", "ask", "Ask"},
		{"channels.*.dmPolicy", "", "Not set"},
	} {
		t.Run(c.path+"/"+c.value, func(t *testing.T) {
			t.Parallel()
			f := protocol.ConfigField{Path: c.path, Enum: []string{c.value}}
			if got := choiceName(f, c.value); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if raw, _ := protocol.Marshal(c.value); settingWords(f, raw) != c.want {
				t.Errorf("in words: got %q, want %q", settingWords(f, raw), c.want)
			}
		})
	}
}

func TestDaysOfQuietHoursAreToggled(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ days, day, want string }{
		{"", "mon", "tue wed thu fri sat sun"},
		{"sat sun", "fri", "fri sat sun"},
		{"sat sun", "sat", "sun"},
		{"sun", "sun", "sun"},
		{"mon tue wed thu fri sat", "sun", ""},
	} {
		t.Run(c.days+"/"+c.day, func(t *testing.T) {
			if got := strings.Join(toggleDay(strings.Fields(c.days), c.day), " "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

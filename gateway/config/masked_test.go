package config

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestSecretsAreMaskedEverywhere(t *testing.T) {
	b, dir := memory{}, t.TempDir()
	s := open(t, b, dir)
	if err := s.Set(t.Context(), "apiKeys.anthropic", json.RawMessage(`" sk-very-secret "`)); err != nil {
		t.Fatal(err)
	}
	if err := s.Set(t.Context(), "auth.token", json.RawMessage(`12345678901234567890`)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		all, err := s.All()
		if err != nil {
			t.Fatal(err)
		}
		key, _ := s.Read("apiKeys.anthropic")
		keys, _ := s.Read("apiKeys")
		token, _ := s.Read("auth.token")
		stored, _ := json.Marshal(b)
		for _, text := range []string{string(all), string(key), string(keys), string(token), string(stored)} {
			if strings.Contains(text, "secret") || strings.Contains(text, "1234567") {
				t.Errorf("a secret shows in %s", text)
			}
		}
		if string(key) != `"***"` || string(keys) != `{"anthropic":"***"}` || string(token) != `"***"` {
			t.Errorf("masked = %s %s %s; want key `\"***\"`, keys `{\"anthropic\":\"***\"}` and token `\"***\"`", key, keys, token)
		}
		if v, ok := s.Secret("apiKeys.anthropic"); !ok || v != "sk-very-secret" {
			t.Errorf(`Secret = %q, %v; want ok and "sk-very-secret"`, v, ok)
		}
		if v, _ := s.Secret("auth.token"); v != "12345678901234567890" {
			t.Errorf(`a token typed as a number became %q, want "12345678901234567890"`, v)
		}
		s = open(t, b, dir)
	}
	if err := s.Set(t.Context(), "apiKeys.anthropic", nil); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.Secret("apiKeys.anthropic"); ok {
		t.Error("the key outlives its removal")
	}
	if v, err := s.Read("apiKeys.anthropic"); v != nil || err != nil {
		t.Errorf("Read of nothing = %s, %v; want none and no error", v, err)
	}
}

// TestSecretsInsideObjectsGoToTheKeychain checks that no spelling of a secret's path reaches the
// database.
func TestSecretsInsideObjectsGoToTheKeychain(t *testing.T) {
	b, dir := memory{}, t.TempDir()
	s := open(t, b, dir)
	var changed []string
	s.OnChange(func(p string) { changed = append(changed, p) })
	set := func(path, value string) {
		t.Helper()
		if err := s.Set(t.Context(), path, json.RawMessage(value)); err != nil {
			t.Fatal(err)
		}
	}
	set("auth", `{"token":"secret-token-1"}`)
	set("apiKeys", `{"openai":"secret-a","google":"secret-b"}`)
	set("apiKeys", `{"openai":"***","anthropic":"secret-c"}`)
	stored, _ := json.Marshal(b)
	all, _ := s.All()
	whole, _ := json.Marshal(s.Get())
	for _, text := range []string{string(stored), string(all), string(whole)} {
		if strings.Contains(text, "secret-") {
			t.Errorf("a secret shows in %s", text)
		}
	}
	for path, want := range map[string]string{"auth.token": "secret-token-1", "apiKeys.openai": "secret-a", "apiKeys.anthropic": "secret-c", "apiKeys.google": ""} {
		t.Run(path, func(t *testing.T) {
			if v, ok := s.Secret(path); v != want || ok != (want != "") {
				t.Errorf("%s = %q, %v; want %v and ok %v", path, v, ok, want, want != "")
			}
		})
	}
	if changed[0] != "auth.token" || len(changed) != 5 {
		t.Errorf("changes = %v: a watcher of auth.token must hear of it", changed)
	}
	set("apiKeys", "")
	if _, ok := s.Secret("apiKeys.openai"); ok {
		t.Error("a key outlives the reset of all")
	}
}

package config

import (
	"encoding/json"
	"strings"
	"testing"

	"fairlead/gateway/peer/keychain"
)

func TestSecretsOfSignInProvidersAreInTheKeychain(t *testing.T) {
	t.Setenv("FAIRLEAD_SECRETS", "file")
	m, home := memory{}, t.TempDir()
	s := open(t, m, home)
	set := func(path, value string) {
		t.Helper()
		if err := s.Set(t.Context(), path, json.RawMessage(value)); err != nil {
			t.Fatal(err)
		}
	}
	set("services.signIn.google", `{"clientId":"id","clientSecret":"very-secret-1"}`)
	set("services.signIn.work.clientSecret", `"very-secret-2"`)
	set("services.mail", `{"host":"localhost","password":"very-secret-3"}`)
	for path, want := range map[string]string{"services.signIn.google.clientSecret": "very-secret-1", "services.signIn.work.clientSecret": "very-secret-2", "services.mail.password": "very-secret-3"} {
		if got, _ := s.Secret(path); got != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
	all, err := s.All()
	if err != nil || strings.Contains(string(all), "very-secret") {
		t.Errorf("the configuration reads %s, %v; want no secret in it", all, err)
	}
	for path, value := range m {
		if strings.Contains(string(value), "very-secret") {
			t.Errorf("%s is stored as %s, want no secret in it", path, value)
		}
	}
	s = open(t, m, home)
	if got, _ := s.Secret("services.signIn.google.clientSecret"); got != "very-secret-1" {
		t.Errorf("after a restart: got %q, want the secret", got)
	}
	set("services.mail.password", `""`)
	if got, ok := s.Secret("services.mail.password"); ok {
		t.Errorf("after the password was emptied: got %q, want no secret", got)
	}
	set("services.signIn.google", `null`)
	if got, ok := s.Secret("services.signIn.google.clientSecret"); ok {
		t.Errorf("after the provider was removed: got %q, want no secret", got)
	}
	secrets := keychain.Open(home)
	if v, err := secrets.Get("services.signIn.google.clientSecret"); err == nil {
		t.Errorf("the keychain still has %q", v.Reveal())
	}
}

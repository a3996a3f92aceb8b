package state

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"fairlead/gateway/protocol"
)

// configAt decodes the configuration at a path; a missing value is the zero value. It blocks.
func configAt[T any](ctx context.Context, a *App, path string) (T, error) {
	var out T
	r, err := Call(ctx, a, protocol.ConfigGet, protocol.ConfigGetParams{Path: path})
	if err != nil || r.Value == nil {
		return out, err
	}
	if err := json.Unmarshal(r.Value, &out); err != nil {
		return out, fmt.Errorf("reading %s: %w", path, err)
	}
	return out, nil
}

// SecretPlace says where a pasted key will be stored.
func SecretPlace(st protocol.Status) string {
	if st.SecretStore == "" || st.SecretStore == "keychain" {
		return "the system's keychain"
	}
	return "a file that only you can read"
}

// MissingSecrets says which configured secrets are missing.
func MissingSecrets(st protocol.Status) string {
	var names []string
	for _, path := range st.Missing {
		if provider, ok := strings.CutPrefix(path, "apiKeys."); ok {
			path = "the key for " + provider
		}
		names = append(names, path)
	}
	verb := " is missing."
	if len(names) > 1 {
		verb = " are missing."
	}
	return protocol.Capital(strings.Join(names, ", ") + verb)
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

package channel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// maxConfig limits an account's settings, in bytes.
const maxConfig = 64 << 10

// configure merges new settings into an account's, validates and stores the result; secrets go to
// the keychain. wanted sets whether the account connects when the gateway starts.
func (h *Hub) configure(ctx context.Context, d Driver, name, id string, changes map[string]json.RawMessage, wanted bool) error {
	h.mu.Lock()
	next := Config{}
	if a := h.accounts[key(name, id)]; a != nil {
		maps.Copy(next, a.config)
	}
	h.mu.Unlock()
	secrets, err := next.merge(name, d.Kind().Fields, changes)
	if err != nil {
		return err
	}
	full, err := h.complete(name, id, d.Kind().Fields, next, secrets)
	if err != nil {
		return err
	}
	if err := d.Check(full); err != nil {
		return protocol.ErrBadRequest.With(err.Error())
	}
	for field, v := range secrets {
		if err := h.o.Secrets.Set(secretName(name, id, field), v); err != nil {
			return fmt.Errorf("store the %s of %s: %w", field, key(name, id), err)
		}
	}
	if err := h.o.Store.Channels.PutAccount(ctx, store.ChannelAccount{Channel: name, Account: id, Config: next, Autostart: wanted, UpdatedAt: now()}); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	a := h.accounts[key(name, id)]
	if a == nil || a.driver == nil {
		a = &account{channel: name, id: id, driver: d}
		h.accounts[key(name, id)] = a
	}
	a.config = next
	return nil
}

// merge adds changed settings of a channel to an account's, and returns the secrets among them.
func (c Config) merge(
	channel string, fields []protocol.ChannelField, changes map[string]json.RawMessage,
) (map[string]keychain.Secret, error) {
	secrets := make(map[string]keychain.Secret)
	known := make(map[string]protocol.ChannelField)
	for _, f := range fields {
		known[f.Name] = f
	}
	size := 0
	for field, value := range changes {
		f, ok := known[field]
		if !ok {
			return nil, protocol.ErrBadRequest.With(fmt.Sprintf("%s has no setting %q", channel, clip(field, 60)))
		}
		if size += len(value); size > maxConfig {
			return nil, protocol.ErrTooLarge.With("the settings of an account may have at most 64 KB")
		}
		if !f.Secret {
			c[field] = value
			continue
		}
		var text string
		if json.Unmarshal(value, &text) != nil || text == "" {
			return nil, protocol.ErrBadRequest.With(field + " must be a text")
		}
		if text != protocol.MaskedSecret {
			secrets[field] = keychain.Secret(text)
		}
	}
	return secrets, nil
}

// complete returns the settings of an account with all of its secrets, new and stored ones.
func (h *Hub) complete(
	name, id string, fields []protocol.ChannelField, config Config, secrets map[string]keychain.Secret,
) (Config, error) {
	full := maps.Clone(config)
	for _, f := range slices.SortedFunc(slices.Values(fields), func(a, b protocol.ChannelField) int { return strings.Compare(a.Name, b.Name) }) {
		field := f.Name
		if v, ok := secrets[field]; ok {
			full[field], _ = json.Marshal(v.Reveal())
		} else if f.Secret {
			v, err := h.o.Secrets.Get(secretName(name, id, field))
			if err != nil && !errors.Is(err, keychain.ErrNotFound) {
				return nil, fmt.Errorf("read the %s of %s: %w", field, key(name, id), err)
			}
			if err == nil {
				full[field], _ = json.Marshal(v.Reveal())
			}
		}
		if f.Required && len(full[field]) == 0 {
			return nil, protocol.ErrBadRequest.With(fmt.Sprintf("%s needs the setting %q (%s)", name, field, f.Title))
		}
	}
	return full, nil
}

// withSecrets returns an account with its secrets.
func (h *Hub) withSecrets(name, id string) (Account, *account, error) {
	h.mu.Lock()
	a := h.accounts[key(name, id)]
	if a == nil || a.driver == nil {
		h.mu.Unlock()
		return Account{}, nil, protocol.ErrNotFound.With(fmt.Sprintf("%s has no account %q. Start it or log in first.", name, id))
	}
	cfg := Config(maps.Clone(a.config))
	h.mu.Unlock()
	if cfg == nil {
		cfg = Config{}
	}
	for _, f := range a.driver.Kind().Fields {
		if !f.Secret {
			continue
		}
		v, err := h.o.Secrets.Get(secretName(name, id, f.Name))
		if errors.Is(err, keychain.ErrNotFound) {
			continue
		}
		if err != nil {
			return Account{}, nil, fmt.Errorf("read the %s of %s: %w", f.Name, key(name, id), err)
		}
		cfg[f.Name], _ = json.Marshal(v.Reveal())
	}
	return Account{ID: id, Config: cfg}, a, nil
}

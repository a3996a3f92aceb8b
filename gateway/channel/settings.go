package channel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// maxConfig limits an account's settings, in bytes.
const maxConfig = 64 << 10

// configure merges new settings into an account's and stores the result; secrets go to the
// keychain. wanted sets whether the account connects when the gateway starts.
func (m *Accounts) configure(ctx context.Context, d Driver, name, id string, changes map[string]json.RawMessage, wanted bool) error {
	m.registry.mu.Lock()
	next := Config{}
	if a := m.registry.accounts[key(name, id)]; a != nil {
		maps.Copy(next, a.config)
	}
	m.registry.mu.Unlock()
	secrets, err := next.merge(name, d.Kind().Fields, changes)
	if err != nil {
		return err
	}
	full, err := m.complete(name, id, d.Kind().Fields, next, secrets)
	if err != nil {
		return err
	}
	for _, f := range slices.SortedFunc(slices.Values(d.Kind().Fields), func(a, b protocol.ChannelField) int { return strings.Compare(a.Name, b.Name) }) {
		if f.Required && len(full[f.Name]) == 0 {
			return protocol.ErrBadRequest.With(fmt.Sprintf("%s needs the setting %q (%s)", name, f.Name, f.Title))
		}
	}
	if err := d.Check(full); err != nil {
		return protocol.ErrBadRequest.With(err.Error())
	}
	named := make(map[string]keychain.Secret, len(secrets))
	for field, v := range secrets {
		named[secretName(name, id, field)] = v
	}
	undo, err := keychain.Replace(m.secrets, named)
	if err != nil {
		return fmt.Errorf("store the secrets of %s: %w", key(name, id), err)
	}
	if err := m.store.PutAccount(ctx, store.ChannelAccount{Channel: name, Account: id, Config: next, Autostart: wanted, UpdatedAt: now()}); err != nil {
		return errors.Join(err, undo())
	}
	m.registry.mu.Lock()
	defer m.registry.mu.Unlock()
	a := m.registry.accounts[key(name, id)]
	if a == nil || a.driver == nil {
		a = &account{channel: name, id: id, driver: d}
		m.registry.accounts[key(name, id)] = a
	}
	a.config = next
	return nil
}

// merge adds changed settings of a channel to an account's, and returns the secrets among them.
func (c Config) merge(channel string, fields []protocol.ChannelField, changes map[string]json.RawMessage) (map[string]keychain.Secret, error) {
	secrets := make(map[string]keychain.Secret)
	size := 0
	for field, value := range changes {
		i := slices.IndexFunc(fields, func(f protocol.ChannelField) bool { return f.Name == field })
		if i < 0 {
			return nil, protocol.ErrBadRequest.With(fmt.Sprintf("%s has no setting %q", channel, format.Clip(field, 60)))
		}
		if size += len(value); size > maxConfig {
			return nil, protocol.ErrTooLarge.With("the settings of an account may have at most 64 KB")
		}
		if !fields[i].Secret {
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
func (m *Accounts) complete(name, id string, fields []protocol.ChannelField, config Config, secrets map[string]keychain.Secret) (Config, error) {
	full := Config{}
	maps.Copy(full, config)
	for _, f := range fields {
		if !f.Secret {
			continue
		}
		v, ok := secrets[f.Name]
		var err error
		if !ok {
			v, err = m.secrets.Get(secretName(name, id, f.Name))
		}
		if err == nil {
			full[f.Name], _ = json.Marshal(v.Reveal())
		} else if !errors.Is(err, keychain.ErrNotFound) {
			return nil, fmt.Errorf("read the %s of %s: %w", f.Name, key(name, id), err)
		}
	}
	return full, nil
}

// withSecrets returns an account with its secrets.
func (m *Accounts) withSecrets(name, id string) (Account, *account, error) {
	m.registry.mu.Lock()
	a := m.registry.accounts[key(name, id)]
	if a == nil || a.driver == nil {
		m.registry.mu.Unlock()
		return Account{}, nil, protocol.ErrNotFound.With(fmt.Sprintf("%s has no account %q. Start it or log in first.", name, id))
	}
	stored := a.config
	m.registry.mu.Unlock()
	full, err := m.complete(name, id, a.driver.Kind().Fields, stored, nil)
	return Account{ID: id, Config: full}, a, err
}

// secretName returns the name under which an account's secret setting is stored.
func secretName(channel, account, field string) string {
	return fmt.Sprintf("channel-%s-%s-%s", channel, account, field)
}

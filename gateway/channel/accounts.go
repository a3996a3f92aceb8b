package channel

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// startWait is the time for which channel.start waits for the account to connect.
const startWait = 15 * time.Second

// Accounts configures the accounts of drivers and keeps them connected.
type Accounts struct {
	registry *registry
	store    accountStore
	outbox   waitingCounter
	secrets  keychain.Store
	senders  *Senders
	inbox    *Inbox
	change   channelMutex // held while an account changes, so that starts and stops are serialized
}

// accountStore stores the settings of accounts; *store.Channels implements it.
type accountStore interface {
	Accounts(ctx context.Context) ([]store.ChannelAccount, error)
	PutAccount(ctx context.Context, a store.ChannelAccount) error
	DeleteAccount(ctx context.Context, channel, account string) error
}

// waitingCounter counts the messages that wait to be sent, by account; *store.Outbox implements it.
type waitingCounter interface {
	CountWaiting(ctx context.Context) (map[string]int, error)
}

// channelMutex is a mutex that lets the clock of a testing/synctest bubble advance.
type channelMutex chan struct{}

func (l channelMutex) Lock()   { l <- struct{}{} }
func (l channelMutex) Unlock() { <-l }

// edit changes an account of a driver while no other change is in progress. f gets normalized
// names.
func (m *Accounts) edit(channel, account string, f func(Driver, string, string) error) (protocol.ChannelOK, error) {
	name, err := channelName(channel)
	if err != nil {
		return protocol.ChannelOK{}, err
	}
	d, id := m.registry.drivers[name], accountID(account)
	if d == nil {
		return protocol.ChannelOK{}, unknownChannel(name)
	}
	m.change.Lock()
	defer m.change.Unlock()
	if err := f(d, name, id); err != nil {
		return protocol.ChannelOK{}, err
	}
	return protocol.ChannelOK{OK: true, Channel: name, AccountID: id}, nil
}

// Start connects an account and keeps it connected (channel.start). It waits up to [startWait]: it
// returns an error when the account cannot log in, but not when its network is unreachable.
func (m *Accounts) Start(ctx context.Context, in protocol.ChannelStartParams) (protocol.ChannelOK, error) {
	return m.edit(in.Channel, in.AccountID, func(d Driver, name, id string) error {
		if err := m.configure(ctx, d, name, id, in.Config, true); err != nil {
			return err
		}
		if err := m.connect(ctx, name, id); err != nil {
			return err
		}
		return m.awaitStart(ctx, name, id)
	})
}

// awaitStart waits until the first attempt to connect an account has ended, but at most
// [startWait]. Only a failed login is an error, because the hub keeps trying otherwise.
func (m *Accounts) awaitStart(ctx context.Context, name, id string) error {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	for {
		m.registry.mu.Lock()
		a := m.registry.accounts[key(name, id)]
		state, problem := a.state(), a.err
		m.registry.mu.Unlock()
		switch state {
		case protocol.AccountNoLogin:
			return protocol.ErrBadRequest.With(problem)
		case protocol.AccountConnecting:
		default:
			return nil
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			return nil
		}
	}
}

// Stop disconnects an account, also for later starts (channel.stop). Its settings stay stored.
func (m *Accounts) Stop(ctx context.Context, in protocol.ChannelParams) (protocol.ChannelOK, error) {
	return m.edit(in.Channel, in.AccountID, func(_ Driver, name, id string) error {
		_, a, err := m.withSecrets(name, id)
		if err != nil {
			return err
		}
		stopped := store.ChannelAccount{Channel: name, Account: id, Config: a.config, UpdatedAt: now()}
		if err := m.store.PutAccount(ctx, stopped); err != nil {
			return err
		}
		return m.disconnect(ctx, a)
	})
}

// Login logs an account in, or begins a login (channel.login).
func (m *Accounts) Login(ctx context.Context, in protocol.ChannelLoginParams) (protocol.ChannelLoginResult, error) {
	login := LoginResult{Message: "The account is already logged in and connected."}
	ok, err := m.edit(in.Channel, in.AccountID, func(d Driver, name, id string) error {
		already := m.registry.senderOf(name, id) != nil
		if already && !in.Force && len(in.Config) == 0 {
			return nil
		}
		if err := m.configure(ctx, d, name, id, in.Config, already); err != nil {
			return err
		}
		full, _, err := m.withSecrets(name, id)
		if err != nil {
			return err
		}
		login, err = d.Login(ctx, full, in.Force)
		switch {
		case errors.Is(err, ErrLogin):
			return protocol.ErrBadRequest.With(err.Error())
		case err != nil:
			return protocol.ErrUnavailable.With(fmt.Sprintf("%s is not connected: %v", d.Kind().Title, err))
		case already:
			return m.connect(ctx, name, id) // with the new settings
		}
		return nil
	})
	if err != nil {
		return protocol.ChannelLoginResult{}, err
	}
	return protocol.ChannelLoginResult{
		OK: true, Channel: ok.Channel, AccountID: ok.AccountID, QRDataURL: login.QRDataURL, Message: login.Message,
	}, nil
}

// Logout disconnects an account and deletes it with its secrets and messages (channel.logout).
func (m *Accounts) Logout(ctx context.Context, in protocol.ChannelParams) (protocol.ChannelOK, error) {
	return m.edit(in.Channel, in.AccountID, func(d Driver, name, id string) error {
		full, a, err := m.withSecrets(name, id)
		if err != nil {
			return err
		}
		secrets := make(map[string]keychain.Secret)
		for _, f := range d.Kind().Fields {
			if f.Secret {
				secrets[secretName(name, id, f.Name)] = ""
			}
		}
		undo, err := keychain.Replace(m.secrets, secrets)
		if err != nil {
			return fmt.Errorf("forget the secrets of %s: %w", key(name, id), err)
		}
		if err := m.store.DeleteAccount(ctx, name, id); err != nil {
			return errors.Join(err, undo())
		}
		ctx := context.WithoutCancel(ctx) // from here on the logout must be completed
		if err := m.disconnect(ctx, a); err != nil {
			return err
		}
		if err := d.Logout(ctx, full); err != nil {
			slog.Warn("Logging out on the network failed", "channel", name, "account", id, "err", err)
		}
		m.registry.mu.Lock()
		delete(m.registry.accounts, key(name, id))
		m.registry.mu.Unlock()
		publishChange(m.registry.bus, name)
		return nil
	})
}

// connectAll connects the accounts that were connected before, unless they were started meanwhile.
func (m *Accounts) connectAll(ctx context.Context) {
	m.change.Lock()
	defer m.change.Unlock()
	accounts, err := m.store.Accounts(ctx)
	if err != nil && ctx.Err() == nil {
		slog.Error("Reading the channel accounts failed; no channel is connected", "err", err)
	}
	for _, a := range accounts {
		if a.Autostart && m.registry.drivers[a.Channel] != nil && !m.registry.isManaged(a.Channel, a.Account) {
			if err := m.connect(ctx, a.Channel, a.Account); err != nil {
				slog.Warn("Connecting a channel failed", "channel", a.Channel, "account", a.Account, "err", err)
			}
		}
	}
}

// List lists the connected accounts (channels.list).
func (m *Accounts) List(_ context.Context, _ protocol.Empty) (protocol.ChannelsListResult, error) {
	res := protocol.ChannelsListResult{Channels: []protocol.ChannelEntry{}, Kinds: []protocol.ChannelKind{}}
	for _, name := range slices.Sorted(maps.Keys(m.registry.drivers)) {
		res.Kinds = append(res.Kinds, m.registry.drivers[name].Kind())
	}
	m.registry.mu.Lock()
	defer m.registry.mu.Unlock()
	for _, k := range slices.Sorted(maps.Keys(m.registry.accounts)) {
		if a := m.registry.accounts[k]; a.sender != nil {
			res.Channels = append(res.Channels, protocol.ChannelEntry{Channel: a.channel, AccountID: a.id, ConnectedAt: a.connectedAt, LastMessageAt: a.lastMessage})
		}
	}
	res.Count = len(res.Channels)
	return res, nil
}

// Status returns the state of a channel's accounts (channel.status).
func (m *Accounts) Status(ctx context.Context, in protocol.ChannelParams) (protocol.ChannelStatusResult, error) {
	name, err := channelName(in.Channel)
	if err != nil {
		return protocol.ChannelStatusResult{}, err
	}
	waiting, err := m.outbox.CountWaiting(ctx)
	if err != nil {
		return protocol.ChannelStatusResult{}, err
	}
	res := protocol.ChannelStatusResult{Channel: name, Accounts: []protocol.ChannelAccountStatus{}}
	known := m.registry.drivers[name] != nil
	m.registry.mu.Lock()
	defer m.registry.mu.Unlock()
	for _, k := range slices.Sorted(maps.Keys(m.registry.accounts)) {
		a := m.registry.accounts[k]
		known = known || a.channel == name
		if a.channel != name || in.AccountID != "" && accountID(in.AccountID) != a.id {
			continue
		}
		res.Accounts = append(res.Accounts, protocol.ChannelAccountStatus{
			AccountID: a.id, Connected: a.sender != nil, Authenticated: a.authenticated, Error: a.err,
			Extra: a.extra, LastActivity: max(a.lastMessage, a.connectedAt), Waiting: waiting[k],
			State: a.state(), RetryAt: a.retryAt, Settings: a.config,
		})
	}
	if !known {
		return res, unknownChannel(name)
	}
	return res, nil
}

// state returns the account's state in one word. The caller must hold the registry's lock.
func (a *account) state() string {
	switch {
	case a.sender != nil:
		return protocol.AccountConnected
	case a.loginFailed:
		return protocol.AccountNoLogin
	case a.driver == nil || a.retryAt > 0:
		return protocol.AccountOffline
	case a.done == nil:
		return protocol.AccountStopped
	}
	return protocol.AccountConnecting
}

func unknownChannel(name string) error { return protocol.ErrNotFound.With("Unknown channel: " + name) }

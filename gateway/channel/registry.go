package channel

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"fairlead/gateway/event"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// registry holds the accounts and their connections. It is safe for concurrent use.
type registry struct {
	store   registryStore
	bus     *event.Bus
	outbox  *outbox
	drivers map[string]Driver

	workers *crash.Workers // stopped when the hub's Run ends

	mu       sync.Mutex          // guards accounts and their fields
	accounts map[string]*account // by CHANNEL:ACCOUNT
}

// registryStore stores the accounts and when they received a message; *store.Channels implements
// it.
type registryStore interface {
	Accounts(ctx context.Context) ([]store.ChannelAccount, error)
	ReceivedAt(ctx context.Context) (map[string]int64, error)
	SetReceivedAt(ctx context.Context, channel, account string, at int64) error
}

func newRegistry(s registryStore, bus *event.Bus, drivers []Driver) *registry {
	r := &registry{store: s, bus: bus, drivers: make(map[string]Driver), workers: crash.NewWorkers(), accounts: make(map[string]*account)}
	for _, d := range drivers {
		r.drivers[d.Kind().Channel] = d
	}
	return r
}

// account is one account of a channel, of a driver or of a connection over the network.
type account struct {
	channel, id string
	config      Config // without secrets, written while the account changes; nil for an account over the network
	driver      Driver // nil for an account over the network
	stop        context.CancelFunc
	done        chan struct{} // closed when the driver's goroutine has ended; nil while none runs

	sender        *sender // nil while not connected
	connectedAt   int64
	lastMessage   int64
	authenticated bool
	err           string
	loginFailed   bool // the login failed: a person must act
	retryAt       int64
	extra         map[string]any
}

func key(channel, account string) string { return channel + ":" + account }

// load restores the accounts of an earlier start.
func (r *registry) load(ctx context.Context) error {
	accounts, err := r.store.Accounts(ctx)
	if err != nil {
		return err
	}
	seen, err := r.store.ReceivedAt(ctx)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, a := range accounts {
		if d := r.drivers[a.Channel]; d != nil {
			k := key(a.Channel, a.Account)
			r.accounts[k] = &account{channel: a.Channel, id: a.Account, config: a.Config, driver: d, lastMessage: seen[k]}
		}
	}
	return nil
}

// publishChange publishes that a channel's state has changed.
func publishChange(bus *event.Bus, channel string) {
	bus.Publish(protocol.Change{Kind: protocol.ChangeChannels, Path: channel})
}

// setOnline registers that an account can send over l, and starts to deliver its outbox.
func (r *registry) setOnline(a *account, l *sender, extra map[string]any) {
	r.mu.Lock()
	if l.ctx.Err() != nil { // the connection has closed already
		r.mu.Unlock()
		return
	}
	r.accounts[key(a.channel, a.id)] = a // an older connection over the network may have removed it
	old := a.sender
	a.sender, a.connectedAt, a.authenticated, a.err, a.extra, a.retryAt = l, time.Now().UnixMilli(), true, "", extra, 0
	r.workers.Start(l.run)
	r.workers.Start(l.forwardTyping)
	r.mu.Unlock()
	if old != nil {
		old.cancel()
	}
	slog.Info("Channel connected", "channel", a.channel, "account", a.id)
	publishChange(r.bus, a.channel)
}

// setOffline registers that l has closed, the error, and the delay before the next connection.
func (r *registry) setOffline(a *account, l *sender, err error, retry time.Duration) {
	if l != nil {
		l.cancel()
	}
	r.mu.Lock()
	if a.sender == l {
		a.sender = nil
	}
	a.err, a.loginFailed, a.retryAt = "", false, 0
	if err != nil {
		a.err = err.Error()
		if a.loginFailed = errors.Is(err, ErrLogin); a.loginFailed {
			a.authenticated = false
		} else {
			// Round up to seconds for display.
			a.retryAt = time.Now().Add(retry + time.Second - 1).Truncate(time.Second).UnixMilli()
		}
	}
	r.mu.Unlock()
	publishChange(r.bus, a.channel)
}

// senderOf returns an account's sender, or nil.
func (r *registry) senderOf(channel, account string) *sender {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a := r.accounts[key(channel, account)]; a != nil {
		return a.sender
	}
	return nil
}

// isManaged reports whether the hub keeps an account connected.
func (r *registry) isManaged(channel, account string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := r.accounts[key(channel, account)]
	return a != nil && a.isManaged()
}

// isManaged requires the registry's lock.
func (a *account) isManaged() bool { return a.driver != nil && a.done != nil }

// onlyAccount returns the account to use when none is named. later includes accounts that the hub
// is connecting.
func (r *registry) onlyAccount(name string, later bool) (string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var ids []string
	for _, a := range r.accounts {
		if a.channel == name && (a.sender != nil || later && a.isManaged()) {
			ids = append(ids, a.id)
		}
	}
	switch len(ids) {
	case 0:
		return "", protocol.ErrUnavailable.With(fmt.Sprintf("The channel %s is not connected.", name))
	case 1:
		return ids[0], nil
	}
	if slices.Contains(ids, DefaultAccount) {
		return DefaultAccount, nil
	}
	return "", protocol.ErrBadRequest.With(fmt.Sprintf("%s has several accounts: name one with accountId.", name))
}

// recordActivity stores the time of an account's last incoming message.
func (r *registry) recordActivity(ctx context.Context, channel, account string) error {
	at := now()
	if err := r.store.SetReceivedAt(ctx, channel, account, at); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if a := r.accounts[key(channel, account)]; a != nil {
		a.lastMessage = at
	}
	return nil
}

// removeConnection removes a connection over the network, and its account unless it has a newer
// one.
func (r *registry) removeConnection(a *account, l *sender) {
	l.cancel()
	r.mu.Lock()
	if a.sender == l {
		a.sender = nil
		if r.accounts[key(a.channel, a.id)] == a && a.driver == nil {
			delete(r.accounts, key(a.channel, a.id))
		}
	}
	r.mu.Unlock()
	publishChange(r.bus, a.channel)
}

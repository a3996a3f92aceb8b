package channel

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/secret"
	"fairlead/gateway/store"
)

const (
	// reconnectFirst is how long an account waits after its connection ended; it doubles up to reconnectLast while it does not stay connected.
	reconnectFirst = time.Second
	reconnectLast  = 2 * time.Minute
	// steady is how long a connection must have lasted for the next wait to be short again.
	steady = time.Minute
	// startWait is how long channel.start waits to see whether the account connects.
	startWait = 15 * time.Second
	// maxConfig is how many bytes an account's settings may have.
	maxConfig = 64 << 10
)

// driver finds what runs a channel, and normalises both names.
func (h *Hub) driver(channel, acc string) (Driver, string, string, error) {
	name, err := channelName(channel)
	if err != nil {
		return nil, "", "", err
	}
	d := h.drivers[name]
	if d == nil {
		return nil, "", "", unknownChannel(name)
	}
	return d, name, accountID(acc), nil
}

// Start connects an account and keeps it connected (seed 004, channel.start). What config holds is kept for later starts. It waits a moment
// to see whether it works: an account that cannot log in is an error, one whose network is away is not.
func (h *Hub) Start(ctx context.Context, in protocol.ChannelStartParams) (protocol.ChannelOK, error) {
	d, name, id, err := h.driver(in.Channel, in.AccountID)
	if err != nil {
		return protocol.ChannelOK{}, err
	}
	h.change.Lock()
	defer h.change.Unlock()
	if err := h.configure(ctx, d, name, id, in.Config, true); err != nil {
		return protocol.ChannelOK{}, err
	}
	if err := h.launch(ctx, name, id); err != nil {
		return protocol.ChannelOK{}, err
	}
	if err := h.awaitStart(ctx, name, id); err != nil {
		return protocol.ChannelOK{}, err
	}
	return protocol.ChannelOK{OK: true, Channel: name, AccountID: id}, nil
}

// awaitStart waits until the account is connected or has failed for good, but not long.
func (h *Hub) awaitStart(ctx context.Context, name, id string) error {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		h.mu.Lock()
		a := h.accounts[key(name, id)]
		up, barred, problem := a.line != nil, a.barred, a.err
		over := a.done != nil && ended(a.done)
		h.mu.Unlock()
		switch {
		case barred:
			return protocol.ErrBadRequest.With(problem)
		case up || over || problem != "":
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil // it goes on trying
		}
	}
}

func ended(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// configure lays new settings over an account's, checks the result and keeps it: secrets in the keychain. wanted says whether the account
// starts with the gateway from now on.
func (h *Hub) configure(ctx context.Context, d Driver, name, id string, changes map[string]json.RawMessage, wanted bool) error {
	h.mu.Lock()
	next := Config{}
	if a := h.accounts[key(name, id)]; a != nil {
		maps.Copy(next, a.config)
	}
	h.mu.Unlock()
	secrets := make(map[string]secret.Secret)
	known := make(map[string]protocol.ChannelField)
	for _, f := range d.Kind().Fields {
		known[f.Name] = f
	}
	size := 0
	for field, value := range changes {
		f, ok := known[field]
		if !ok {
			return protocol.ErrBadRequest.With(fmt.Sprintf("%s has no setting %q", name, clip(field, 60)))
		}
		if size += len(value); size > maxConfig {
			return protocol.ErrTooLarge.With("the settings of an account may have 64 KB")
		}
		if !f.Secret {
			next[field] = value
			continue
		}
		var text string
		if json.Unmarshal(value, &text) != nil || text == "" {
			return protocol.ErrBadRequest.With(field + " must be a text")
		}
		if text != protocol.MaskedSecret {
			secrets[field] = secret.Secret(text)
		}
	}
	full := maps.Clone(next)
	for _, field := range slices.Sorted(maps.Keys(known)) {
		f := known[field]
		if v, ok := secrets[field]; ok {
			full[field], _ = json.Marshal(v.Reveal())
		} else if f.Secret {
			v, err := h.o.Secrets.Get(secretName(name, id, field))
			if err != nil && !errors.Is(err, secret.ErrNotFound) {
				return fmt.Errorf("read the %s of %s: %w", field, key(name, id), err)
			}
			if err == nil {
				full[field], _ = json.Marshal(v.Reveal())
			}
		}
		if f.Required && len(full[field]) == 0 {
			return protocol.ErrBadRequest.With(fmt.Sprintf("%s needs the setting %q (%s)", name, field, f.Title))
		}
	}
	if err := d.Check(full); err != nil {
		return protocol.ErrBadRequest.With(err.Error())
	}
	for field, v := range secrets {
		if err := h.o.Secrets.Set(secretName(name, id, field), v); err != nil {
			return fmt.Errorf("keep the %s of %s: %w", field, key(name, id), err)
		}
	}
	if err := h.o.Store.PutChannelAccount(ctx, store.ChannelAccount{Channel: name, Account: id, Config: next, Wanted: wanted, UpdatedAt: now()}); err != nil {
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

// full is an account with its secrets.
func (h *Hub) full(name, id string) (Account, *account, error) {
	h.mu.Lock()
	a := h.accounts[key(name, id)]
	if a == nil || a.driver == nil {
		h.mu.Unlock()
		return Account{}, nil, protocol.ErrNotFound.With(fmt.Sprintf("%s has no account %q. Start or log it in first.", name, id))
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
		if errors.Is(err, secret.ErrNotFound) {
			continue
		}
		if err != nil {
			return Account{}, nil, fmt.Errorf("read the %s of %s: %w", f.Name, key(name, id), err)
		}
		cfg[f.Name], _ = json.Marshal(v.Reveal())
	}
	return Account{ID: id, Config: cfg}, a, nil
}

// launch begins to keep an account connected; one that was begins anew.
func (h *Hub) launch(ctx context.Context, name, id string) error {
	full, a, err := h.full(name, id)
	if err != nil {
		return err
	}
	if err := h.halt(ctx, a); err != nil {
		return err
	}
	run, stop := context.WithCancel(h.ctx)
	done := make(chan struct{})
	h.mu.Lock()
	a.stop, a.done, a.err, a.barred, a.authed, a.extra, a.retryAt = stop, done, "", false, false, nil, 0
	h.mu.Unlock()
	if !h.begin(func() { defer close(done); defer stop(); h.keep(run, a, full) }) {
		stop()
		close(done)
		return protocol.ErrUnavailable.With("the gateway stops")
	}
	h.changed(name)
	return nil
}

// halt ends an account's connection and waits for that.
func (h *Hub) halt(ctx context.Context, a *account) error {
	h.mu.Lock()
	stop, done := a.stop, a.done
	h.mu.Unlock()
	if done == nil {
		return nil
	}
	stop()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("stop %s: %w", key(a.channel, a.id), ctx.Err())
	}
}

// keep connects an account again and again, until ctx ends or a person must act.
func (h *Hub) keep(ctx context.Context, a *account, full Account) {
	wait := reconnectFirst
	for {
		began := time.Now()
		up := &upstream{h: h, a: a}
		err := a.driver.Connect(ctx, full, up)
		if ctx.Err() != nil {
			h.offline(a, up.line, nil, 0)
			return
		}
		if err == nil {
			err = errors.New("the connection ended")
		}
		if time.Since(began) > steady {
			wait = reconnectFirst
		}
		pause := wait + rand.N(wait/2)
		h.offline(a, up.line, err, pause)
		if errors.Is(err, ErrLogin) {
			slog.Warn("A channel cannot log in", "channel", a.channel, "account", a.id, "err", err)
			h.o.Bus.Publish(protocol.Change{Kind: protocol.ChangeNotice, Notice: &protocol.Notice{
				Level: "warning", At: now(),
				Text: fmt.Sprintf("%s (%s): %s. Log it in again under Channels.", a.driver.Kind().Title, a.id, err),
			}})
			return
		}
		slog.Info("A channel is connected again later", "channel", a.channel, "account", a.id, "err", err, "in", pause)
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			h.offline(a, nil, nil, 0)
			return
		case <-timer.C:
		}
		h.mu.Lock()
		a.retryAt = 0 // it is connecting; what went wrong stays until that worked
		h.mu.Unlock()
		h.changed(a.channel)
		wait = min(2*wait, reconnectLast)
	}
}

// upstream is one connection of a driver. Only that connection's goroutine uses line, until it ends.
type upstream struct {
	h    *Hub
	a    *account
	line *line
}

func (u *upstream) Inbound(ctx context.Context, in protocol.ChannelInboundParams) (protocol.ChannelInboundResult, error) {
	in.Channel, in.AccountID = u.a.channel, u.a.id
	return u.h.Inbound(ctx, in)
}

func (u *upstream) Online(t Transport, extra map[string]any) {
	u.line = u.h.online(u.a, t, extra)
}

// Stop ends an account's connection; it stays known and does not start with the gateway (seed 004, channel.stop).
func (h *Hub) Stop(ctx context.Context, in protocol.ChannelParams) (protocol.ChannelOK, error) {
	_, name, id, err := h.driver(in.Channel, in.AccountID)
	if err != nil {
		return protocol.ChannelOK{}, err
	}
	h.change.Lock()
	defer h.change.Unlock()
	_, a, err := h.full(name, id)
	if err != nil {
		return protocol.ChannelOK{}, err
	}
	h.mu.Lock()
	cfg := a.config
	h.mu.Unlock()
	if err := h.o.Store.PutChannelAccount(ctx, store.ChannelAccount{Channel: name, Account: id, Config: cfg, UpdatedAt: now()}); err != nil {
		return protocol.ChannelOK{}, err
	}
	return protocol.ChannelOK{OK: true, Channel: name, AccountID: id}, h.halt(ctx, a)
}

// Login logs an account in, or begins that (seed 004, channel.login).
func (h *Hub) Login(ctx context.Context, in protocol.ChannelLoginParams) (protocol.ChannelLoginResult, error) {
	d, name, id, err := h.driver(in.Channel, in.AccountID)
	if err != nil {
		return protocol.ChannelLoginResult{}, err
	}
	h.change.Lock()
	defer h.change.Unlock()
	res := protocol.ChannelLoginResult{OK: true, Channel: name, AccountID: id}
	h.mu.Lock()
	a := h.accounts[key(name, id)]
	already := a != nil && a.line != nil
	h.mu.Unlock()
	if already && !in.Force && len(in.Config) == 0 {
		res.Message = "It is logged in and connected already."
		return res, nil
	}
	if err := h.configure(ctx, d, name, id, in.Config, already); err != nil {
		return protocol.ChannelLoginResult{}, err
	}
	full, _, err := h.full(name, id)
	if err != nil {
		return protocol.ChannelLoginResult{}, err
	}
	login, err := d.Login(ctx, full, in.Force)
	switch {
	case errors.Is(err, ErrLogin):
		return protocol.ChannelLoginResult{}, protocol.ErrBadRequest.With(err.Error())
	case err != nil:
		return protocol.ChannelLoginResult{}, protocol.ErrUnavailable.With(fmt.Sprintf("%s could not be reached: %v", name, err))
	}
	res.QRDataURL, res.Message = login.QRDataURL, login.Message
	if already {
		err = h.launch(ctx, name, id) // with what is new
	}
	return res, err
}

// Logout disconnects an account and forgets it, its secrets and what it had still to say (seed 004, channel.logout).
func (h *Hub) Logout(ctx context.Context, in protocol.ChannelParams) (protocol.ChannelOK, error) {
	d, name, id, err := h.driver(in.Channel, in.AccountID)
	if err != nil {
		return protocol.ChannelOK{}, err
	}
	h.change.Lock()
	defer h.change.Unlock()
	full, a, err := h.full(name, id)
	if err != nil {
		return protocol.ChannelOK{}, err
	}
	if err := h.halt(ctx, a); err != nil {
		return protocol.ChannelOK{}, err
	}
	if err := d.Logout(ctx, full); err != nil {
		slog.Warn("A login was not ended on the network's side", "channel", name, "account", id, "err", err)
	}
	for _, f := range d.Kind().Fields {
		if f.Secret {
			if err := h.o.Secrets.Delete(secretName(name, id, f.Name)); err != nil && !errors.Is(err, secret.ErrNotFound) {
				return protocol.ChannelOK{}, fmt.Errorf("forget the %s of %s: %w", f.Name, key(name, id), err)
			}
		}
	}
	if err := h.o.Store.RemoveChannelAccount(ctx, name, id); err != nil {
		return protocol.ChannelOK{}, err
	}
	h.mu.Lock()
	delete(h.accounts, key(name, id))
	h.mu.Unlock()
	h.changed(name)
	return protocol.ChannelOK{OK: true, Channel: name, AccountID: id}, nil
}

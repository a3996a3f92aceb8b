package state

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"fairlead/gateway/protocol"
)

// ErrNoAnswer means that the account was saved but its network is not connected. It can be started
// to try again.
var ErrNoAnswer = errors.New("not connected")

// noAnswer is an ErrNoAnswer with the gateway's message.
type noAnswer struct{ error }

func (noAnswer) Is(target error) bool { return target == ErrNoAnswer }
func (n noAnswer) Unwrap() error      { return n.error }

// Save logs an account in with the values of the form, and connects it unless a picture must be
// scanned first. It returns the account's key if the gateway has stored the account, even with an
// error. It blocks, as long as the network takes.
func (c *Channels) Save(ctx context.Context, f ChannelForm) (key string, err error) {
	if err := f.missing(); err != nil {
		return "", err
	}
	if key = f.Kind.Channel + ":" + AccountID(f.Account); !f.Exists && key != f.StoredKey {
		if _, taken := c.Value.Get().Account(key); taken {
			return "", fmt.Errorf("an account named %q already exists. Choose another name", AccountID(f.Account))
		}
	}
	config, err := f.config()
	if err != nil {
		return "", err
	}
	r, err := c.login(ctx, protocol.ChannelLoginParams{Channel: f.Kind.Channel, AccountID: f.Account, Config: config})
	c.Load(ctx)
	if err != nil {
		return c.keyOf(f), err
	}
	key = f.Kind.Channel + ":" + r.AccountID
	if r.QRDataURL != "" {
		return key, nil
	}
	c.setLogin(key, ChannelLogin{})
	_, err = Call(ctx, c.app, protocol.ChannelStart, protocol.ChannelStartParams{Channel: f.Kind.Channel, AccountID: r.AccountID})
	c.Load(ctx)
	return key, err
}

// keyOf returns the key of a form's account; empty if the gateway has not stored it.
func (c *Channels) keyOf(f ChannelForm) string {
	for _, a := range c.Value.Get().Accounts {
		if a.Channel == f.Kind.Channel && a.AccountID == AccountID(f.Account) {
			return a.Key()
		}
	}
	return ""
}

// login requests a login and stores its state for the view.
func (c *Channels) login(ctx context.Context, in protocol.ChannelLoginParams) (protocol.ChannelLoginResult, error) {
	r, err := Call(ctx, c.app, protocol.ChannelLogin, in)
	if errors.Is(err, protocol.ErrUnavailable) {
		err = noAnswer{err}
	}
	if err != nil {
		return r, err
	}
	login := ChannelLogin{Message: r.Message}
	if r.QRDataURL != "" {
		if login.QR, err = qrPicture(r.QRDataURL); err != nil {
			return r, err
		}
	}
	c.setLogin(r.Channel+":"+r.AccountID, login)
	return r, nil
}

// qrPicture decodes the picture of a data URL.
func qrPicture(url string) ([]byte, error) {
	head, data, ok := strings.Cut(url, ",")
	if !ok || !strings.HasPrefix(head, "data:image/") || !strings.HasSuffix(head, ";base64") {
		return nil, errors.New("the QR code could not be read. Log in again")
	}
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return nil, errors.New("the QR code could not be read. Log in again")
	}
	return raw, nil
}

func (c *Channels) setLogin(key string, l ChannelLogin) {
	c.Value.Update(func(v ChannelsView) ChannelsView {
		v.Logins = maps.Clone(v.Logins)
		if v.Logins == nil {
			v.Logins = make(map[string]ChannelLogin)
		}
		v.Logins[key] = l
		if l.QR == nil && l.Message == "" {
			delete(v.Logins, key)
		}
		return v
	})
}

// Start connects an account and keeps it connected.
func (c *Channels) Start(a ChannelAccount) {
	c.do(a, "Connecting…", func(ctx context.Context) error {
		c.setLogin(a.Key(), ChannelLogin{})
		_, err := Call(ctx, c.app, protocol.ChannelStart, protocol.ChannelStartParams{Channel: a.Channel, AccountID: a.AccountID})
		return err
	})
}

// Stop disconnects an account until it is started again.
func (c *Channels) Stop(a ChannelAccount) {
	c.do(a, "Stopping…", func(ctx context.Context) error {
		_, err := Call(ctx, c.app, protocol.ChannelStop, protocol.ChannelParams{Channel: a.Channel, AccountID: a.AccountID})
		return err
	})
}

// Login logs an account in again.
func (c *Channels) Login(a ChannelAccount) {
	c.do(a, "Logging in…", func(ctx context.Context) error {
		_, err := c.login(ctx, protocol.ChannelLoginParams{Channel: a.Channel, AccountID: a.AccountID, Force: true})
		return err
	})
}

// Logout logs an account out and deletes it with its secrets and undelivered messages.
func (c *Channels) Logout(a ChannelAccount) {
	c.do(a, "Logging out…", func(ctx context.Context) error {
		c.setLogin(a.Key(), ChannelLogin{})
		_, err := Call(ctx, c.app, protocol.ChannelLogout, protocol.ChannelParams{Channel: a.Channel, AccountID: a.AccountID})
		return err
	})
}

// do performs an action on an account that is shown as busy meanwhile. A failure becomes a notice.
func (c *Channels) do(a ChannelAccount, words string, f func(context.Context) error) {
	key := a.Key()
	c.setBusy(key, words)
	c.app.do(func(ctx context.Context) error {
		defer c.Load(ctx)
		defer c.setBusy(key, "")
		return f(ctx)
	})
}

func (c *Channels) setBusy(key, words string) {
	c.Value.Update(func(v ChannelsView) ChannelsView {
		v.busy = maps.Clone(v.busy)
		if v.busy == nil {
			v.busy = make(map[string]string)
		}
		v.busy[key] = words
		if words == "" {
			delete(v.busy, key)
		}
		return v.withBusy()
	})
}

// Answer grants or refuses a stranger access to the agent. The request leaves the view at once.
func (c *Channels) Answer(p protocol.PendingPair, allow bool) {
	same := func(x protocol.PendingPair) bool { return x.Channel == p.Channel && x.SenderID == p.SenderID }
	c.Value.Update(func(v ChannelsView) ChannelsView { v.Pending = without(v.Pending, same); return v })
	c.app.do(func(ctx context.Context) (err error) {
		defer c.Load(ctx)
		in := protocol.PairParams{Channel: p.Channel, SenderID: p.SenderID}
		if allow {
			_, err = Call(ctx, c.app, protocol.PairApprove, in)
		} else {
			_, err = Call(ctx, c.app, protocol.PairReject, in)
		}
		return err
	})
}

// SetPolicy sets who may write to the agent on a channel, and returns a function that undoes it.
func (c *Channels) SetPolicy(channel, policy string) (undo func()) {
	was := c.Value.Get().Policies[channel].DMPolicy
	set := func(policy string) {
		c.config(channel+".dmPolicy", policy)
	}
	set(policy)
	return func() { set(was) }
}

// SetAllowed sets the list of allowed people on a channel. It returns a function that undoes it.
func (c *Channels) SetAllowed(channel string, list []string) (undo func()) {
	was := slices.Clone(c.Value.Get().Policies[channel].AllowFrom)
	c.config(channel+".allowFrom", list)
	return func() { c.config(channel+".allowFrom", was) }
}

func (c *Channels) config(path string, value any) {
	if s, ok := value.([]string); ok && len(s) == 0 || value == "" {
		value = nil
	}
	c.app.do(func(ctx context.Context) error {
		defer c.Load(ctx)
		return c.app.Set(ctx, "channels."+path, value)
	})
}

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

// ErrNoAnswer is a network that the account is not connected to now: it is kept, and can be started to be tried again and again.
var ErrNoAnswer = errors.New("not connected")

// noAnswer is an ErrNoAnswer in the gateway's words.
type noAnswer struct{ error }

func (noAnswer) Is(target error) bool { return target == ErrNoAnswer }
func (n noAnswer) Unwrap() error      { return n.error }

// Save logs an account in with what the form says, and connects it unless a picture must be scanned first. It returns the account's key once the
// gateway knows it, with an error too. It blocks, for as long as a network takes.
func (c *Channels) Save(ctx context.Context, f ChannelForm) (key string, err error) {
	if err := f.missing(); err != nil {
		return "", err
	}
	if key = f.Kind.Channel + ":" + AccountID(f.Account); !f.Known && key != f.Kept {
		if _, taken := c.Value.Get().Account(key); taken {
			return "", fmt.Errorf("there is an account %q already. Give this one another name", AccountID(f.Account))
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
	_, err = Call(ctx, c.a, protocol.ChannelStart, protocol.ChannelStartParams{Channel: f.Kind.Channel, AccountID: r.AccountID})
	c.Load(ctx)
	return key, err
}

// keyOf finds the account of a form; empty when the gateway did not keep it.
func (c *Channels) keyOf(f ChannelForm) string {
	for _, a := range c.Value.Get().Accounts {
		if a.Channel == f.Kind.Channel && a.AccountID == AccountID(f.Account) {
			return a.Key()
		}
	}
	return ""
}

// login asks for a login and keeps what it says for the view.
func (c *Channels) login(ctx context.Context, in protocol.ChannelLoginParams) (protocol.ChannelLoginResult, error) {
	r, err := Call(ctx, c.a, protocol.ChannelLogin, in)
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

// qrPicture reads the picture of a data URL.
func qrPicture(url string) ([]byte, error) {
	head, data, ok := strings.Cut(url, ",")
	if !ok || !strings.HasPrefix(head, "data:image/") || !strings.HasSuffix(head, ";base64") {
		return nil, errors.New("the picture to be scanned cannot be read. Log in again")
	}
	raw, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return nil, errors.New("the picture to be scanned cannot be read. Log in again")
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
		_, err := Call(ctx, c.a, protocol.ChannelStart, protocol.ChannelStartParams{Channel: a.Channel, AccountID: a.AccountID})
		return err
	})
}

// Stop ends an account's connection until it is started again.
func (c *Channels) Stop(a ChannelAccount) {
	c.do(a, "Stopping…", func(ctx context.Context) error {
		_, err := Call(ctx, c.a, protocol.ChannelStop, protocol.ChannelParams{Channel: a.Channel, AccountID: a.AccountID})
		return err
	})
}

// Login logs an account in anew.
func (c *Channels) Login(a ChannelAccount) {
	c.do(a, "Logging in…", func(ctx context.Context) error {
		_, err := c.login(ctx, protocol.ChannelLoginParams{Channel: a.Channel, AccountID: a.AccountID, Force: true})
		return err
	})
}

// Logout ends an account's login and forgets it, its secrets and what it had still to say.
func (c *Channels) Logout(a ChannelAccount) {
	c.do(a, "Logging out…", func(ctx context.Context) error {
		c.setLogin(a.Key(), ChannelLogin{})
		_, err := Call(ctx, c.a, protocol.ChannelLogout, protocol.ChannelParams{Channel: a.Channel, AccountID: a.AccountID})
		return err
	})
}

// do carries out an action on an account, which is shown to be busy meanwhile. A failure becomes a notice.
func (c *Channels) do(a ChannelAccount, words string, f func(context.Context) error) {
	key := a.Key()
	c.setBusy(key, words)
	c.a.start(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, rpcLimit)
		defer cancel()
		err := f(ctx)
		c.setBusy(key, "")
		if err != nil {
			c.a.fail(err)
		}
		c.Load(ctx)
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
		return v.settle()
	})
}

// Answer lets a stranger write to the agent from now on, or refuses them. They leave the view at once.
func (c *Channels) Answer(p protocol.PendingPair, allow bool) {
	same := func(x protocol.PendingPair) bool { return x.Channel == p.Channel && x.SenderID == p.SenderID }
	c.Value.Update(func(v ChannelsView) ChannelsView { v.Pending = drop(v.Pending, same); return v })
	c.a.start(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, rpcLimit)
		defer cancel()
		in := protocol.PairParams{Channel: p.Channel, SenderID: p.SenderID}
		var err error
		if allow {
			_, err = Call(ctx, c.a, protocol.PairApprove, in)
		} else {
			_, err = Call(ctx, c.a, protocol.PairReject, in)
		}
		if err != nil {
			c.a.fail(err)
		}
		c.Load(ctx)
	})
}

// SetPolicy says who may write to the agent on a channel, and returns what takes that back.
func (c *Channels) SetPolicy(channel, policy string) (undo func()) {
	was := c.Value.Get().Policies[channel].DMPolicy
	set := func(policy string) {
		c.config(channel+".dmPolicy", policy)
	}
	set(policy)
	return func() { set(was) }
}

// SetAllowed says who is listed on a channel. It returns what takes that back.
func (c *Channels) SetAllowed(channel string, list []string) (undo func()) {
	was := slices.Clone(c.Value.Get().Policies[channel].AllowFrom)
	c.config(channel+".allowFrom", list)
	return func() { c.config(channel+".allowFrom", was) }
}

func (c *Channels) config(path string, value any) {
	c.a.start(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, rpcLimit)
		defer cancel()
		if s, ok := value.([]string); ok && len(s) == 0 || value == "" {
			value = nil
		}
		if err := c.a.Set(ctx, "channels."+path, value); err != nil {
			c.a.fail(err)
		}
		c.Load(ctx)
	})
}

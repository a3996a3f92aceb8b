package channels

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/gateway/protocol"
)

// Save logs an account in, and connects it unless a picture must be scanned first. It returns the
// key of the stored account, if any, even with an error. It blocks.
func (c *Model) Save(ctx context.Context, f fields) (key string, err error) {
	if err := f.missing(); err != nil {
		return "", err
	}
	if key = f.Kind.Channel + ":" + accountID(f.Account); !f.Exists && key != f.StoredKey {
		if _, taken := c.Value.Get().Account(key); taken {
			return "", fmt.Errorf("an account named %q already exists. Choose another name", accountID(f.Account))
		}
	}
	config, err := f.config()
	if err != nil {
		return "", err
	}
	r, err := c.login(ctx, protocol.ChannelLoginParams{Channel: f.Kind.Channel, AccountID: f.Account, Config: config})
	c.Load(ctx)
	if err != nil {
		if _, stored := c.Value.Get().Account(key); !stored {
			key = ""
		}
		return key, err
	}
	key = f.Kind.Channel + ":" + r.AccountID
	if r.QRDataURL != "" {
		return key, nil
	}
	c.setLogin(key, Login{})
	_, err = feed.Call(ctx, c.Feed, protocol.ChannelStart, protocol.ChannelStartParams{Channel: f.Kind.Channel, AccountID: r.AccountID})
	c.Load(ctx)
	return key, err
}

// login requests a login and stores its state for the view.
func (c *Model) login(ctx context.Context, in protocol.ChannelLoginParams) (protocol.ChannelLoginResult, error) {
	r, err := feed.Call(ctx, c.Feed, protocol.ChannelLogin, in)
	if err != nil {
		return r, err
	}
	login := Login{Message: r.Message}
	if r.QRDataURL != "" {
		if login.QR, err = qrPicture(r.QRDataURL); err != nil {
			return r, err
		}
	}
	c.setLogin(r.Channel+":"+r.AccountID, login)
	return r, nil
}

func qrPicture(url string) ([]byte, error) {
	head, data, ok := strings.Cut(url, ",")
	raw, err := base64.StdEncoding.DecodeString(data)
	if !ok || err != nil || !strings.HasPrefix(head, "data:image/") || !strings.HasSuffix(head, ";base64") {
		return nil, errors.New("the QR code could not be read. Log in again")
	}
	return raw, nil
}

func (c *Model) setLogin(key string, l Login) {
	c.Value.Update(func(v *View) {
		v.Logins = lists.MapWith(v.Logins, l, l.QR != nil || l.Message != "", key)
	})
}

// Start connects an account and keeps it connected.
func (c *Model) Start(a Account) {
	c.runAction(a, "Connecting…", func(ctx context.Context) error {
		c.setLogin(a.Key(), Login{})
		return feed.Send(ctx, c.Feed, protocol.ChannelStart, protocol.ChannelStartParams{Channel: a.Channel, AccountID: a.AccountID})
	})
}

// Stop disconnects an account until it is started again.
func (c *Model) Stop(a Account) {
	c.runAction(a, "Stopping…", func(ctx context.Context) error {
		return feed.Send(ctx, c.Feed, protocol.ChannelStop, protocol.ChannelParams{Channel: a.Channel, AccountID: a.AccountID})
	})
}

// Login logs an account in again.
func (c *Model) Login(a Account) {
	c.runAction(a, "Logging in…", func(ctx context.Context) error {
		_, err := c.login(ctx, protocol.ChannelLoginParams{Channel: a.Channel, AccountID: a.AccountID, Force: true})
		return err
	})
}

// Logout logs an account out and deletes it with its secrets and undelivered messages.
func (c *Model) Logout(a Account) {
	c.runAction(a, "Logging out…", func(ctx context.Context) error {
		c.setLogin(a.Key(), Login{})
		return feed.Send(ctx, c.Feed, protocol.ChannelLogout, protocol.ChannelParams{Channel: a.Channel, AccountID: a.AccountID})
	})
}

// runAction performs an action on an account shown as busy. A failure becomes a notice.
func (c *Model) runAction(a Account, words string, f func(context.Context) error) {
	key := a.Key()
	c.setBusy(key, words)
	c.Do(func(ctx context.Context) error {
		defer c.setBusy(key, "")
		return f(ctx)
	})
}

func (c *Model) setBusy(key, words string) {
	c.Value.Update(func(v *View) {
		v.busy = lists.MapWith(v.busy, words, words != "", key)
		v.showBusy()
	})
}

// Answer grants or refuses a stranger access to the agent. The request leaves the view at once.
func (c *Model) Answer(p protocol.PendingPair, allow bool) {
	same := func(x protocol.PendingPair) bool { return x.Channel == p.Channel && x.SenderID == p.SenderID }
	c.Value.Update(func(v *View) { v.Pending = lists.Without(v.Pending, same) })
	c.Do(func(ctx context.Context) error {
		in := protocol.PairParams{Channel: p.Channel, SenderID: p.SenderID}
		if allow {
			return feed.Send(ctx, c.Feed, protocol.PairApprove, in)
		}
		return feed.Send(ctx, c.Feed, protocol.PairReject, in)
	})
}

// SetPolicy sets who may write to the agent on a channel, and returns a function that undoes it.
func (c *Model) SetPolicy(channel, policy string) (undo func()) {
	return c.config(channel+".dmPolicy", policy, c.Value.Get().Policies[channel].DMPolicy)
}

// SetAllowed sets the list of allowed people on a channel. It returns a function that undoes it.
func (c *Model) SetAllowed(channel string, list []string) (undo func()) {
	return c.config(channel+".allowFrom", list, c.Value.Get().Policies[channel].AllowFrom)
}

// config sets a value, or resets an empty one, and returns a function that undoes that.
func (c *Model) config(path string, value, previous any) (undo func()) {
	set := func(value any) {
		if s, ok := value.([]string); ok && len(s) == 0 || value == "" {
			value = nil
		}
		c.Do(func(ctx context.Context) error { return feed.Set(ctx, c.Feed, "channels."+path, value) })
	}
	set(value)
	return func() { set(previous) }
}

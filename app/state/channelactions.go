package state

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
)

// Save logs an account in, and connects it unless a picture must be scanned first. It returns the
// key of the stored account, if any, even with an error. It blocks.
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
		if _, stored := c.Value.Get().Account(key); !stored {
			key = ""
		}
		return key, err
	}
	key = f.Kind.Channel + ":" + r.AccountID
	if r.QRDataURL != "" {
		return key, nil
	}
	c.setLogin(key, ChannelLogin{})
	_, err = feed.Call(ctx, c.Feed, protocol.ChannelStart, protocol.ChannelStartParams{Channel: f.Kind.Channel, AccountID: r.AccountID})
	c.Load(ctx)
	return key, err
}

// login requests a login and stores its state for the view.
func (c *Channels) login(ctx context.Context, in protocol.ChannelLoginParams) (protocol.ChannelLoginResult, error) {
	r, err := feed.Call(ctx, c.Feed, protocol.ChannelLogin, in)
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

func qrPicture(url string) ([]byte, error) {
	head, data, ok := strings.Cut(url, ",")
	raw, err := base64.StdEncoding.DecodeString(data)
	if !ok || err != nil || !strings.HasPrefix(head, "data:image/") || !strings.HasSuffix(head, ";base64") {
		return nil, errors.New("the QR code could not be read. Log in again")
	}
	return raw, nil
}

func (c *Channels) setLogin(key string, l ChannelLogin) {
	c.Value.Update(func(v *ChannelsView) {
		v.Logins = lists.MapWith(v.Logins, l, l.QR != nil || l.Message != "", key)
	})
}

// Start connects an account and keeps it connected.
func (c *Channels) Start(a ChannelAccount) {
	c.runAction(a, "Connecting…", func(ctx context.Context) error {
		c.setLogin(a.Key(), ChannelLogin{})
		return feed.Send(ctx, c.Feed, protocol.ChannelStart, protocol.ChannelStartParams{Channel: a.Channel, AccountID: a.AccountID})
	})
}

// Stop disconnects an account until it is started again.
func (c *Channels) Stop(a ChannelAccount) {
	c.runAction(a, "Stopping…", func(ctx context.Context) error {
		return feed.Send(ctx, c.Feed, protocol.ChannelStop, protocol.ChannelParams{Channel: a.Channel, AccountID: a.AccountID})
	})
}

// Login logs an account in again.
func (c *Channels) Login(a ChannelAccount) {
	c.runAction(a, "Logging in…", func(ctx context.Context) error {
		_, err := c.login(ctx, protocol.ChannelLoginParams{Channel: a.Channel, AccountID: a.AccountID, Force: true})
		return err
	})
}

// Logout logs an account out and deletes it with its secrets and undelivered messages.
func (c *Channels) Logout(a ChannelAccount) {
	c.runAction(a, "Logging out…", func(ctx context.Context) error {
		c.setLogin(a.Key(), ChannelLogin{})
		return feed.Send(ctx, c.Feed, protocol.ChannelLogout, protocol.ChannelParams{Channel: a.Channel, AccountID: a.AccountID})
	})
}

// runAction performs an action on an account shown as busy. A failure becomes a notice.
func (c *Channels) runAction(a ChannelAccount, words string, f func(context.Context) error) {
	key := a.Key()
	c.setBusy(key, words)
	c.Do(func(ctx context.Context) error {
		defer c.setBusy(key, "")
		return f(ctx)
	})
}

func (c *Channels) setBusy(key, words string) {
	c.Value.Update(func(v *ChannelsView) {
		v.busy = lists.MapWith(v.busy, words, words != "", key)
		v.showBusy()
	})
}

// Answer grants or refuses a stranger access to the agent. The request leaves the view at once.
func (c *Channels) Answer(p protocol.PendingPair, allow bool) {
	same := func(x protocol.PendingPair) bool { return x.Channel == p.Channel && x.SenderID == p.SenderID }
	c.Value.Update(func(v *ChannelsView) { v.Pending = lists.Without(v.Pending, same) })
	c.Do(func(ctx context.Context) error {
		in := protocol.PairParams{Channel: p.Channel, SenderID: p.SenderID}
		if allow {
			return feed.Send(ctx, c.Feed, protocol.PairApprove, in)
		}
		return feed.Send(ctx, c.Feed, protocol.PairReject, in)
	})
}

// SetPolicy sets who may write to the agent on a channel, and returns a function that undoes it.
func (c *Channels) SetPolicy(channel, policy string) (undo func()) {
	return c.config(channel+".dmPolicy", policy, c.Value.Get().Policies[channel].DMPolicy)
}

// SetAllowed sets the list of allowed people on a channel. It returns a function that undoes it.
func (c *Channels) SetAllowed(channel string, list []string) (undo func()) {
	return c.config(channel+".allowFrom", list, c.Value.Get().Policies[channel].AllowFrom)
}

// config sets a value, or resets an empty one, and returns a function that undoes that.
func (c *Channels) config(path string, value, previous any) (undo func()) {
	set := func(value any) {
		if s, ok := value.([]string); ok && len(s) == 0 || value == "" {
			value = nil
		}
		c.Do(func(ctx context.Context) error { return feed.Set(ctx, c.Feed, "channels."+path, value) })
	}
	set(value)
	return func() { set(previous) }
}

// ChannelForm has the fields of the form for an account.
type ChannelForm struct {
	Kind    protocol.ChannelKind
	Account string            // account name; empty is "default"
	Values  map[string]string // values by field
	// Exists is the existing account that the form edits: untouched fields keep their values.
	Exists bool
	// StoredKey is the account stored by a failed Save, the only one that Save overwrites.
	StoredKey string
	original  map[string]string
}

// NewChannelForm returns an empty form; account is the suggested name.
func NewChannelForm(k protocol.ChannelKind, account string) ChannelForm {
	return ChannelForm{Kind: k, Account: account, Values: map[string]string{}}
}

// FormOfAccount returns the form of an account, without secrets, which are never revealed.
func FormOfAccount(c ChannelAccount) ChannelForm {
	f := ChannelForm{Kind: c.Kind, Account: c.AccountID, Values: map[string]string{}, Exists: true}
	for _, field := range c.Kind.Fields {
		if text := settingText(c.Settings[field.Name]); text != "" {
			f.Values[field.Name] = text
		}
	}
	f.original = maps.Clone(f.Values)
	return f
}

// settingText formats a setting for editing; lists are separated by commas.
func settingText(raw json.RawMessage) string {
	var list []string
	if json.Unmarshal(raw, &list) == nil {
		return strings.Join(list, ", ")
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}

// Copy returns a form that does not change with f.
func (f ChannelForm) Copy() ChannelForm {
	f.Values = maps.Clone(f.Values)
	return f
}

// missing returns an error that names a required field that is empty.
func (f ChannelForm) missing() error {
	for _, field := range f.Kind.Fields {
		if field.Required && strings.TrimSpace(f.Values[field.Name]) == "" && (!f.Exists || !field.Secret) {
			return fmt.Errorf("fill in: %s", field.Title)
		}
	}
	return nil
}

// config returns the values to send to the gateway: those that were filled in or changed.
func (f ChannelForm) config() (map[string]json.RawMessage, error) {
	out := make(map[string]json.RawMessage)
	for _, field := range f.Kind.Fields {
		text := f.Values[field.Name]
		if !field.Secret {
			text = strings.TrimSpace(text)
		}
		if text == f.original[field.Name] {
			continue // an empty secret means unchanged
		}
		raw, err := protocol.Marshal(text)
		if err != nil {
			return nil, err
		}
		out[field.Name] = raw
	}
	return out, nil
}

// FreeAccount suggests a name for a new account of a channel.
func FreeAccount(list []ChannelAccount, channel string) string {
	return unusedName("default", "account-%d", func(name string) bool {
		return slices.ContainsFunc(list, func(a ChannelAccount) bool { return a.Key() == channel+":"+name })
	})
}

// unusedName returns the first name that is not taken: first, or format with 2, 3 and so on.
func unusedName(first, format string, taken func(string) bool) string {
	name := first
	for i := 2; taken(name); i++ {
		name = fmt.Sprintf(format, i)
	}
	return name
}

// AccountID normalizes an account's name as the gateway does.
func AccountID(name string) string {
	return cmp.Or(wording.Slug(strings.TrimSpace(name), "_-"), "default")
}

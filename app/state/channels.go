package state

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
)

// ChannelsView is the state of the page of channels.
type ChannelsView struct {
	Loaded   bool
	Problem  string // reason why loading failed
	Kinds    []protocol.ChannelKind
	Accounts []ChannelAccount         // sorted by channel and ID
	Pending  []protocol.PendingPair   // strangers who wait for access, longest first
	Policies map[string]ChannelPolicy // by channel
	Logins   map[string]ChannelLogin  // state or result of a login, by key of the account

	busy map[string]string // action in progress, by key of the account
}

// ChannelAccount is one account of a channel.
type ChannelAccount struct {
	Channel string
	protocol.ChannelAccountStatus
	// Kind describes the channel. Own is false for another program's account: it is read-only.
	Kind protocol.ChannelKind
	Own  bool
	Busy string // action in progress, such as Connecting…
}

// Key returns the account's key.
func (c ChannelAccount) Key() string { return c.Channel + ":" + c.AccountID }

// ChannelPolicy defines who may write to the agent on a channel.
type ChannelPolicy struct {
	DMPolicy  string   `json:"dmPolicy"` // open, allowlist or pairing; empty is pairing
	AllowFrom []string `json:"allowFrom"`
}

// Values of ChannelPolicy.DMPolicy.
const (
	PolicyPairing   = "pairing"
	PolicyAllowlist = "allowlist"
	PolicyOpen      = "open"
)

// ChannelLogin is a login in progress, or the result of one.
type ChannelLogin struct {
	QR      []byte // picture to scan; nil for none
	Message string
}

// Account finds an account by its key.
func (v ChannelsView) Account(key string) (ChannelAccount, bool) {
	return lists.Find(v.Accounts, func(c ChannelAccount) bool { return c.Key() == key })
}

// Channels is the view model of the page of channels. Its methods are safe for concurrent use.
type Channels struct{ feed.Loader[ChannelsView] }

// channelsInterval is the polling interval: the feed does not report each message.
const channelsInterval = 10 * time.Second

// NewChannels returns an empty view model; Follow loads it.
func NewChannels(f *feed.Feed) *Channels {
	c := &Channels{}
	c.Loader = feed.Loader[ChannelsView]{
		Value: feed.NewValue(ChannelsView{}), Feed: f, Problem: func(v *ChannelsView) *string { return &v.Problem },
		Facts:    []feed.Fact{f.Changed, f.Status},
		Key:      func(v feed.View) string { return fmt.Sprint(v.Changed.Channels, v.Changed.Config, v.Status.Connected) },
		Interval: channelsInterval,
		Fetch: func(ctx context.Context) (func(*ChannelsView), error) {
			next, err := c.read(ctx)
			return func(v *ChannelsView) {
				next.Logins, next.busy = v.Logins, v.busy
				*v = next
				v.showBusy()
			}, err
		},
	}
	return c
}

// showBusy merges this window's own state into the gateway's.
func (v *ChannelsView) showBusy() {
	v.Accounts = slices.Clone(v.Accounts)
	for i, a := range v.Accounts {
		v.Accounts[i].Busy = v.busy[a.Key()]
	}
}

func (c *Channels) read(ctx context.Context) (v ChannelsView, err error) {
	list, err := feed.Call(ctx, c.Feed, protocol.ChannelsList, protocol.Empty{})
	if err != nil {
		return v, err
	}
	pairs, err := feed.Call(ctx, c.Feed, protocol.PairList, protocol.Empty{})
	if err != nil {
		return v, err
	}
	if v.Policies, err = feed.ConfigAt[map[string]ChannelPolicy](ctx, c.Feed, "channels"); err != nil {
		return v, err
	}
	v.Loaded, v.Kinds = true, list.Kinds
	names := append(lists.Map(list.Kinds, func(k protocol.ChannelKind) string { return k.Channel }),
		lists.Map(list.Channels, func(e protocol.ChannelEntry) string { return e.Channel })...)
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		st, err := feed.Call(ctx, c.Feed, protocol.ChannelStatus, protocol.ChannelParams{Channel: name})
		if errors.Is(err, protocol.ErrNotFound) {
			continue // it was removed meanwhile
		}
		if err != nil {
			return v, err
		}
		kind, own := lists.Find(list.Kinds, func(k protocol.ChannelKind) bool { return k.Channel == name })
		for _, a := range st.Accounts {
			v.Accounts = append(v.Accounts, ChannelAccount{Channel: name, ChannelAccountStatus: a, Kind: kind, Own: own && a.Settings != nil})
		}
	}
	slices.SortFunc(v.Accounts, func(a, b ChannelAccount) int {
		return cmp.Or(strings.Compare(a.Channel, b.Channel), strings.Compare(a.AccountID, b.AccountID))
	})
	v.Pending = slices.Collect(maps.Values(pairs.Pairs))
	slices.SortFunc(v.Pending, func(a, b protocol.PendingPair) int {
		return cmp.Or(cmp.Compare(a.RequestedAt, b.RequestedAt), strings.Compare(a.Channel+a.SenderID, b.Channel+b.SenderID))
	})
	return v, nil
}

var accountWords = map[string]string{
	protocol.AccountConnected: "connected", protocol.AccountConnecting: "connecting…", protocol.AccountOffline: "offline",
	protocol.AccountNoLogin: "login failed", protocol.AccountStopped: "stopped",
}

// AccountWord returns an account's state in one word.
func AccountWord(a ChannelAccount) string {
	if a.Busy != "" {
		return strings.ToLower(a.Busy)
	}
	return cmp.Or(accountWords[a.State], a.State)
}

// AccountText describes an account's state, its consequences, and what to do.
func AccountText(a ChannelAccount, now time.Time) string {
	why := strings.TrimRight(a.Error, ".")
	switch a.State {
	case protocol.AccountConnected:
		if why != "" {
			return "Connected, with a problem: " + why + "."
		}
		return "Connected. People can write to the agent."
	case protocol.AccountConnecting:
		if why != "" {
			return "Connecting. The last attempt failed: " + why + "."
		}
		return "Connecting."
	case protocol.AccountNoLogin:
		return feed.Sentence(errors.New(why)) + ". Correct the settings or log in again."
	case protocol.AccountStopped:
		return "Stopped. Nobody can reach the agent there until you start it."
	}
	text := "Offline"
	if why != "" {
		text += ": " + why
	}
	if a.RetryAt > 0 {
		text += ". Trying again " + inSeconds(a.RetryAt, now)
	}
	return text + "."
}

func inSeconds(ms int64, now time.Time) string {
	d := time.UnixMilli(ms).Sub(now)
	if d <= 0 {
		return "now"
	}
	if d < 100*time.Second {
		return fmt.Sprintf("in %d s", int((d + time.Second - 1).Seconds()))
	}
	return "in about " + wording.DurationText(d)
}

// AccountTitle returns an account's address, or else the name of its channel.
func AccountTitle(a ChannelAccount) string {
	for _, f := range a.Kind.Fields {
		if f.Required && !f.Secret {
			if text := settingText(a.Settings[f.Name]); text != "" {
				return text
			}
		}
	}
	if a.AccountID != "" && a.AccountID != "default" {
		return a.AccountID
	}
	return ChannelTitle(a.Kind, a.Channel)
}

// ChannelTitle returns a channel's display name.
func ChannelTitle(k protocol.ChannelKind, channel string) string { return cmp.Or(k.Title, channel) }

// PendingText describes a stranger who asks for access, and what granting it means.
func PendingText(p protocol.PendingPair) (title, about string) {
	title, _ = wording.Reveal(p.SenderID)
	if name, _ := wording.Reveal(p.SenderName); name != "" && p.SenderName != p.SenderID {
		title = name + " (" + title + ")"
	}
	return title, "Anyone you allow can give the agent tasks. The name is not verified; only the address is."
}

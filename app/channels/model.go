package channels

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
	"fairlead/gateway/protocol"
)

// View is the state of the page of channels.
type View struct {
	Loaded   bool
	Problem  string // reason why loading failed
	Kinds    []protocol.ChannelKind
	Accounts []Account              // sorted by channel and ID
	Pending  []protocol.PendingPair // strangers who wait for access, longest first
	Policies map[string]Policy      // by channel
	Logins   map[string]Login       // state or result of a login, by key of the account

	busy map[string]string // action in progress, by key of the account
}

// Account is one account of a channel.
type Account struct {
	Channel string
	protocol.ChannelAccountStatus
	// Kind describes the channel. Own is false for another program's account: it is read-only.
	Kind protocol.ChannelKind
	Own  bool
	Busy string // action in progress, such as Connecting…
}

// Key returns the account's key.
func (c Account) Key() string { return c.Channel + ":" + c.AccountID }

// Policy defines who may write to the agent on a channel.
type Policy struct {
	DMPolicy  string   `json:"dmPolicy"` // open, allowlist or pairing; empty is pairing
	AllowFrom []string `json:"allowFrom"`
}

// Values of Policy.DMPolicy.
const (
	policyPairing   = "pairing"
	policyAllowlist = "allowlist"
	policyOpen      = "open"
)

// Login is a login in progress, or the result of one.
type Login struct {
	QR      []byte // picture to scan; nil for none
	Message string
}

// Account finds an account by its key.
func (v View) Account(key string) (Account, bool) {
	return lists.Find(v.Accounts, func(c Account) bool { return c.Key() == key })
}

// Model is the view model of the page of channels. Its methods are safe for concurrent use.
type Model struct{ feed.Loader[View] }

// channelsInterval is the polling interval: the feed does not report each message.
const channelsInterval = 10 * time.Second

// newModel returns an empty view model; Follow loads it.
func newModel(f *feed.Feed) *Model {
	c := &Model{}
	c.Loader = feed.Loader[View]{
		Value: feed.NewValue(View{}), Feed: f, Problem: func(v *View) *string { return &v.Problem },
		Facts:    []feed.Fact{f.Changed, f.Status},
		Key:      func(v feed.View) string { return fmt.Sprint(v.Changed.Channels, v.Changed.Config, v.Status.Connected) },
		Interval: channelsInterval,
		Fetch: func(ctx context.Context) (func(*View), error) {
			next, err := c.read(ctx)
			return func(v *View) {
				next.Logins, next.busy = v.Logins, v.busy
				*v = next
				v.showBusy()
			}, err
		},
	}
	return c
}

// showBusy merges this window's own state into the gateway's.
func (v *View) showBusy() {
	v.Accounts = slices.Clone(v.Accounts)
	for i, a := range v.Accounts {
		v.Accounts[i].Busy = v.busy[a.Key()]
	}
}

func (c *Model) read(ctx context.Context) (v View, err error) {
	list, err := feed.Call(ctx, c.Feed, protocol.ChannelsList, protocol.Empty{})
	if err != nil {
		return v, err
	}
	pairs, err := feed.Call(ctx, c.Feed, protocol.PairList, protocol.Empty{})
	if err != nil {
		return v, err
	}
	if v.Policies, err = feed.ConfigAt[map[string]Policy](ctx, c.Feed, "channels"); err != nil {
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
			v.Accounts = append(v.Accounts, Account{Channel: name, ChannelAccountStatus: a, Kind: kind, Own: own && a.Settings != nil})
		}
	}
	slices.SortFunc(v.Accounts, func(a, b Account) int {
		return cmp.Or(strings.Compare(a.Channel, b.Channel), strings.Compare(a.AccountID, b.AccountID))
	})
	v.Pending = slices.Collect(maps.Values(pairs.Pairs))
	slices.SortFunc(v.Pending, func(a, b protocol.PendingPair) int {
		return cmp.Or(cmp.Compare(a.RequestedAt, b.RequestedAt), strings.Compare(a.Channel+a.SenderID, b.Channel+b.SenderID))
	})
	return v, nil
}

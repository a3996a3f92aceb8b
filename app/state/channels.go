package state

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/protocol"
)

// ChannelsView is what the page of channels shows.
type ChannelsView struct {
	Loaded   bool
	Problem  string // why they cannot be loaded
	Kinds    []protocol.ChannelKind
	Accounts []ChannelAccount         // by channel and id
	Pending  []protocol.PendingPair   // strangers who wait, the longest first
	Policies map[string]ChannelPolicy // by channel
	Logins   map[string]ChannelLogin  // by key of the account: what a login wants or said

	busy map[string]string // by key of the account: what is being done
}

// ChannelAccount is one account of a channel.
type ChannelAccount struct {
	Channel string
	protocol.ChannelAccountStatus
	// Kind is what the gateway knows of the channel. Own says that the gateway runs the account; else another program does, and it can only be looked at.
	Kind protocol.ChannelKind
	Own  bool
	Busy string // what is being done with it just now, such as Connecting…
}

// Key names the account.
func (c ChannelAccount) Key() string { return c.Channel + ":" + c.AccountID }

// ChannelPolicy says who may write to the agent on a channel.
type ChannelPolicy struct {
	DMPolicy  string   `json:"dmPolicy"` // open, allowlist, pairing; empty is pairing
	AllowFrom []string `json:"allowFrom"`
}

// Values of ChannelPolicy.DMPolicy.
const (
	PolicyPairing   = "pairing"
	PolicyAllowlist = "allowlist"
	PolicyOpen      = "open"
)

// ChannelLogin is a login that goes on, or how one went.
type ChannelLogin struct {
	QR      []byte // a picture to be scanned; nil is none
	Message string
}

// Account finds one by its key.
func (v ChannelsView) Account(key string) (ChannelAccount, bool) {
	for _, c := range v.Accounts {
		if c.Key() == key {
			return c, true
		}
	}
	return ChannelAccount{}, false
}

// Channels is the view-model of the page of channels. Its methods are safe for use by many goroutines.
type Channels struct {
	Value *Value[ChannelsView]
	a     *App
}

// NewChannels makes it; Follow brings it to life.
func NewChannels(a *App) *Channels { return &Channels{Value: NewValue(ChannelsView{}), a: a} }

// channelsPace is how often the accounts are asked for while somebody looks: the feed does not tell of each message.
const channelsPace = 10 * time.Second

// Follow keeps the view up to date until ctx ends. It blocks.
func (c *Channels) Follow(ctx context.Context) {
	var wg sync.WaitGroup
	defer wg.Wait()
	wg.Go(func() {
		tick := time.NewTicker(channelsPace)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				c.Load(ctx)
			case <-ctx.Done():
				return
			}
		}
	})
	seen := ""
	for v := range c.a.Value.Changes(ctx) {
		if now := fmt.Sprint(v.Channels, v.Config, v.Connected); now != seen {
			seen = now
			c.Load(ctx)
		}
	}
}

// Load asks the gateway once. It blocks.
func (c *Channels) Load(ctx context.Context) {
	whole := ctx
	ctx, cancel := context.WithTimeout(ctx, rpcLimit)
	defer cancel()
	next, err := c.load(ctx)
	if whole.Err() != nil {
		return
	}
	c.Value.Update(func(v ChannelsView) ChannelsView {
		if err != nil {
			v.Problem = sentence(err)
			return v
		}
		next.Logins, next.busy = v.Logins, v.busy
		return next.settle()
	})
}

// settle lays what only this window knows over what the gateway said.
func (v ChannelsView) settle() ChannelsView {
	v.Accounts = slices.Clone(v.Accounts)
	for i := range v.Accounts {
		v.Accounts[i].Busy = v.busy[v.Accounts[i].Key()]
	}
	return v
}

func (c *Channels) load(ctx context.Context) (v ChannelsView, err error) {
	list, err := Call(ctx, c.a, protocol.ChannelsList, protocol.Empty{})
	if err != nil {
		return v, err
	}
	pairs, err := Call(ctx, c.a, protocol.PairList, protocol.Empty{})
	if err != nil {
		return v, err
	}
	if v.Policies, err = configAt[map[string]ChannelPolicy](ctx, c.a, "channels"); err != nil {
		return v, err
	}
	v.Loaded, v.Kinds = true, list.Kinds
	kinds := make(map[string]protocol.ChannelKind)
	names := make(map[string]bool)
	for _, k := range list.Kinds {
		kinds[k.Channel] = k
		names[k.Channel] = true
	}
	for _, e := range list.Channels {
		names[e.Channel] = true
	}
	for name := range names {
		st, err := Call(ctx, c.a, protocol.ChannelStatus, protocol.ChannelParams{Channel: name})
		if errors.Is(err, protocol.ErrNotFound) {
			continue // it went away meanwhile
		}
		if err != nil {
			return v, err
		}
		kind, own := kinds[name]
		for _, a := range st.Accounts {
			v.Accounts = append(v.Accounts, ChannelAccount{Channel: name, ChannelAccountStatus: a, Kind: kind, Own: own && a.Settings != nil})
		}
	}
	slices.SortFunc(v.Accounts, func(a, b ChannelAccount) int {
		return cmp.Or(strings.Compare(a.Channel, b.Channel), strings.Compare(a.AccountID, b.AccountID))
	})
	for _, p := range pairs.Pairs {
		v.Pending = append(v.Pending, p)
	}
	slices.SortFunc(v.Pending, func(a, b protocol.PendingPair) int {
		return cmp.Or(cmp.Compare(a.RequestedAt, b.RequestedAt), strings.Compare(a.Channel+a.SenderID, b.Channel+b.SenderID))
	})
	return v, nil
}

// loadStrangers counts who waits to be let in.
func (a *App) loadStrangers() {
	a.start(func(ctx context.Context) {
		ctx, cancel := context.WithTimeout(ctx, rpcLimit)
		defer cancel()
		if r, err := Call(ctx, a, protocol.PairList, protocol.Empty{}); err == nil {
			a.Value.Update(func(v View) View { v.Strangers = len(r.Pairs); return v })
		}
	})
}

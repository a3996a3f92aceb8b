package channel

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"fairlead/gateway/protocol"
)

// List lists the connected accounts (channels.list).
func (h *Hub) List(_ context.Context, _ protocol.Empty) (protocol.ChannelsListResult, error) {
	res := protocol.ChannelsListResult{Channels: []protocol.ChannelEntry{}, Kinds: []protocol.ChannelKind{}}
	h.mu.Lock()
	for _, a := range h.accounts {
		if a.sender != nil {
			res.Channels = append(res.Channels, protocol.ChannelEntry{Channel: a.channel, AccountID: a.id, ConnectedAt: a.connectedAt, LastMessageAt: a.lastMessage})
		}
	}
	h.mu.Unlock()
	slices.SortFunc(res.Channels, func(a, b protocol.ChannelEntry) int {
		return cmp.Or(strings.Compare(a.Channel, b.Channel), strings.Compare(a.AccountID, b.AccountID))
	})
	for _, d := range h.drivers {
		res.Kinds = append(res.Kinds, d.Kind())
	}
	slices.SortFunc(res.Kinds, func(a, b protocol.ChannelKind) int { return strings.Compare(a.Channel, b.Channel) })
	res.Count = len(res.Channels)
	return res, nil
}

// Status returns the state of a channel's accounts (channel.status).
func (h *Hub) Status(ctx context.Context, in protocol.ChannelParams) (protocol.ChannelStatusResult, error) {
	name, err := channelName(in.Channel)
	if err != nil {
		return protocol.ChannelStatusResult{}, err
	}
	waiting, err := h.o.Store.Outbox.CountWaiting(ctx)
	if err != nil {
		return protocol.ChannelStatusResult{}, err
	}
	res := protocol.ChannelStatusResult{Channel: name, Accounts: []protocol.ChannelAccountStatus{}}
	known := h.drivers[name] != nil
	h.mu.Lock()
	for k, a := range h.accounts {
		if a.channel != name {
			continue
		}
		known = true
		if in.AccountID != "" && accountID(in.AccountID) != a.id {
			continue
		}
		res.Accounts = append(res.Accounts, protocol.ChannelAccountStatus{
			AccountID: a.id, Connected: a.sender != nil, Authenticated: a.authenticated, Error: a.err,
			Extra: a.extra, LastActivity: max(a.lastMessage, a.connectedAt), Waiting: waiting[k],
			State: a.state(), RetryAt: a.retryAt, Settings: a.config,
		})
	}
	h.mu.Unlock()
	if !known {
		return res, unknownChannel(name)
	}
	slices.SortFunc(res.Accounts, func(a, b protocol.ChannelAccountStatus) int { return strings.Compare(a.AccountID, b.AccountID) })
	return res, nil
}

// state returns the account's state in one word. The caller must hold the hub's lock.
func (a *account) state() string {
	switch {
	case a.sender != nil:
		return protocol.AccountConnected
	case a.loginFailed:
		return protocol.AccountNoLogin
	case a.driver == nil || a.retryAt > 0:
		return protocol.AccountOffline
	case a.done == nil || isClosed(a.done):
		return protocol.AccountStopped
	}
	return protocol.AccountConnecting
}

func unknownChannel(name string) error { return protocol.ErrNotFound.With("Unknown channel: " + name) }

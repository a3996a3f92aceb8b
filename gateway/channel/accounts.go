package channel

import (
	"context"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// startWait is the time for which channel.start waits for the account to connect.
const startWait = 15 * time.Second

// driver returns the driver of a channel, and normalizes both names.
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

// Start connects an account and keeps it connected (channel.start). The settings in config are
// stored for later starts. Start waits up to [startWait] for the connection: it returns an error
// when the account cannot log in, but not when its network is unreachable.
func (h *Hub) Start(ctx context.Context, in protocol.ChannelStartParams) (protocol.ChannelOK, error) {
	d, name, id, err := h.driver(in.Channel, in.AccountID)
	if err != nil {
		return protocol.ChannelOK{}, err
	}
	h.accountChange.Lock()
	defer h.accountChange.Unlock()
	if err := h.configure(ctx, d, name, id, in.Config, true); err != nil {
		return protocol.ChannelOK{}, err
	}
	if err := h.connect(ctx, name, id); err != nil {
		return protocol.ChannelOK{}, err
	}
	if err := h.awaitStart(ctx, name, id); err != nil {
		return protocol.ChannelOK{}, err
	}
	return protocol.ChannelOK{OK: true, Channel: name, AccountID: id}, nil
}

// awaitStart waits until the account is connected or has failed permanently, but at most
// [startWait].
func (h *Hub) awaitStart(ctx context.Context, name, id string) error {
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		h.mu.Lock()
		a := h.accounts[key(name, id)]
		up, barred, problem := a.sender != nil, a.loginFailed, a.err
		over := a.done != nil && isClosed(a.done)
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
			return nil // the hub keeps trying
		}
	}
}

func isClosed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// Stop disconnects an account (channel.stop). Its settings stay stored, and it no longer connects
// when the gateway starts.
func (h *Hub) Stop(ctx context.Context, in protocol.ChannelParams) (protocol.ChannelOK, error) {
	_, name, id, err := h.driver(in.Channel, in.AccountID)
	if err != nil {
		return protocol.ChannelOK{}, err
	}
	h.accountChange.Lock()
	defer h.accountChange.Unlock()
	_, a, err := h.withSecrets(name, id)
	if err != nil {
		return protocol.ChannelOK{}, err
	}
	h.mu.Lock()
	cfg := a.config
	h.mu.Unlock()
	if err := h.o.Store.Channels.PutAccount(ctx, store.ChannelAccount{Channel: name, Account: id, Config: cfg, UpdatedAt: now()}); err != nil {
		return protocol.ChannelOK{}, err
	}
	return protocol.ChannelOK{OK: true, Channel: name, AccountID: id}, h.disconnect(ctx, a)
}

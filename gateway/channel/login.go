package channel

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
)

// Login logs an account in, or begins a login (channel.login).
func (h *Hub) Login(ctx context.Context, in protocol.ChannelLoginParams) (protocol.ChannelLoginResult, error) {
	d, name, id, err := h.driver(in.Channel, in.AccountID)
	if err != nil {
		return protocol.ChannelLoginResult{}, err
	}
	h.accountChange.Lock()
	defer h.accountChange.Unlock()
	res := protocol.ChannelLoginResult{OK: true, Channel: name, AccountID: id}
	h.mu.Lock()
	a := h.accounts[key(name, id)]
	already := a != nil && a.sender != nil
	h.mu.Unlock()
	if already && !in.Force && len(in.Config) == 0 {
		res.Message = "The account is already logged in and connected."
		return res, nil
	}
	if err := h.configure(ctx, d, name, id, in.Config, already); err != nil {
		return protocol.ChannelLoginResult{}, err
	}
	full, _, err := h.withSecrets(name, id)
	if err != nil {
		return protocol.ChannelLoginResult{}, err
	}
	login, err := d.Login(ctx, full, in.Force)
	switch {
	case errors.Is(err, ErrLogin):
		return protocol.ChannelLoginResult{}, protocol.ErrBadRequest.With(err.Error())
	case err != nil:
		return protocol.ChannelLoginResult{}, protocol.ErrUnavailable.With(fmt.Sprintf("%s is not connected: %v", d.Kind().Title, err))
	}
	res.QRDataURL, res.Message = login.QRDataURL, login.Message
	if already {
		err = h.connect(ctx, name, id) // with the new settings
	}
	return res, err
}

// Logout disconnects an account and deletes it with its secrets and its unsent messages
// (channel.logout).
func (h *Hub) Logout(ctx context.Context, in protocol.ChannelParams) (protocol.ChannelOK, error) {
	d, name, id, err := h.driver(in.Channel, in.AccountID)
	if err != nil {
		return protocol.ChannelOK{}, err
	}
	h.accountChange.Lock()
	defer h.accountChange.Unlock()
	full, a, err := h.withSecrets(name, id)
	if err != nil {
		return protocol.ChannelOK{}, err
	}
	if err := h.disconnect(ctx, a); err != nil {
		return protocol.ChannelOK{}, err
	}
	if err := d.Logout(ctx, full); err != nil {
		slog.Warn("Logging out on the network failed", "channel", name, "account", id, "err", err)
	}
	for _, f := range d.Kind().Fields {
		if f.Secret {
			if err := h.o.Secrets.Delete(secretName(name, id, f.Name)); err != nil && !errors.Is(err, keychain.ErrNotFound) {
				return protocol.ChannelOK{}, fmt.Errorf("forget the %s of %s: %w", f.Name, key(name, id), err)
			}
		}
	}
	if err := h.o.Store.Channels.DeleteAccount(ctx, name, id); err != nil {
		return protocol.ChannelOK{}, err
	}
	h.mu.Lock()
	delete(h.accounts, key(name, id))
	h.mu.Unlock()
	h.publishChange(name)
	return protocol.ChannelOK{OK: true, Channel: name, AccountID: id}, nil
}

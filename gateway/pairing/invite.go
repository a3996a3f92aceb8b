package pairing

import (
	"context"
	"fmt"
	"slices"
	"time"

	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/pake"
	"fairlead/gateway/protocol"
)

// invite is an invitation with its secrets.
type invite struct {
	protocol.DeviceInvite
	params  protocol.DeviceInviteParams
	by      string
	end     deadline
	secret  []byte
	code    pake.Code
	guesses int
	takenBy string // fingerprint of the device that used it
}

// ClientScopes are the scopes that a client may be granted.
var ClientScopes = []protocol.Scope{protocol.ScopeRead, protocol.ScopeChat, protocol.ScopeInvoke, protocol.ScopeApprove, protocol.ScopeAdmin}

func checkScopes(scopes []protocol.Scope) error {
	for _, s := range scopes {
		if !slices.Contains(ClientScopes, s) {
			return protocol.ErrBadRequest.With(fmt.Sprintf("%.40q is not a permission; a client can have read, chat, invoke, approve and admin", s))
		}
	}
	return nil
}

// LastsUntil returns the expiry of a pairing made now for a number of days, in Unix milliseconds; 0
// means never.
func LastsUntil(days int) int64 {
	if days == 0 {
		return 0
	}
	return time.Now().AddDate(0, 0, days).UnixMilli()
}

// Invite creates an invitation. It requires the network listener, because otherwise no device could
// connect.
func (m *Manager) Invite(_ context.Context, by string, p protocol.DeviceInviteParams) (protocol.DeviceInvite, error) {
	life := inviteLife
	switch {
	case p.Role == "":
		p.Role = protocol.RoleNode
	case p.Role != protocol.RoleNode && p.Role != protocol.RoleClient:
		return protocol.DeviceInvite{}, protocol.ErrBadRequest.With("role must be node or client")
	}
	if p.Minutes < 0 || p.Minutes > 60 || p.PairedFor < 0 || p.PairedFor > 3650 {
		return protocol.DeviceInvite{}, protocol.ErrBadRequest.With("minutes must be 1 to 60, and pairedForDays at most 3650")
	}
	p.Name = protocol.Line(p.Name, maxName)
	if p.Minutes > 0 {
		life = time.Duration(p.Minutes) * time.Minute
	}
	if err := checkScopes(p.Scopes); err != nil {
		return protocol.DeviceInvite{}, err
	}
	network := m.o.Network()
	if !network.Listening || len(network.Addresses) == 0 {
		return protocol.DeviceInvite{}, protocol.ErrUnavailable.With("other machines cannot reach this gateway: turn its network on first (fairlead network on)")
	}
	var windows, others bool
	if m.o.HasPrograms != nil && p.Role == protocol.RoleNode { // a node program has no windows
		windows, others = m.o.HasPrograms()
	}
	now := time.Now()
	i := &invite{params: p, by: by, end: after(now, life), secret: pake.NewSecret()}
	m.mu.Lock()
	m.expireLocked(now)
	if len(m.invites) >= maxInvites {
		m.mu.Unlock()
		return protocol.DeviceInvite{}, protocol.ErrConflict.With(fmt.Sprintf("%d invitations are already open: withdraw one, or wait", maxInvites))
	}
	number := 1
	for slices.ContainsFunc(m.openLocked(), func(o *invite) bool { return o.code.Number == number }) {
		number++
	}
	i.code = pake.NewCode(number)
	id := protocol.NewID()
	link := pake.Link{Addresses: network.Addresses, Pin: identity.Pin(network.Pin), Invite: id, Secret: i.secret, Role: p.Role}
	i.DeviceInvite = protocol.DeviceInvite{
		ID: id, Role: p.Role, Link: link.String(), Code: i.code.String(), Addresses: network.Addresses,
		CreatedAt: now.UnixMilli(), ExpiresAt: i.end.wall,
	}
	if others {
		i.Install = installLine(network, "curl", "install.sh | sh")
	}
	if windows {
		i.InstallWindows = installLine(network, "curl.exe", "install.ps1 | Out-String | Invoke-Expression")
	}
	m.invites[id] = i
	m.mu.Unlock()
	m.publishChange()
	return i.DeviceInvite, nil
}

// installLine returns the command for installing a node on another machine. curl checks the same
// pin as the pairing does.
func installLine(n protocol.NetworkStatus, curl, script string) string {
	return fmt.Sprintf("%s -fsSk --pinnedpubkey 'sha256//%s' https://%s/%s", curl, n.Pin, n.Addresses[0], script)
}

func (m *Manager) openLocked() []*invite {
	var list []*invite
	for _, i := range m.invites {
		list = append(list, i)
	}
	return list
}

// Uninvite withdraws an invitation, even while the device that used it waits for confirmation.
func (m *Manager) Uninvite(ctx context.Context, id string) error {
	end, err := m.begin(ctx)
	if err != nil {
		return err
	}
	defer end()
	m.mu.Lock()
	_, ok := m.invites[id]
	delete(m.invites, id)
	for _, r := range m.requests {
		if r.Invite == id && r.Kind == protocol.RequestPair {
			m.finishRequestLocked(r, answer{err: errDenied})
			ok = true
		}
	}
	m.mu.Unlock()
	if !ok {
		return protocol.ErrNotFound.With("this invitation is no longer valid")
	}
	m.publishChange()
	return nil
}

// useInvite returns the invitation that a device wants to use. A used invitation is not available
// to other devices.
func (m *Manager) useInvite(h pake.Hello) (*invite, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.expireLocked(time.Now())
	var found *invite
	for _, i := range m.invites {
		if h.Door == protocol.PairedByLink && i.ID == h.Invite || h.Door == protocol.PairedByCode && i.code.Number == h.Number {
			found = i
		}
	}
	if found == nil || found.takenBy != "" && found.takenBy != identity.Fingerprint(h.Key) {
		return nil, protocol.ErrNotFound.With("this invitation was already used, withdrawn, or has expired: ask for a new one")
	}
	return found, nil
}

// countWrongGuess counts a wrong guess. The third one deletes the invitation, and the person is
// notified.
func (m *Manager) countWrongGuess(i *invite, address string) {
	m.mu.Lock()
	i.guesses++
	over := i.guesses >= maxGuesses && m.invites[i.ID] != nil
	if over {
		delete(m.invites, i.ID)
	}
	m.mu.Unlock()
	if over {
		m.publishChange()
		m.notice("warning", fmt.Sprintf("A wrong pairing code was entered %d times, the last time from %s. The invitation was withdrawn.", maxGuesses, address))
	}
}

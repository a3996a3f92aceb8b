package pairing

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"fairlead/gateway/peer/format"
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
	confirm time.Duration // for the person's answer to the device that uses it
	guesses int
	usedBy  string // fingerprint of the device that used it
}

func checkScopes(scopes []protocol.Scope) error {
	for _, s := range scopes {
		if !slices.Contains(protocol.ClientScopes, s) {
			return protocol.ErrBadRequest.With(fmt.Sprintf("%.40q is not a permission; a client can have read, chat, invoke, approve and admin", s))
		}
	}
	return nil
}

// LastsUntil returns the expiry of a pairing for some days, in Unix milliseconds; 0 means never.
func LastsUntil(days int) int64 {
	if days == 0 {
		return 0
	}
	return time.Now().AddDate(0, 0, days).UnixMilli()
}

// Invite creates an invitation. It requires the network listener, so that devices can connect.
func (m *Manager) Invite(ctx context.Context, by string, p protocol.DeviceInviteParams) (protocol.DeviceInvite, error) {
	return m.requests.invite(ctx, &m.o, by, p, confirmLife)
}

// Register creates an invitation for a machine at the request of a program. The person, who may be
// elsewhere, has longer to confirm the machine.
func (m *Manager) Register(ctx context.Context, by, name string) (protocol.DeviceInvite, error) {
	if m.requests.countInvites(by) >= maxRegistered {
		return protocol.DeviceInvite{}, protocol.ErrConflict.With(fmt.Sprintf("%d machines are being registered already: use their commands, or wait until they expire", maxRegistered))
	}
	return m.requests.invite(ctx, &m.o, by, protocol.DeviceInviteParams{Role: protocol.RoleNode, Name: name}, askLife)
}

// invite creates an invitation; confirm is the time in which the person answers.
func (q *requests) invite(ctx context.Context, o *Options, by string, p protocol.DeviceInviteParams, confirm time.Duration) (protocol.DeviceInvite, error) {
	life := inviteLife
	switch {
	case p.Role == "":
		p.Role = protocol.RoleNode
	case p.Role != protocol.RoleNode && p.Role != protocol.RoleClient:
		return protocol.DeviceInvite{}, protocol.ErrBadRequest.With("role must be node or client")
	case p.Unattended && p.Role != protocol.RoleNode:
		return protocol.DeviceInvite{}, protocol.ErrBadRequest.With("only a node can be paired unattended")
	}
	if p.Minutes < 0 || p.Minutes > 60 || p.PairedFor < 0 || p.PairedFor > 3650 {
		return protocol.DeviceInvite{}, protocol.ErrBadRequest.With("minutes must be 1 to 60, and pairedForDays at most 3650")
	}
	p.Name = format.Line(p.Name, maxName)
	if p.Minutes > 0 {
		life = time.Duration(p.Minutes) * time.Minute
	}
	if err := checkScopes(p.Scopes); err != nil {
		return protocol.DeviceInvite{}, err
	}
	network := o.Network()
	if !network.Listening || len(network.Addresses) == 0 {
		return protocol.DeviceInvite{}, protocol.ErrUnavailable.With("other machines cannot connect to this gateway: let them connect first")
	}
	var windows, others bool
	if o.HasPrograms != nil && p.Role == protocol.RoleNode { // a node program has no windows
		windows, others = o.HasPrograms()
	}
	now := time.Now()
	i := &invite{params: p, by: by, end: after(now, life), confirm: confirm, secret: pake.NewSecret()}
	i.DeviceInvite = protocol.DeviceInvite{ID: protocol.NewID(), Role: p.Role, Addresses: network.Addresses, CreatedAt: now.UnixMilli(), ExpiresAt: i.end.wall}
	link := pake.Link{Addresses: network.Addresses, Pin: identity.Pin(network.Pin), Invite: i.ID, Secret: i.secret, Role: p.Role}
	i.Link = link.String()
	commands := installCommands{network: network, link: i.Link, name: p.Name}
	if others {
		i.Install = commands.shell()
	}
	if windows {
		i.InstallWindows, i.InstallCmd = commands.powerShell(), commands.cmd()
	}
	if err := q.addInvite(i, now); err != nil {
		return protocol.DeviceInvite{}, err
	}
	what := "made an invitation for a " + p.Role
	if p.Unattended {
		what += ", which pairs it without a question"
	}
	line := protocol.AuditEntry{At: now.UnixMilli(), Kind: protocol.AuditDevice, By: by, What: what}
	if err := o.Audit.Append(ctx, line); err != nil {
		q.withdrawInvite(i.ID)
		return protocol.DeviceInvite{}, err
	}
	publishChange(o.Bus)
	return i.DeviceInvite, nil
}

// addInvite adds an invitation with a code of its own.
func (q *requests) addInvite(i *invite, now time.Time) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.expireLocked(now)
	if len(q.invites) >= maxInvites {
		return protocol.ErrConflict.With(fmt.Sprintf("%d invitations are already open: withdraw one, or wait", maxInvites))
	}
	number := 1
	for slices.ContainsFunc(slices.Collect(maps.Values(q.invites)), func(o *invite) bool { return o.code.Number == number }) {
		number++
	}
	i.code = pake.NewCode(number)
	i.Code = i.code.String()
	q.invites[i.ID] = i
	return nil
}

// expireLocked deletes expired invitations.
func (q *requests) expireLocked(now time.Time) {
	maps.DeleteFunc(q.invites, func(_ string, i *invite) bool { return i.end.hasPassed(now) })
}

// countInvites returns how many open invitations somebody made.
func (q *requests) countInvites(by string) (n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.expireLocked(time.Now())
	for _, i := range q.invites {
		if i.by == by {
			n++
		}
	}
	return n
}

// Uninvite withdraws an invitation, even while the device that used it waits for confirmation.
func (m *Manager) Uninvite(ctx context.Context, id string) error {
	m.changing.Lock()
	users, ok := m.requests.withdrawInvite(id)
	m.changing.Unlock() // answers to the questions take it
	if !ok {
		return protocol.ErrNotFound.With("this invitation is no longer valid")
	}
	publishChange(m.o.Bus)
	return m.requests.withdraw(ctx, users...)
}

// withdrawInvite deletes an invitation, and returns the requests that use it.
func (q *requests) withdrawInvite(id string) (users []protocol.QuestionID, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	_, ok = q.invites[id]
	delete(q.invites, id)
	for _, r := range q.pending {
		if r.invite == id {
			users = append(users, r.id)
		}
	}
	return users, ok || len(users) > 0
}

var errInviteUsed = protocol.ErrNotFound.With("this invitation was already used, withdrawn, or has expired: ask for a new one")

// useInvite returns the invitation that a device wants to use, unless another device used it.
func (q *requests) useInvite(h pake.Hello) (*invite, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.expireLocked(time.Now())
	var found *invite
	for _, i := range q.invites {
		if h.Method == protocol.PairedByLink && i.ID == h.Invite || h.Method == protocol.PairedByCode && i.code.Number == h.Number {
			found = i
		}
	}
	if found == nil || found.usedBy != "" && found.usedBy != identity.Fingerprint(h.Key) {
		return nil, errInviteUsed
	}
	return found, nil
}

// countWrongGuess counts a wrong guess. The third deletes the invitation and notifies the person.
func (q *requests) countWrongGuess(i *invite, address string) {
	q.mu.Lock()
	i.guesses++
	over := i.guesses >= maxGuesses && q.invites[i.ID] != nil
	if over {
		delete(q.invites, i.ID)
	}
	q.mu.Unlock()
	if over {
		publishChange(q.bus)
		text := fmt.Sprintf("A wrong pairing code was entered %d times, the last time from %s. The invitation was withdrawn.", maxGuesses, address)
		slog.Warn("Pairing", "notice", text)
		q.bus.Publish(protocol.Change{Kind: protocol.ChangeNotice, Notice: &protocol.Notice{Level: "warning", Text: text, At: time.Now().UnixMilli()}})
	}
}

package pairing

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"fairlead/gateway/nodes"
	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/pake"
	"fairlead/gateway/protocol"
)

var (
	errDenied  = protocol.ErrForbidden.With("the person at the gateway denied the request")
	errTimeout = protocol.ErrTimeout.With("nobody answered at the gateway in time: ask for a new invitation and try again")
)

// Pair conducts a pairing with the device at address, until it is paired or refused. gone is
// cancelled when the connection closes.
func (m *Manager) Pair(ctx, gone context.Context, w pake.Transport, address string) error {
	err := m.pair(ctx, gone, w, address)
	if err != nil {
		e := protocol.AsError(err)
		w.Send(pake.Message{Error: e}) // an error is ignored: the connection may be closed
	}
	return err
}

func (m *Manager) pair(ctx, gone context.Context, w pake.Transport, address string) error {
	network := m.o.Network()
	first, err := w.Receive()
	if err != nil {
		return err
	}
	g, err := pake.NewGateway(identity.Pin(network.Pin), first)
	if err != nil {
		return err
	}
	taken, err := m.prove(g, w, address)
	if err != nil {
		return err
	}
	hello := g.Hello
	if g.IsRenewal() {
		done, err := m.renew(ctx, hello.Key, hello.Role, network)
		if err != nil {
			return err
		}
		return w.Send(pake.Message{Done: &done})
	}
	if g.IsEnd() {
		return m.leaveByKey(ctx, hello.Key, hello.Role, w)
	}
	r, err := m.request(g, taken, address)
	if err != nil {
		return err
	}
	if err := w.Send(g.Waiting(int(time.Until(r.end.at).Round(time.Second) / time.Second))); err != nil {
		m.drop(r, false)
		return err
	}
	if taken != nil && taken.params.Device != "" { // the inviting person has read the device's key over SSH
		if _, err := m.Approve(ctx, taken.by, protocol.DeviceRequestParams{ID: r.ID}); err != nil {
			m.drop(r, false)
			return err
		}
	}
	timer := time.NewTimer(time.Until(r.end.at))
	defer timer.Stop()
	select {
	case a := <-r.answer:
		if a.err != nil {
			return a.err
		}
		return w.Send(pake.Message{Done: &a.done})
	case <-timer.C:
		return m.withdraw(r, errTimeout)
	case <-gone.Done():
		return m.withdraw(r, context.Cause(gone))
	}
}

// prove has the device prove that it knows the secret of an invitation, which prove returns, or
// that it has its key, for a request without an invitation.
func (m *Manager) prove(g *pake.Gateway, w pake.Transport, address string) (taken *invite, err error) {
	hello := g.Hello
	var secret []byte
	var code *pake.Code
	switch {
	case g.IsRenewal(), g.IsEnd(), hello.Door == protocol.PairedByRequest:
	case hello.Door == protocol.PairedByLink:
		if taken, err = m.useInvite(hello); err != nil {
			return nil, err
		}
		secret = taken.secret
	case hello.Door == protocol.PairedByCode:
		if taken, err = m.useInvite(hello); err != nil {
			return nil, err
		}
		code = &taken.code
	default:
		return nil, protocol.ErrBadRequest.With("this pairing method is not supported here")
	}
	challenge, err := g.Challenge(secret, code)
	if err != nil {
		if taken != nil {
			m.countWrongGuess(taken, address)
		}
		return nil, err
	}
	if err := w.Send(challenge); err != nil {
		return nil, err
	}
	proof, err := w.Receive()
	if err != nil {
		return nil, err // a device that disconnects here has learnt nothing, so it is not a guess
	}
	if err := g.Check(proof); err != nil {
		if errors.Is(err, pake.ErrWrongSecret) && taken != nil {
			m.countWrongGuess(taken, address)
		}
		return nil, err
	}
	return taken, nil
}

// withdraw withdraws a request that nobody answered. An answer that arrived at the same moment
// counts.
func (m *Manager) withdraw(r *request, why error) error {
	m.drop(r, errors.Is(why, errTimeout))
	select {
	case a := <-r.answer:
		if a.err == nil {
			return nil // paired; the device fetches its token with its key
		}
	default:
	}
	return why
}

// drop deletes a request. If spent is set it also deletes the request's invitation; otherwise the
// same device may use it again.
func (m *Manager) drop(r *request, spent bool) {
	end := m.wait()
	defer end()
	m.mu.Lock()
	delete(m.requests, r.ID)
	if spent {
		delete(m.invites, r.Invite)
	}
	m.mu.Unlock()
	m.publishChange()
}

// finishRequestLocked answers a request once.
func (m *Manager) finishRequestLocked(r *request, a answer) {
	delete(m.requests, r.ID)
	if r.answer != nil {
		r.answer <- a // does not block: a request is settled once
	}
}

// newDevice returns the device that asks, with the rights that the invitation gives it.
func (m *Manager) newDevice(g *pake.Gateway, taken *invite, address string) (protocol.Device, error) {
	h := g.Hello
	d := protocol.Device{
		Name: protocol.Line(h.Name, maxName), Role: h.Role, NodeID: h.NodeID,
		Words: identity.KeyWords(h.Key), Fingerprint: identity.Fingerprint(h.Key), OS: protocol.Line(h.OS, 80),
		Hostname: protocol.Line(h.Hostname, 80), Platform: protocol.Line(h.Platform, 40),
		Version: protocol.Line(h.Applicant.Version, 40), Address: address, Method: h.Door, Reach: h.Reach,
	}
	if taken != nil {
		if taken.params.Device != "" {
			if taken.params.Device != d.Fingerprint {
				return d, protocol.ErrForbidden.With("this invitation is for another device")
			}
			d.Method = protocol.PairedBySSH
		}
		d.Role, d.Name = taken.Role, cmp.Or(taken.params.Name, d.Name)
		d.Scopes = taken.params.Scopes
		d.ExpiresAt = LastsUntil(taken.params.PairedFor)
	}
	if h.Role != d.Role {
		return d, protocol.ErrBadRequest.With(fmt.Sprintf("this invitation is for a %s, not for a %s", d.Role, protocol.Line(h.Role, 20)))
	}
	switch d.Role {
	case protocol.RoleNode:
		if _, err := protocol.ParsePeerNodeID(string(d.NodeID)); err != nil {
			return d, protocol.ErrBadRequest.With(err.Error())
		}
		if m.o.Nodes.Own(d.NodeID) {
			return d, protocol.ErrConflict.With(nodes.OwnName(d.NodeID))
		}
		if d.Reach == nil {
			d.Reach = &protocol.Reach{}
		}
		d.Scopes = nil
	case protocol.RoleClient:
		d.NodeID, d.Reach = "", nil
		if d.Scopes == nil {
			d.Scopes = ClientScopes
		}
	default:
		return d, protocol.ErrBadRequest.With("role must be node or client")
	}
	if d.Name == "" {
		d.Name = string(d.NodeID)
	}
	if d.Name == "" {
		d.Name = "device " + string(identity.DeviceID(h.Key)[:6])
	}
	return d, nil
}

// request creates a request and shows it to the person.
func (m *Manager) request(g *pake.Gateway, taken *invite, address string) (*request, error) {
	h := g.Hello
	d, err := m.newDevice(g, taken, address)
	if err != nil {
		return nil, err
	}
	life := askLife
	if taken != nil {
		life = confirmLife
	}
	now := time.Now()
	end := m.wait()
	defer end()
	m.mu.Lock()
	defer m.mu.Unlock()
	d.ID = m.nameLocked(h.Key, d.Role)
	r := &request{end: after(now, life), key: h.Key, reach: d.Reach, invite: taken, answer: make(chan answer, 1)}
	r.DeviceRequest = protocol.DeviceRequest{ID: protocol.NewID(), Kind: protocol.RequestPair, Device: d, Words: g.Words(), CreatedAt: now.UnixMilli(), ExpiresAt: r.end.wall}
	for _, other := range m.devices {
		if d.NodeID != "" && other.NodeID == d.NodeID && other.ID != d.ID && other.RevokedAt == 0 {
			return nil, protocol.ErrConflict.With(fmt.Sprintf("another machine is paired as %s: name this one differently with --id, or revoke that one", d.NodeID))
		}
	}
	waiting := 0
	for _, other := range m.requests {
		if other.Kind == protocol.RequestPair && bytes.Equal(other.key, h.Key) {
			m.finishRequestLocked(other, answer{err: protocol.ErrConflict.With("the device asked again")})
		} else if other.Kind == protocol.RequestPair {
			waiting++
		}
	}
	if waiting >= maxRequests {
		return nil, protocol.ErrUnavailable.With("too many devices are waiting for approval at the gateway")
	}
	if taken != nil {
		if m.invites[taken.ID] == nil || taken.takenBy != "" && taken.takenBy != d.Fingerprint {
			return nil, protocol.ErrNotFound.With("this invitation was already used, withdrawn, or has expired: ask for a new one")
		}
		taken.takenBy, r.Invite = d.Fingerprint, taken.ID
	}
	m.requests[r.ID] = r
	m.publishChange()
	return r, nil
}

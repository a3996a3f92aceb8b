package pairing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/pake"
	"fairlead/gateway/protocol"
	"fairlead/gateway/question"
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
	invitation, err := m.requests.prove(g, w, address)
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
	r, err := m.request(ctx, g, invitation, address)
	if err != nil {
		return err
	}
	wait := func() error { return w.Send(g.Waiting(int(time.Until(r.end.at).Round(time.Second) / time.Second))) }
	// The inviting person has read the device's key over SSH, or has agreed in advance.
	if invitation != nil && (invitation.params.Device != "" || invitation.params.Unattended) {
		err := wait()
		if err == nil {
			m.changing.Lock()
			_, err = m.pairDevice(ctx, r, "", auditEntry(invitation.by, "paired", "allowed", r.device))
			m.changing.Unlock()
		}
		if err != nil {
			m.requests.remove(r, false)
			return err
		}
		return w.Send(pake.Message{Done: &r.done})
	}
	return m.requests.ask(gone, r, m.answerPairing(r), wait, func() error { return w.Send(pake.Message{Done: &r.done}) })
}

// ask asks the person about a device. It calls wait once they can answer, apply with their answer, and
// done once the device is paired.
func (q *requests) ask(gone context.Context, r *request, apply question.Apply, wait, done func() error) error {
	ctx, stop := context.WithCancelCause(gone)
	defer stop(nil)
	end, err := q.questions.AskFor(ctx, r.question(), question.Terms{
		Expires: time.Until(r.end.at), Limit: question.Limit{Asker: "devices to pair"}, Apply: apply,
		Opened: func() {
			if err := wait(); err != nil {
				stop(err)
			}
		},
	})
	isLate := end.State == protocol.QuestionExpired || errors.Is(context.Cause(ctx), errTimeout)
	q.remove(r, isLate)
	switch {
	case err != nil:
		return err
	case end.Allowed() && ctx.Err() != nil:
		return nil // paired; the device fetches its token with its key
	case end.Allowed():
		return done()
	case end.State == protocol.QuestionDenied:
		return errDenied
	case end.State == protocol.QuestionExpired:
		return errTimeout
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case r.replaced:
		return protocol.ErrConflict.With("the device asked again")
	}
	return errDenied // its invitation was withdrawn
}

// prove has the device prove that it knows the secret of an invitation, which prove returns, or
// that it has its key, for a request without an invitation.
func (q *requests) prove(g *pake.Gateway, w pake.Transport, address string) (invitation *invite, err error) {
	hello := g.Hello
	var secret []byte
	var code *pake.Code
	switch {
	case g.IsRenewal(), g.IsEnd(), hello.Method == protocol.PairedByRequest:
	case hello.Method == protocol.PairedByLink, hello.Method == protocol.PairedByCode:
		if invitation, err = q.useInvite(hello); err != nil {
			return nil, err
		}
		if hello.Method == protocol.PairedByLink {
			secret = invitation.secret
		} else {
			code = &invitation.code
		}
	default:
		return nil, protocol.ErrBadRequest.With("this pairing method is not supported here")
	}
	challenge, err := g.Challenge(secret, code)
	if err != nil {
		if invitation != nil {
			q.countWrongGuess(invitation, address)
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
		if errors.Is(err, pake.ErrWrongSecret) && invitation != nil {
			q.countWrongGuess(invitation, address)
		}
		return nil, err
	}
	return invitation, nil
}

// newDevice returns the device that asks, with the rights that the invitation gives it.
func newDevice(g *pake.Gateway, invitation *invite, address string) (protocol.Device, error) {
	h := g.Hello
	d := protocol.Device{
		Name: format.Line(h.Name, maxName), Role: h.Role, NodeID: h.NodeID,
		Words: identity.KeyWords(h.Key), Fingerprint: identity.Fingerprint(h.Key), OS: format.Line(h.OS, 80),
		Hostname: format.Line(h.Hostname, 80), Platform: format.Line(h.Platform, 40),
		Version: format.Line(h.Applicant.Version, 40), Address: address, Method: h.Method, Reach: h.Reach,
	}
	if invitation != nil {
		if invitation.params.Device != "" {
			if invitation.params.Device != d.Fingerprint {
				return d, protocol.ErrForbidden.With("this invitation is for another device")
			}
			d.Method = protocol.PairedBySSH
		}
		d.Role, d.Name = invitation.Role, cmp.Or(invitation.params.Name, d.Name)
		d.Scopes = invitation.params.Scopes
		d.ExpiresAt = LastsUntil(invitation.params.PairedFor)
	}
	if h.Role != d.Role {
		return d, protocol.ErrBadRequest.With(fmt.Sprintf("this invitation is for a %s, not for a %s", d.Role, format.Line(h.Role, 20)))
	}
	switch d.Role {
	case protocol.RoleNode:
		if _, err := protocol.ParsePeerNodeID(string(d.NodeID)); err != nil {
			return d, protocol.ErrBadRequest.With(err.Error())
		}
		if d.Reach == nil {
			d.Reach = &protocol.Reach{}
		}
		d.Scopes = nil
	case protocol.RoleClient:
		d.NodeID, d.Reach = "", nil
		if d.Scopes == nil {
			d.Scopes = protocol.ClientScopes
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

// isTaken reports whether another machine has the ID of a node.
func (m *Manager) isTaken(d protocol.Device) bool {
	return d.NodeID != "" && m.o.Nodes.Own(d.NodeID) || m.devices.hasOtherNode(d)
}

// nameTaken returns the error for a node whose ID another machine has, with an ID that is free.
func nameTaken(d protocol.Device, isTaken func(protocol.Device) bool) error {
	taken := d.NodeID
	for n := 2; isTaken(d); n++ {
		end := fmt.Sprintf("-%d", n)
		d.NodeID = taken[:min(len(taken), protocol.MaxNodeID-len(end))] + protocol.NodeID(end)
	}
	return protocol.ErrConflict.With(fmt.Sprintf("another machine is already called %s; choose another name, such as %s", taken, d.NodeID)).
		WithDetails(protocol.NameTaken{Free: d.NodeID})
}

// request creates a request, and withdraws the earlier ones of the same device.
func (m *Manager) request(ctx context.Context, g *pake.Gateway, invitation *invite, address string) (*request, error) {
	h := g.Hello
	d, err := newDevice(g, invitation, address)
	if err != nil {
		return nil, err
	}
	life := askLife
	if invitation != nil {
		life = invitation.confirm
	}
	m.changing.Lock()
	d.ID = m.devices.newID(h.Key, d.Role)
	if d.Role == protocol.RoleClient { // its name is only for people
		d.Name = m.devices.freeName(d, h.Key, m.o.Name)
	}
	r := &request{id: protocol.QuestionID(protocol.NewID()), device: d, words: g.Words(), end: after(time.Now(), life), key: h.Key}
	var replaced []protocol.QuestionID
	if m.isTaken(d) {
		err = nameTaken(d, m.isTaken)
	} else {
		replaced, err = m.requests.add(r, invitation)
	}
	m.changing.Unlock() // answers to the questions take it
	publishChange(m.o.Bus)
	if err != nil {
		return nil, err
	}
	if err := m.requests.withdraw(ctx, replaced...); err != nil {
		m.requests.remove(r, false)
		return nil, err
	}
	return r, nil
}

package client

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"net"

	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/pake"
	"fairlead/gateway/protocol"
)

// Through completes options for a paired gateway. The client then verifies the gateway's pin, signs
// each session with the device's key, fetches a new token when the old one was replaced, and
// records whether the pairing has ended. find, which may be nil, looks for the gateway when none of
// its known addresses answers.
func Through(o Options, peers *identity.Peers, pairing identity.PeerID, id identity.Key, find func(context.Context, identity.Pin) []string) Options {
	p := &paired{peers: peers, pairing: pairing, id: id, find: find}
	o.URL = "ws://fairlead/ws"
	o.Dial, o.Auth, o.Refused, o.Accepted = p.dial, p.auth, p.refused, p.accepted
	return o
}

// paired is a paired gateway.
type paired struct {
	peers   *identity.Peers
	pairing identity.PeerID
	id      identity.Key
	find    func(context.Context, identity.Pin) []string
}

// addresses returns the last known addresses of the gateway, or an error if the pairing has ended.
func (p *paired) addresses(ctx context.Context) ([]string, error) {
	peer, err := p.peers.Get(p.pairing)
	switch {
	case errors.Is(err, protocol.ErrNotFound):
		return nil, &FinalError{err}
	case err == nil && peer.EndedAt > 0:
		notifyEnded(ctx, p.peers, p.pairing, p.id, p.find) // if this fails, it is tried again later
		return nil, errPairingEnded(peer.Name)
	}
	return peer.Addresses, err
}

func (p *paired) dial(ctx context.Context) (net.Conn, error) {
	list, err := p.addresses(ctx)
	if err != nil {
		return nil, err
	}
	conn, _, err := identity.Dial(ctx, list, p.pairing.Pin)
	switch {
	case err == nil:
		return conn, nil
	case p.find == nil || ctx.Err() != nil:
		return nil, err
	}
	found := p.find(ctx, p.pairing.Pin)
	if len(found) == 0 {
		return nil, err
	}
	if conn, _, err = identity.Dial(ctx, found, p.pairing.Pin); err != nil {
		return nil, err
	}
	return conn, p.peers.AddAddresses(p.pairing, found)
}

func (p *paired) auth(conn net.Conn) (*protocol.Auth, error) {
	secured, ok := conn.(*tls.Conn)
	if !ok {
		return nil, errors.New("the connection is not TLS")
	}
	binding, err := identity.Binding(secured.ConnectionState())
	if err != nil {
		return nil, err
	}
	token, err := p.peers.Token(p.pairing)
	if err != nil {
		return nil, err
	}
	return &protocol.Auth{Token: token, Device: &protocol.DeviceProof{ID: p.id.ID(), Signature: p.id.Sign(identity.ForConnect, binding)}}, nil
}

// accepted clears the record of an earlier refusal: an expired pairing was extended, or a wrong
// clock was corrected. If that cannot be stored, the next handshake tries again.
func (p *paired) accepted() { p.peers.ClearRefusal(p.pairing) }

// refused fetches a new token if the old one was replaced, and otherwise records the end of the
// pairing.
func (p *paired) refused(ctx context.Context, err error) error {
	if !errors.Is(err, protocol.ErrUnauthorized) {
		return err
	}
	why := refusal(err)
	if why.Reason == "" || why.Reason == protocol.RefusedRotated { // with its key, the device gets a new token or the reason for the refusal
		list, e := p.addresses(ctx)
		if e != nil {
			return e
		}
		done, e := Pair(ctx, list, pake.Device{Key: p.id, Pin: p.pairing.Pin, Renew: true, Applicant: pake.Applicant{Role: p.pairing.Role}})
		if e == nil {
			return p.peers.Renew(p.pairing, done)
		}
		if why = refusal(e); why.Reason == "" {
			return e
		}
		err = e
	}
	if e := p.peers.SetRefusal(p.pairing, why); e != nil {
		return errors.Join(err, e)
	}
	return err
}

// refusal returns the gateway's reason for refusing the device; zero if it gave none.
func refusal(err error) (why protocol.DeviceRefused) {
	var e *protocol.Error
	if errors.As(err, &e) && json.Unmarshal(e.Details, &why) != nil {
		return protocol.DeviceRefused{}
	}
	return why
}

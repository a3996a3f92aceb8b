package client

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"net"

	"fairlead/gateway/peer/trust"
	"fairlead/gateway/protocol"
)

// Through completes options for a pairing: it reaches the gateway by its pin, proves each session with the device's key, fetches a new
// token when the old one was replaced, and notes when the pairing is over, or is so no more. find, which may be nil, looks for the gateway when none of its
// known addresses answers.
func Through(o Options, peers *trust.Peers, tie trust.Tie, id trust.Identity, find func(context.Context, trust.Pin) []string) Options {
	p := &paired{peers: peers, tie: tie, id: id, find: find}
	o.URL = "ws://fairlead/ws"
	o.Dial, o.Auth, o.Refused, o.Accepted = p.dial, p.auth, p.refused, p.accepted
	return o
}

// paired is a gateway of a pairing, as this device reaches it.
type paired struct {
	peers *trust.Peers
	tie   trust.Tie
	id    trust.Identity
	find  func(context.Context, trust.Pin) []string
}

// addresses are those at which the gateway was met last, unless the pairing is over.
func (p *paired) addresses(ctx context.Context) ([]string, error) {
	peer, err := p.peers.Get(p.tie)
	switch {
	case errors.Is(err, protocol.ErrNotFound):
		return nil, &FinalError{err}
	case err == nil && peer.LeftAt > 0:
		tellLeft(ctx, p.peers, p.tie, p.id, p.find) // else another time
		return nil, errLeft(peer.Name)
	}
	return peer.Addresses, err
}

func (p *paired) dial(ctx context.Context) (net.Conn, error) {
	list, err := p.addresses(ctx)
	if err != nil {
		return nil, err
	}
	conn, _, err := trust.Dial(ctx, list, p.tie.Pin)
	switch {
	case err == nil:
		return conn, nil
	case p.find == nil || ctx.Err() != nil:
		return nil, err
	}
	found := p.find(ctx, p.tie.Pin)
	if len(found) == 0 {
		return nil, err
	}
	if conn, _, err = trust.Dial(ctx, found, p.tie.Pin); err != nil {
		return nil, err
	}
	return conn, p.peers.Moved(p.tie, found)
}

func (p *paired) auth(conn net.Conn) (*protocol.Auth, error) {
	secured, ok := conn.(*tls.Conn)
	if !ok {
		return nil, errors.New("the connection is not TLS")
	}
	binding, err := trust.Binding(secured.ConnectionState())
	if err != nil {
		return nil, err
	}
	token, err := p.peers.Token(p.tie)
	if err != nil {
		return nil, err
	}
	return &protocol.Auth{Token: token, Device: &protocol.DeviceProof{ID: p.id.ID(), Signature: p.id.Sign(trust.ForConnect, binding)}}, nil
}

// accepted forgets that the gateway once refused this device: its time was over, and there is more of it; or its clock was wrong. What cannot be written
// down is so the next time.
func (p *paired) accepted() { p.peers.LetIn(p.tie) }

// refused makes up for a token that was replaced, and notes the end of the pairing.
func (p *paired) refused(ctx context.Context, err error) error {
	if !errors.Is(err, protocol.ErrUnauthorized) {
		return err
	}
	why := refusal(err)
	if why.Reason == "" || why.Reason == protocol.RefusedRotated { // the key brings a new token, or the reason why there is none
		list, e := p.addresses(ctx)
		if e != nil {
			return e
		}
		done, e := Pair(ctx, list, trust.Taker{Identity: p.id, Pin: p.tie.Pin, Renew: true, Applicant: trust.Applicant{Role: p.tie.Role}})
		if e == nil {
			return p.peers.Renewed(p.tie, done)
		}
		if why = refusal(e); why.Reason == "" {
			return e
		}
		err = e
	}
	if e := p.peers.Ended(p.tie, why); e != nil {
		return errors.Join(err, e)
	}
	return err
}

// refusal is what a gateway says of a device that it does not let in; zero when it says nothing.
func refusal(err error) (why protocol.DeviceRefused) {
	var e *protocol.Error
	if errors.As(err, &e) && json.Unmarshal(e.Details, &why) != nil {
		return protocol.DeviceRefused{}
	}
	return why
}

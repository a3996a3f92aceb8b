package client

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/gorilla/websocket"

	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/pake"
	"fairlead/gateway/protocol"
)

// Through completes options for a paired gateway. The client then verifies the gateway's pin, signs
// each session with the device's key, fetches a new token when the old one was replaced, and
// records whether the pairing has ended. find, which may be nil, looks for the gateway when none of
// its known addresses answers.
func Through(o Options, peers *identity.Peers, pairing identity.PeerID, id identity.Key, find func(context.Context, identity.Pin) []string) Options {
	p := &pairedGateway{peers: peers, pairing: pairing, id: id, find: find}
	o.URL = "ws://fairlead/ws"
	o.Dial, o.Auth, o.Refused, o.Accepted = p.dial, p.auth, p.handleRefusal, p.clearRefusal
	return o
}

// pairedGateway is a paired gateway.
type pairedGateway struct {
	peers   *identity.Peers
	pairing identity.PeerID
	id      identity.Key
	find    func(context.Context, identity.Pin) []string
}

// addresses returns the last known addresses of the gateway, or an error if the pairing has ended.
func (p *pairedGateway) addresses(ctx context.Context) ([]string, error) {
	peer, err := p.peers.Get(p.pairing)
	switch {
	case errors.Is(err, protocol.ErrNotFound):
		return nil, &FinalError{err}
	case err == nil && peer.EndedAt > 0:
		notifyEnded(ctx, p.peers, p.pairing, p.id) // if this fails, it is tried again later
		return nil, &FinalError{protocol.ErrNotFound.With("this device ended its pairing with " + peer.Name)}
	}
	return peer.Addresses, err
}

func (p *pairedGateway) dial(ctx context.Context) (net.Conn, error) {
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

func (p *pairedGateway) auth(conn net.Conn) (*protocol.Auth, error) {
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

// clearRefusal clears the record of an earlier refusal: an expired pairing was extended, or a wrong
// clock was corrected. If that cannot be stored, the next handshake tries again.
func (p *pairedGateway) clearRefusal() { p.peers.ClearRefusal(p.pairing) }

// handleRefusal fetches a new token for a replaced one, or records the end of the pairing. A node that
// was forgotten may have been revoked just before, too; it does not connect again in any case.
func (p *pairedGateway) handleRefusal(ctx context.Context, err error) error {
	forgotten := protocol.ErrConflict.With(protocol.ForgottenReason)
	wasForgotten := errors.Is(err, forgotten) && err.Error() == forgotten.Error()
	if !errors.Is(err, protocol.ErrUnauthorized) && !wasForgotten {
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
			if e = p.peers.Renew(p.pairing, done); e == nil && wasForgotten {
				return err
			}
			return e
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

// EndPairing ends one of this device's pairings: here at once, and at the gateway as soon as it can
// be reached. If it cannot be reached now, the error is protocol.ErrUnavailable, and
// [NotifyEndedPairings] and every attempt to connect [Through] the pairing try again.
func EndPairing(ctx context.Context, peers *identity.Peers, pairing identity.PeerID, id identity.Key) error {
	if err := peers.End(pairing); err != nil {
		return err
	}
	return notifyEnded(ctx, peers, pairing, id)
}

// notifyEnded notifies a gateway that this device ended the pairing, authenticated by its key
// alone, and then deletes the pairing.
func notifyEnded(ctx context.Context, peers *identity.Peers, pairing identity.PeerID, id identity.Key) error {
	p, err := peers.Get(pairing)
	if err != nil {
		return err
	}
	_, err = Pair(ctx, p.Addresses, pake.Device{Key: id, Pin: pairing.Pin, End: true, Applicant: pake.Applicant{Role: pairing.Role}})
	if err != nil && refusal(err).Reason == "" { // otherwise the gateway does not accept this device anyway
		return protocol.ErrUnavailable.With(fmt.Sprintf("could not notify %s that the pairing ended: %v", p.Name, err))
	}
	return peers.Forget(pairing)
}

// notifyLimit is the maximum time by which these notifications may delay the start of a program.
const notifyLimit = 5 * time.Second

// NotifyEndedPairings notifies every gateway that does not know yet that this device ended its
// pairing, within a few seconds. Unreachable ones are notified later; the error is for a log.
func NotifyEndedPairings(ctx context.Context, peers *identity.Peers, id identity.Key) error {
	ctx, cancel := context.WithTimeout(ctx, notifyLimit)
	defer cancel()
	list, err := peers.List()
	for _, p := range list {
		if p.EndedAt > 0 && ctx.Err() == nil {
			err = errors.Join(err, notifyEnded(ctx, peers, p.ID(), id))
		}
	}
	return err
}

// FinalError reports that the gateway refused the peer and that reconnecting is useless.
type FinalError struct{ Err error }

func (e *FinalError) Error() string { return e.Err.Error() }

func (e *FinalError) Unwrap() error { return e.Err }

// helloError returns the error of a refused handshake, as a FinalError if it is final.
func helloError(err error) error {
	for _, final := range []error{
		protocol.ErrUnauthorized, protocol.ErrVersion, protocol.ErrInvalidConnect, protocol.ErrForbidden, protocol.ErrBadRequest,
	} {
		if errors.Is(err, final) {
			return &FinalError{err}
		}
	}
	return err
}

// endError returns the error of a closed connection, as a FinalError if it is final. A peer that
// was replaced or removed must not reconnect (close code 1000 with a reason, as in GSV). A peer
// whose token was refused needs another token.
func endError(err error) error {
	var closed *websocket.CloseError
	if errors.As(err, &closed) {
		switch {
		case closed.Code == protocol.CloseUnauthorized:
			return &FinalError{protocol.ErrUnauthorized}
		case closed.Code == protocol.CloseReplaced && closed.Text != "":
			return &FinalError{protocol.ErrConflict.With(closed.Text)}
		}
	}
	return protocol.ErrUnavailable.With(fmt.Sprintf("connection lost: %v", err))
}

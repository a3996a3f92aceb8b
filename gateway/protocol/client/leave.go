package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/pake"
	"fairlead/gateway/protocol"
)

// Leave ends one of this device's pairings: here at once, and at the gateway as soon as it can be
// reached. If it cannot be reached now, the error is protocol.ErrUnavailable, and [TellLeft] and
// every attempt to connect [Through] the pairing try again. find may be nil.
func Leave(ctx context.Context, peers *identity.Peers, tie identity.PeerID, id identity.Key, find func(context.Context, identity.Pin) []string) error {
	if err := peers.Leave(tie); err != nil {
		return err
	}
	return tellLeft(ctx, peers, tie, id, find)
}

// tellLeft notifies a gateway that this device ended the pairing, authenticated by its key alone,
// and then deletes the pairing.
func tellLeft(ctx context.Context, peers *identity.Peers, tie identity.PeerID, id identity.Key, find func(context.Context, identity.Pin) []string) error {
	p, err := peers.Get(tie)
	if err != nil {
		return err
	}
	taker := pake.Device{Key: id, Pin: tie.Pin, Leave: true, Applicant: pake.Applicant{Role: tie.Role}}
	_, err = Pair(ctx, p.Addresses, taker)
	if err != nil && refusal(err).Reason == "" && find != nil && ctx.Err() == nil {
		if found := find(ctx, tie.Pin); len(found) > 0 {
			_, err = Pair(ctx, found, taker)
		}
	}
	if err != nil && refusal(err).Reason == "" { // otherwise the gateway does not accept this device anyway
		return protocol.ErrUnavailable.With(fmt.Sprintf("%s was not told: %v", p.Name, err))
	}
	return peers.Forget(tie)
}

// tellLimit is the maximum time by which these notifications may delay the start of a program.
const tellLimit = 5 * time.Second

// TellLeft notifies every gateway that does not know yet that this device ended its pairing, within
// a few seconds. Unreachable gateways are notified another time; the error is for a log.
func TellLeft(ctx context.Context, peers *identity.Peers, id identity.Key, find func(context.Context, identity.Pin) []string) error {
	ctx, cancel := context.WithTimeout(ctx, tellLimit)
	defer cancel()
	list, err := peers.List()
	for _, p := range list {
		if p.LeftAt > 0 && ctx.Err() == nil {
			err = errors.Join(err, tellLeft(ctx, peers, p.ID(), id, find))
		}
	}
	return err
}

// errLeft stops a client whose pairing was ended by this device.
func errLeft(name string) error {
	return &FinalError{protocol.ErrNotFound.With(fmt.Sprintf("this device has left the gateway %s", name))}
}

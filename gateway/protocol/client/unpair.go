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

// EndPairing ends one of this device's pairings: here at once, and at the gateway as soon as it can
// be reached. If it cannot be reached now, the error is protocol.ErrUnavailable, and
// [NotifyEndedPairings] and every attempt to connect [Through] the pairing try again. find may be
// nil.
func EndPairing(ctx context.Context, peers *identity.Peers, pairing identity.PeerID, id identity.Key, find func(context.Context, identity.Pin) []string) error {
	if err := peers.End(pairing); err != nil {
		return err
	}
	return notifyEnded(ctx, peers, pairing, id, find)
}

// notifyEnded notifies a gateway that this device ended the pairing, authenticated by its key
// alone, and then deletes the pairing.
func notifyEnded(ctx context.Context, peers *identity.Peers, pairing identity.PeerID, id identity.Key, find func(context.Context, identity.Pin) []string) error {
	p, err := peers.Get(pairing)
	if err != nil {
		return err
	}
	device := pake.Device{Key: id, Pin: pairing.Pin, End: true, Applicant: pake.Applicant{Role: pairing.Role}}
	_, err = Pair(ctx, p.Addresses, device)
	if err != nil && refusal(err).Reason == "" && find != nil && ctx.Err() == nil {
		if found := find(ctx, pairing.Pin); len(found) > 0 {
			_, err = Pair(ctx, found, device)
		}
	}
	if err != nil && refusal(err).Reason == "" { // otherwise the gateway does not accept this device anyway
		return protocol.ErrUnavailable.With(fmt.Sprintf("could not notify %s that the pairing ended: %v", p.Name, err))
	}
	return peers.Forget(pairing)
}

// notifyLimit is the maximum time by which these notifications may delay the start of a program.
const notifyLimit = 5 * time.Second

// NotifyEndedPairings notifies every gateway that does not know yet that this device ended its
// pairing, within a few seconds. Unreachable gateways are notified another time; the error is for a
// log.
func NotifyEndedPairings(ctx context.Context, peers *identity.Peers, id identity.Key, find func(context.Context, identity.Pin) []string) error {
	ctx, cancel := context.WithTimeout(ctx, notifyLimit)
	defer cancel()
	list, err := peers.List()
	for _, p := range list {
		if p.EndedAt > 0 && ctx.Err() == nil {
			err = errors.Join(err, notifyEnded(ctx, peers, p.ID(), id, find))
		}
	}
	return err
}

// errPairingEnded stops a client whose pairing was ended by this device.
func errPairingEnded(name string) error {
	return &FinalError{protocol.ErrNotFound.With(fmt.Sprintf("this device ended its pairing with %s", name))}
}

package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fairlead/gateway/peer/trust"
	"fairlead/gateway/protocol"
)

// Leave ends one of this device's pairings at the device's own wish: here at once, and there as soon as the gateway hears of it. An error that is
// protocol.ErrUnavailable says that it has not yet; [TellLeft], and every attempt to connect [Through] the pairing, try again. find may be nil.
func Leave(ctx context.Context, peers *trust.Peers, tie trust.Tie, id trust.Identity, find func(context.Context, trust.Pin) []string) error {
	if err := peers.Leave(tie); err != nil {
		return err
	}
	return tellLeft(ctx, peers, tie, id, find)
}

// tellLeft tells a gateway that this device has left it, with its key alone, and forgets the gateway then.
func tellLeft(ctx context.Context, peers *trust.Peers, tie trust.Tie, id trust.Identity, find func(context.Context, trust.Pin) []string) error {
	p, err := peers.Get(tie)
	if err != nil {
		return err
	}
	taker := trust.Taker{Identity: id, Pin: tie.Pin, Leave: true, Applicant: trust.Applicant{Role: tie.Role}}
	_, err = Pair(ctx, p.Addresses, taker)
	if err != nil && refusal(err).Reason == "" && find != nil && ctx.Err() == nil {
		if found := find(ctx, tie.Pin); len(found) > 0 {
			_, err = Pair(ctx, found, taker)
		}
	}
	if err != nil && refusal(err).Reason == "" { // else the gateway does not let this device in anyway
		return protocol.ErrUnavailable.With(fmt.Sprintf("%s was not told: %v", p.Name, err))
	}
	return peers.Forget(tie)
}

// tellLimit is how long a program's start may be held up by gateways that are to be told.
const tellLimit = 5 * time.Second

// TellLeft tells every gateway that this device has left and that does not know it yet, for a few seconds at most. Who cannot be reached is told another
// time; the error is for a log.
func TellLeft(ctx context.Context, peers *trust.Peers, id trust.Identity, find func(context.Context, trust.Pin) []string) error {
	ctx, cancel := context.WithTimeout(ctx, tellLimit)
	defer cancel()
	list, err := peers.List()
	for _, p := range list {
		if p.LeftAt > 0 && ctx.Err() == nil {
			err = errors.Join(err, tellLeft(ctx, peers, p.Tie(), id, find))
		}
	}
	return err
}

// errLeft ends a client whose pairing this device has left.
func errLeft(name string) error {
	return &FinalError{protocol.ErrNotFound.With(fmt.Sprintf("this device has left the gateway %s", name))}
}

package client

import (
	"context"
	"errors"
	"slices"
	"strings"

	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/pake"
	"fairlead/gateway/protocol"
)

// Join performs this device's side of a pairing, from the invitation to the stored pairing.
type Join struct {
	Key       identity.Key
	Peers     *identity.Peers
	Applicant pake.Applicant // without its key
	// Invitation is a link or a code; empty is a request to the person at the gateway.
	Invitation string
	// Gateways are addresses (host:port) to try first. A request without an invitation needs one.
	Gateways []string
	// Find looks for gateways on the local network; nil disables it.
	Find func(context.Context) []string
	// Show is called with the words and the seconds that the person at the gateway has to answer.
	Show func(words []string, seconds int)
	// Confirm asks the person here whether both sides show the same words. It is called only when
	// nothing else proves the gateway's identity.
	Confirm func(words []string) bool
}

// Run pairs the device and stores the pairing. It blocks until the answer or the end of the time.
func (j Join) Run(ctx context.Context) (identity.Peer, error) {
	for _, a := range j.Gateways {
		if err := identity.CheckAddress(a); err != nil {
			return identity.Peer{}, protocol.ErrBadRequest.With(err.Error())
		}
	}
	t := pake.Device{Key: j.Key, Applicant: j.Applicant}
	addresses := j.Gateways
	switch text := strings.TrimSpace(j.Invitation); {
	case pake.IsLink(text):
		link, err := pake.ParseLink(text)
		if err != nil {
			return identity.Peer{}, protocol.ErrBadRequest.With(err.Error())
		}
		t.Link = &link
		addresses = append(addresses, link.Addresses...)
	case text != "":
		code, err := pake.ParseCode(text)
		if err != nil {
			return identity.Peer{}, protocol.ErrBadRequest.With(err.Error())
		}
		t.Code = &code
	}
	if len(addresses) == 0 && j.Find != nil {
		addresses = j.Find(ctx)
	}
	if len(addresses) == 0 {
		return identity.Peer{}, protocol.ErrUnavailable.With("no gateway was found on this network: check on its computer that other machines can connect, and give its address, or use its link")
	}
	if t.Code != nil { // any gateway nearby may be the right one; only that one knows the code
		return j.tryEach(ctx, addresses, t)
	}
	peer, _, _, err := j.pairWith(ctx, addresses, t)
	return peer, err
}

// maxTried is the maximum number of nearby machines with which a code is tried. Each of them gets
// one guess at it (of 2²⁴), whatever it answers.
const maxTried = 16

// tryEach tries a code with each address in turn, until a gateway proves that it knows the code.
// Another gateway nearby may have an invitation with the same number, or send anything. A gateway
// with several addresses is tried once, because it counts wrong codes.
func (j Join) tryEach(ctx context.Context, addresses []string, t pake.Device) (peer identity.Peer, err error) {
	var tried []identity.Pin
	for _, a := range addresses {
		if len(tried) == maxTried {
			break
		}
		if asks, e := wasTried(ctx, a, tried); asks || e != nil {
			if err == nil {
				err = e
			}
			continue
		}
		peer, pin, asked, e := j.pairWith(ctx, []string{a}, t)
		if e == nil || asked || ctx.Err() != nil {
			return peer, e
		}
		if pin != "" {
			tried = append(tried, pin)
		}
		if err == nil || errors.Is(err, protocol.ErrUnavailable) || errors.Is(err, protocol.ErrNotFound) {
			err = e
		}
	}
	return peer, err
}

// wasTried reports whether the machine at an address was tried already.
func wasTried(ctx context.Context, address string, tried []identity.Pin) (bool, error) {
	if len(tried) == 0 {
		return false, nil
	}
	conn, pin, err := identity.Dial(ctx, []string{address}, "")
	if err != nil {
		return false, err
	}
	conn.Close()
	return slices.Contains(tried, pin), nil
}

// pairWith pairs with the gateway at addresses. pin is set once a machine has answered, and asked
// reports that the person there was asked.
func (j Join) pairWith(ctx context.Context, addresses []string, t pake.Device) (peer identity.Peer, pin identity.Pin, asked bool, err error) {
	var words []string
	t.OnWaiting = func(w []string, seconds int) {
		words, asked = w, true
		if j.Show != nil {
			j.Show(w, seconds)
		}
	}
	done, err := Pair(ctx, addresses, t)
	if asked && errors.Is(err, protocol.ErrUnavailable) && ctx.Err() == nil {
		// The connection was lost during the approval. If approved, the key gets the token.
		again := pake.Device{Key: j.Key, Pin: done.Gateway.Pin, Renew: true, Applicant: j.Applicant}
		if late, e := Pair(ctx, addresses, again); e == nil {
			done, err = late, nil
		}
	}
	switch {
	case err != nil:
	case t.Link == nil && t.Code == nil && (j.Confirm == nil || !j.Confirm(words)):
		err = protocol.ErrForbidden.With("not paired: the words differ. If the device was approved at the gateway, revoke it there")
	default:
		peer, err = j.Peers.Put(done)
	}
	return peer, done.Gateway.Pin, asked, err
}

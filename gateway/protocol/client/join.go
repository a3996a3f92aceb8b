package client

import (
	"context"
	"errors"
	"strings"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/trust"
)

// Join is this device's side of a pairing from what a person was given to what is kept.
type Join struct {
	Identity  trust.Identity
	Peers     *trust.Peers
	Applicant trust.Applicant // without key
	// Invitation is a link or a code; empty asks the gateway's person.
	Invitation string
	// Gateways are addresses (host:port) to try before those in a link. A question needs one.
	Gateways []string
	// Find looks for gateways on the local network; nil where that is not done.
	Find func(context.Context) []string
	// Show is told the words that the other end shows too, and how long the person there has.
	Show func(words []string, seconds int)
	// Confirm asks the person here whether both ends show the same words. It is asked only where nothing else proves who the gateway is.
	Confirm func(words []string) bool
}

// Run pairs and keeps the pairing. It blocks until the person at the gateway has answered, or their time is over.
func (j Join) Run(ctx context.Context) (trust.Peer, error) {
	for _, a := range j.Gateways {
		if err := trust.CheckAddress(a); err != nil {
			return trust.Peer{}, protocol.ErrBadRequest.With(err.Error())
		}
	}
	t := trust.Taker{Identity: j.Identity, Applicant: j.Applicant}
	addresses := j.Gateways
	switch text := strings.TrimSpace(j.Invitation); {
	case trust.IsLink(text):
		link, err := trust.ParseLink(text)
		if err != nil {
			return trust.Peer{}, protocol.ErrBadRequest.With(err.Error())
		}
		t.Link = &link
		addresses = append(addresses, link.Addresses...)
	case text != "":
		code, err := trust.ParseCode(text)
		if err != nil {
			return trust.Peer{}, protocol.ErrBadRequest.With(err.Error())
		}
		t.Code = &code
	}
	if len(addresses) == 0 && j.Find != nil {
		addresses = j.Find(ctx)
	}
	if len(addresses) == 0 {
		return trust.Peer{}, protocol.ErrUnavailable.With("no gateway was found on this network: is its network on? Give its address with --gateway HOST:PORT, or use the link")
	}
	if t.Code != nil { // each gateway nearby may be the one: only it knows the number
		return j.first(ctx, addresses, t)
	}
	return j.one(ctx, addresses, t)
}

// first tries a code with each address in turn, until a gateway proves that it knows the code: another one nearby may have an invitation of the same number,
// or say anything.
func (j Join) first(ctx context.Context, addresses []string, t trust.Taker) (peer trust.Peer, err error) {
	known, show := false, j.Show
	j.Show = func(words []string, seconds int) {
		known = true
		if show != nil {
			show(words, seconds)
		}
	}
	for _, a := range addresses {
		peer, e := j.one(ctx, []string{a}, t)
		if e == nil || known || ctx.Err() != nil {
			return peer, e
		}
		if err == nil || errors.Is(err, protocol.ErrUnavailable) || errors.Is(err, protocol.ErrNotFound) {
			err = e
		}
	}
	return peer, err
}

func (j Join) one(ctx context.Context, addresses []string, t trust.Taker) (trust.Peer, error) {
	var words []string
	t.OnWaiting = func(w []string, seconds int) {
		words = w
		if j.Show != nil {
			j.Show(w, seconds)
		}
	}
	done, err := Pair(ctx, addresses, t)
	if words != nil && errors.Is(err, protocol.ErrUnavailable) && ctx.Err() == nil {
		// The connection was lost while the person was asked. If they said yes, the key opens the door.
		again := trust.Taker{Identity: j.Identity, Pin: done.Gateway.Pin, Renew: true, Applicant: j.Applicant}
		if late, e := Pair(ctx, addresses, again); e == nil {
			done, err = late, nil
		}
	}
	if err != nil {
		return trust.Peer{}, err
	}
	if t.Link == nil && t.Code == nil && (j.Confirm == nil || !j.Confirm(words)) {
		return trust.Peer{}, protocol.ErrForbidden.With("not paired: the words were not the same. Revoke the device at the gateway if it was let in there")
	}
	return j.Peers.Put(done)
}

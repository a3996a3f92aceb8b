package client

import (
	"context"
	"errors"
	"slices"
	"strings"

	"fairlead/gateway/peer/trust"
	"fairlead/gateway/protocol"
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
	peer, _, err := j.one(ctx, addresses, t)
	return peer, err
}

// maxAsked is how many machines nearby a code is tried with. Each of them may guess at it once (of 2²⁴), whatever it answers.
const maxAsked = 16

// first tries a code with each address in turn, until a gateway proves that it knows the code: another one nearby may have an invitation of the same number,
// or say anything. One that has several addresses is asked once, for it counts wrong codes.
func (j Join) first(ctx context.Context, addresses []string, t trust.Taker) (peer trust.Peer, err error) {
	known, show := false, j.Show
	j.Show = func(words []string, seconds int) {
		known = true
		if show != nil {
			show(words, seconds)
		}
	}
	var asked []trust.Pin
	for _, a := range addresses {
		if len(asked) == maxAsked {
			break
		}
		if asks, e := isAsked(ctx, a, asked); asks || e != nil {
			if err == nil {
				err = e
			}
			continue
		}
		peer, pin, e := j.one(ctx, []string{a}, t)
		if e == nil || known || ctx.Err() != nil {
			return peer, e
		}
		if pin != "" {
			asked = append(asked, pin)
		}
		if err == nil || errors.Is(err, protocol.ErrUnavailable) || errors.Is(err, protocol.ErrNotFound) {
			err = e
		}
	}
	return peer, err
}

// isAsked reports whether the machine at an address is one of those that were asked.
func isAsked(ctx context.Context, address string, asked []trust.Pin) (bool, error) {
	if len(asked) == 0 {
		return false, nil
	}
	conn, pin, err := trust.Dial(ctx, []string{address}, "")
	if err != nil {
		return false, err
	}
	conn.Close()
	return slices.Contains(asked, pin), nil
}

// one pairs with the gateway at addresses. pin is set also with an error, once a machine has answered.
func (j Join) one(ctx context.Context, addresses []string, t trust.Taker) (peer trust.Peer, pin trust.Pin, err error) {
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
	pin = done.Gateway.Pin
	if err != nil {
		return trust.Peer{}, pin, err
	}
	if t.Link == nil && t.Code == nil && (j.Confirm == nil || !j.Confirm(words)) {
		return trust.Peer{}, pin, protocol.ErrForbidden.With("not paired: the words were not the same. Revoke the device at the gateway if it was let in there")
	}
	peer, err = j.Peers.Put(done)
	return peer, pin, err
}

package state

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/peer/display"
	"fairlead/gateway/protocol"
)

// Answer allows or denies a pairing request, which leaves the view at once and returns after a
// failure.
func (p Pairings) Answer(id string, allow bool) {
	p.app.Value.Update(func(v *View) {
		v.answered = mapWith(v.answered, true, true, id)
		v.Pairing.Requests = without(v.Pairing.Requests, func(q protocol.DeviceRequest) bool { return q.ID == id })
	})
	p.app.startRequest(func(ctx context.Context) {
		var err error
		if params := (protocol.DeviceRequestParams{ID: id}); allow {
			err = send(ctx, p.app, protocol.DeviceApprove, params)
		} else {
			err = send(ctx, p.app, protocol.DeviceDeny, params)
		}
		if err != nil {
			p.app.fail(fmt.Errorf("your answer was not accepted: %w", err))
			p.app.Value.Update(func(v *View) { v.answered = mapWith(v.answered, true, false, id) })
			p.load()
		}
	})
}

// Outcomes of an invitation.
const (
	InviteOpen   = "open"
	InvitePaired = "paired" // a device used it
	InviteEnded  = "ended"  // it expired, or its request was denied
)

// InviteOutcome returns what became of an invitation, and the device that was paired with it.
func (p Pairing) InviteOutcome(i protocol.DeviceInvite, now time.Time) (string, protocol.Device) {
	d, paired := find(p.Devices, func(d protocol.Device) bool {
		return d.Role == i.Role && d.PairedAt >= i.CreatedAt && d.RevokedAt == 0
	})
	isOpen := i.ExpiresAt > now.UnixMilli() && slices.ContainsFunc(p.Invites, func(o protocol.DeviceInvite) bool { return o.ID == i.ID }) ||
		slices.ContainsFunc(p.Requests, func(r protocol.DeviceRequest) bool { return r.Invite == i.ID })
	switch {
	case isOpen:
		return InviteOpen, protocol.Device{}
	case paired:
		return InvitePaired, d
	}
	return InviteEnded, protocol.Device{}
}

// RequestTitle is the question that a request asks.
func RequestTitle(r protocol.DeviceRequest) string {
	question, _ := display.Request(r)
	return question
}

// RequestText says what a device asks for.
func RequestText(r protocol.DeviceRequest, now time.Time) string {
	_, text := display.Request(r)
	if r.Kind == protocol.RequestWiden {
		return text
	}
	if r.Device.Role == protocol.RoleClient {
		text += " It may " + RightsText(r.Device.Scopes) + "."
	}
	if r.Device.ExpiresAt > 0 {
		text += " Access ends " + When(r.Device.ExpiresAt, now) + "."
	}
	return text
}

// FreeName returns the name that the error of a pairing suggests, because another machine has the
// name of this one; empty for other errors.
func FreeName(err error) string {
	var taken protocol.NameTaken
	if e, ok := errors.AsType[*protocol.Error](err); !ok || json.Unmarshal(e.Details, &taken) != nil {
		return ""
	}
	return string(taken.Free)
}

// RequestSource says which device asks: its system, address and the name of its computer.
func RequestSource(r protocol.DeviceRequest) string {
	host := ""
	if h := r.Device.Hostname; h != "" && !strings.EqualFold(h, r.Device.Name) {
		host = "computer name " + h
	}
	return joinNonEmpty(" · ", systemName(r.Device.OS), r.Device.Address, host)
}

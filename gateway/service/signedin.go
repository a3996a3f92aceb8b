package service

import (
	"context"
	"fmt"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// Use returns how much each service is used.
func (p *Site) Use() map[protocol.ServiceID]protocol.ServiceUse { return p.presence.count() }

// Visitors lists who is signed in to a service, and who visits it without a sign-in.
func (p *Site) Visitors(ctx context.Context, in protocol.ServiceParams) (protocol.ServiceVisitsResult, error) {
	s, err := p.services.Get(in.ID)
	if err != nil {
		return protocol.ServiceVisitsResult{}, protocol.ErrNotFound.With(err.Error())
	}
	visits, err := p.requests.store.Visits(ctx, in.ID, time.Now().UnixMilli())
	present, list := p.presence.of(in.ID)
	list = append([]protocol.ServiceVisitor{}, list...)
	for _, v := range visits {
		if v.State != "" || !lets(s, v) {
			continue
		}
		w := present[v.Hash]
		w.ID, w.Email, w.IsOwner, w.IsClaimed, w.IsGranted, w.ExpiresAt = idOf(v), v.Email, v.IsOwner, v.IsClaimed, v.IsGranted, v.ExpiresAt
		list = append(list, w)
	}
	return protocol.ServiceVisitsResult{Visitors: list}, err
}

// idOf names a sign-in without its secret: the hash is too long to type, and its beginning names
// one.
func idOf(v store.Visit) string { return v.Hash[:16] }

// SignOut ends a visitor's sign-in, and then their open pages.
func (p *Site) SignOut(ctx context.Context, by string, in protocol.ServiceSignOutParams) error {
	s, err := p.services.Get(in.ID)
	if err != nil {
		return protocol.ErrNotFound.With(err.Error())
	}
	isMeant := func(v store.Visit) bool { return v.State == "" && !v.IsLink && idOf(v) == in.Visitor }
	visits, err := p.requests.store.Visits(ctx, in.ID, time.Now().UnixMilli())
	for _, v := range visits {
		if !isMeant(v) {
			continue
		}
		who := v.Email
		if v.IsOwner {
			who = "the owner"
		}
		_, err := p.requests.store.DeleteVisits(ctx, in.ID, isMeant, protocol.AuditEntry{
			At: time.Now().UnixMilli(), Kind: protocol.AuditService, By: by, Node: s.NodeID, Verdict: "allowed", What: fmt.Sprintf("signed %s out of %s", who, s.Title),
		})
		if err != nil {
			return err
		}
		p.presence.cut(in.ID, func(present store.Visit) bool { return present.Hash == v.Hash })
		return nil
	}
	if err == nil {
		err = protocol.ErrNotFound.With(fmt.Sprintf("Nobody is signed in to %s as %.40q", s.Title, in.Visitor))
	}
	return err
}

// count returns how much each service is used.
func (p *presence) count() map[protocol.ServiceID]protocol.ServiceUse {
	dayEnds := endOfDay(time.Now(), p.zone())
	p.mu.Lock()
	defer p.mu.Unlock()
	all := make(map[protocol.ServiceID]protocol.ServiceUse, len(p.uses))
	for id, use := range p.uses {
		u := protocol.ServiceUse{LastUsedAt: use.LastUsedAt}
		if use.DayEnds.Equal(dayEnds) {
			u.RequestsToday = use.Requests
		}
		all[id] = u
	}
	for key := range p.visitors {
		u := all[key.service]
		u.Visitors++
		all[key.service] = u
	}
	return all
}

// of returns the present visits of a service by the hash of their sign-in, and those without one.
func (p *presence) of(id protocol.ServiceID) (known map[string]protocol.ServiceVisitor, unknown []protocol.ServiceVisitor) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known = make(map[string]protocol.ServiceVisitor)
	for key, v := range p.visitors {
		if key.service != id {
			continue
		}
		w := v.info()
		if v.visit.Hash == "" {
			unknown = append(unknown, w)
		} else {
			known[v.visit.Hash] = w
		}
	}
	return known, unknown
}

package service

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"fairlead/gateway/event"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/wake"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

const (
	// quietAfter is the time without a request or an open stream after which a visit has ended.
	quietAfter = 15 * time.Minute
	// publishEvery is the interval at which visits are looked at, and changes published.
	publishEvery = 2 * time.Second
	// storeEvery is the interval at which the use of services is stored.
	storeEvery = time.Minute
	// maxUnknown is the number of network addresses that count as a visit each, per service. All
	// further visitors without a sign-in count as one visit.
	maxUnknown = 200
)

// UseStore stores how much services are used, and writes about visits to the audit log.
type UseStore interface {
	Uses(context.Context) (map[protocol.ServiceID]store.ServiceUse, error)
	PutUses(context.Context, map[protocol.ServiceID]store.ServiceUse, ...protocol.AuditEntry) error
}

// presence knows who visits the services now, and ends visits. Requests wait for nothing but its
// lock, which is never held during I/O: one goroutine writes the audit log and stores the use.
type presence struct {
	store UseStore
	bus   *event.Bus
	zone  func() *time.Location // the owner's

	wake wake.Signal

	mu       sync.Mutex // guards the fields below
	isClosed bool
	cuts     uint64 // grows with each cut
	visitors map[visitorKey]*visitor
	ended    []*visitor // not written yet
	uses     map[protocol.ServiceID]store.ServiceUse
	changed  map[protocol.ServiceID]bool // uses that are not stored
	dayEnds  time.Time                   // in the owner's time zone
	isNew    bool                        // something is not published
}

type visitorKey struct {
	service protocol.ServiceID
	id      string // hash of the sign-in, or the network address without one
}

// openPresence loads the use of the services, and writes about the ends of visits that a crash cut
// off. The caller runs it until it is closed.
func openPresence(ctx context.Context, s UseStore, bus *event.Bus, zone func() *time.Location) (*presence, error) {
	uses, err := s.Uses(ctx)
	if err != nil {
		return nil, err
	}
	if err := closeLost(ctx, s, uses); err != nil {
		return nil, err
	}
	return &presence{
		store: s, bus: bus, zone: zone, wake: wake.New(), uses: uses, dayEnds: endOfDay(time.Now(), zone()),
		visitors: make(map[visitorKey]*visitor), changed: make(map[protocol.ServiceID]bool),
	}, nil
}

// closeLost writes about the ends of visits that were open when the gateway was stopped by force.
func closeLost(ctx context.Context, s UseStore, uses map[protocol.ServiceID]store.ServiceUse) error {
	var lines []protocol.AuditEntry
	for id, use := range uses {
		for _, line := range use.Open {
			line.At = time.Now().UnixMilli()
			line.What += ", as far as known: the gateway was stopped by force"
			lines = append(lines, line)
		}
		use.Open = nil
		uses[id] = use
	}
	if len(lines) == 0 {
		return nil
	}
	return s.PutUses(ctx, uses, lines...)
}

func endOfDay(now time.Time, zone *time.Location) time.Time {
	y, m, d := now.In(zone).Date()
	return time.Date(y, m, d+1, 0, 0, 0, 0, zone)
}

// close cuts all visits and writes their ends. Nobody gets in any more.
func (p *presence) close(ctx context.Context) {
	p.mu.Lock()
	p.isClosed = true
	for key, v := range p.visitors {
		p.endLocked(key, v)
	}
	p.mu.Unlock()
	p.write(ctx, true)
}

// cutCount returns the number of cuts until now; see enter.
func (p *presence) cutCount() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cuts
}

// signIn returns the sign-in of somebody who visits a service now. It is valid: whoever loses the
// right to visit is cut.
func (p *presence) signIn(id protocol.ServiceID, hash string) (store.Visit, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	v := p.visitors[visitorKey{id, hash}]
	if v == nil || v.ctx.Err() != nil {
		return store.Visit{}, false
	}
	return v.visit, true
}

// enter counts a request of a visitor. The caller has checked the visitor's right after it read
// cutCount. If visits were cut since, ok is false, and the right must be checked again. Without a
// sign-in, visit is zero. service ends with the present visits of the service.
func (p *presence) enter(cuts uint64, s protocol.Service, service context.Context, visit store.Visit, from string) (v *visitor, ok bool) {
	now := time.Now()
	key := visitorKey{s.ID, visit.Hash}
	if visit.Hash == "" {
		key.id = sourceOf(from)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cuts != cuts {
		return nil, false
	}
	if p.isClosed {
		return nil, true
	}
	if visit.Hash == "" && p.visitors[key] == nil && p.unknownLocked(s.ID) >= maxUnknown {
		key.id, from = "", "several addresses"
	}
	v = p.visitors[key]
	if v != nil && v.ctx.Err() != nil {
		p.endLocked(key, v)
		v = nil
	}
	if v == nil {
		v = &visitor{service: s, visit: visit, from: from, began: now}
		if visit.Hash == "" {
			v.ctx, v.cut = context.WithCancel(service)
		} else {
			v.ctx, v.cut = context.WithDeadline(service, time.UnixMilli(visit.ExpiresAt))
		}
		p.visitors[key] = v
		crash.WhenDone(v.ctx, p.wake.Send)
		p.wake.Send()
	}
	v.requests++
	v.streams++
	v.lastUsed = now
	for !now.Before(p.dayEnds) {
		p.dayEnds = p.dayEnds.AddDate(0, 0, 1)
	}
	use := p.uses[s.ID]
	if !use.DayEnds.Equal(p.dayEnds) {
		use = store.ServiceUse{DayEnds: p.dayEnds}
	}
	use.Requests++
	use.LastUsedAt = now.UnixMilli()
	p.uses[s.ID], p.changed[s.ID], p.isNew = use, true, true
	return v, true
}

// unknownLocked returns the number of visits of a service without a sign-in.
func (p *presence) unknownLocked(id protocol.ServiceID) (n int) {
	for key, v := range p.visitors {
		if key.service == id && v.visit.Hash == "" {
			n++
		}
	}
	return n
}

// leave ends a request of a visitor.
func (p *presence) leave(v *visitor) {
	p.mu.Lock()
	defer p.mu.Unlock()
	v.streams--
	v.lastUsed = time.Now()
}

// cut ends the visits of a service for which gone returns true, with their open streams. What
// decides about the right to visit must have changed before.
func (p *presence) cut(id protocol.ServiceID, gone func(store.Visit) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cuts++
	for key, v := range p.visitors {
		if key.service == id && gone(v.visit) {
			p.endLocked(key, v)
		}
	}
	p.wake.Send()
}

// forget ends the count of a service that is deleted.
func (p *presence) forget(id protocol.ServiceID) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.uses, id)
	delete(p.changed, id)
}

func (p *presence) endLocked(key visitorKey, v *visitor) {
	v.cut()
	p.ended = append(p.ended, v)
	delete(p.visitors, key)
	p.changed[key.service], p.isNew = true, true
}

// run looks at the visits while there are any, until ctx ends.
func (p *presence) run(ctx context.Context) {
	saved := time.Now()
	for {
		var tick <-chan time.Time
		if p.isUsed() {
			tick = time.After(publishEvery)
		}
		select {
		case <-ctx.Done():
			return
		case <-p.wake:
		case <-tick:
		}
		p.endQuiet(time.Now(), endOfDay(time.Now(), p.zone()))
		isDue := time.Since(saved) >= storeEvery
		if isDue {
			saved = time.Now()
		}
		p.write(context.WithoutCancel(ctx), isDue) // what it has taken is nowhere else
	}
}

// isUsed reports whether there are visits, or something is not stored.
func (p *presence) isUsed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.visitors) > 0 || len(p.changed) > 0
}

// endQuiet ends the visits that were cut or are quiet.
func (p *presence) endQuiet(now, dayEnds time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dayEnds = dayEnds
	for key, v := range p.visitors {
		if v.ctx.Err() != nil || v.streams == 0 && now.Sub(v.lastUsed) >= quietAfter {
			p.endLocked(key, v)
		}
	}
}

// write writes the audit log about visits that began or ended, and publishes changes. With that, or
// if all is set, it stores how much the services were used.
func (p *presence) write(ctx context.Context, all bool) {
	now := time.Now()
	var lines []protocol.AuditEntry
	uses := make(map[protocol.ServiceID]store.ServiceUse)
	p.mu.Lock()
	for _, v := range append(slices.Collect(maps.Values(p.visitors)), p.ended...) {
		if !v.isLogged {
			v.isLogged = true
			lines = append(lines, v.line(v.began, "began to visit"))
		}
	}
	for _, v := range p.ended {
		lines = append(lines, v.endLine(now))
	}
	p.ended = nil
	if all || len(lines) > 0 {
		uses = p.takeChangedLocked(now)
	}
	isNew := p.isNew
	p.isNew = false
	p.mu.Unlock()
	if len(uses) > 0 {
		if err := p.store.PutUses(ctx, uses, lines...); err != nil {
			slog.Warn("Visits are missing from the audit log", "lines", len(lines), "err", err)
		}
	}
	if isNew {
		p.bus.Publish(protocol.Change{Kind: protocol.ChangeServices})
	}
}

// takeChangedLocked returns the uses that are not stored, with the visits that are open now.
func (p *presence) takeChangedLocked(now time.Time) map[protocol.ServiceID]store.ServiceUse {
	for key, v := range p.visitors {
		if v.streams > 0 { // which count bytes
			p.changed[key.service] = true
		}
	}
	uses := make(map[protocol.ServiceID]store.ServiceUse, len(p.changed))
	for id := range p.changed {
		uses[id] = p.uses[id]
	}
	for key, v := range p.visitors {
		if use, ok := uses[key.service]; ok {
			use.Open = append(use.Open, v.endLine(now))
			uses[key.service] = use
		}
	}
	clear(p.changed)
	return uses
}

package service

import (
	"context"
	"crypto/rand"
	"fmt"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// Store stores the services.
type Store interface {
	List(context.Context) ([]protocol.Service, error)
	Put(context.Context, protocol.Service, ...protocol.AuditEntry) error
	PutWithout(ctx context.Context, v protocol.Service, gone func(store.Visit) bool, lines ...protocol.AuditEntry) error
	Delete(context.Context, protocol.ServiceID, ...protocol.AuditEntry) error
}

// Services are the published services. They are safe for concurrent use.
type Services struct {
	directory
	store   Store
	bus     *event.Bus
	changed func() // called after a service changed

	onShare  func(protocol.ServiceID, func(store.Visit) bool) // ends the visits for which the function returns true
	onDelete func(protocol.ServiceID)

	change sync.Mutex // held while a service changes, so that changes are stored in order
}

// Open loads the services. addresses returns those of one, the best one first.
func Open(ctx context.Context, rows Store, bus *event.Bus, addresses func(protocol.Service) []protocol.ServiceAddress) (*Services, error) {
	list, err := rows.List(ctx)
	if err != nil {
		return nil, err
	}
	s := &Services{
		directory: directory{addresses: addresses, entries: make(map[protocol.ServiceID]*entry)}, store: rows, bus: bus, changed: func() {},
		onShare: func(protocol.ServiceID, func(store.Visit) bool) {}, onDelete: func(protocol.ServiceID) {},
	}
	for _, v := range list {
		s.show(v, true)
	}
	return s, nil
}

// OnChange calls f after each change of a service. It must be set before the first.
func (s *Services) OnChange(f func()) { s.changed = f }

// Publish publishes a service. The error is a *protocol.Fault, or that of the store.
func (s *Services) Publish(ctx context.Context, d Definition, by string) (protocol.Service, error) {
	if err := d.Check(); err != nil {
		return protocol.Service{}, err
	}
	visitors, _ := patterns(nil, d.Visitors) // checked
	title := d.title()
	now := time.Now().UnixMilli()
	v := protocol.Service{
		ID: protocol.ServiceID("svc_" + strings.ToLower(rand.Text()[:16])), NodeID: d.NodeID, Title: title, Mode: protocol.ServiceProxy,
		Target: d.Target.String(), Certificate: d.Certificate, Enabled: d.Enabled, SignIn: d.SignIn || len(visitors) > 0, Visitors: visitors, CreatedAt: now, UpdatedAt: now,
	}
	v.Name = nameFor(title)
	s.change.Lock()
	defer s.change.Unlock()
	v.NetworkPort, v.LocalPort = s.freePorts()
	return s.put(ctx, v, "published", by, nil)
}

// Update changes a service. Its visits end. The error is a *protocol.Fault, or that of the store.
func (s *Services) Update(ctx context.Context, id protocol.ServiceID, c Change, by string) (protocol.Service, error) {
	return s.edit(ctx, id, "changed", by, nil, func(v *protocol.Service) error {
		if err := c.Check(*v); err != nil {
			return err
		}
		if c.Title != nil {
			v.Title = strings.TrimSpace(*c.Title)
		}
		if c.Target != nil {
			v.Target, v.Certificate = c.Target.String(), ""
		}
		v.Certificate = value(c.Certificate, v.Certificate)
		v.Enabled = value(c.Enabled, v.Enabled)
		v.SignIn = value(c.SignIn, v.SignIn)
		return nil
	})
}

// Delete removes a service and frees its address. Its visits end. The error is a *protocol.Fault, or
// that of the store.
func (s *Services) Delete(ctx context.Context, id protocol.ServiceID, by string) (protocol.Service, error) {
	s.change.Lock()
	defer s.change.Unlock()
	v, err := s.Get(id)
	if err != nil {
		return v, err
	}
	if err := s.store.Delete(ctx, id, audit("deleted", by, v)); err != nil {
		return v, err
	}
	s.remove(id)
	s.onDelete(id)
	s.publish()
	return v, nil
}

// Close switches a service off, which ends its visits at once. The error is a *protocol.Fault, or
// that of the store.
func (s *Services) Close(ctx context.Context, by string, p protocol.ServiceParams) error {
	off := false
	_, err := s.Update(ctx, p.ID, Change{Enabled: &off}, by)
	return err
}

// publish opens and closes addresses, and then publishes the change.
func (s *Services) publish() {
	s.changed()
	s.bus.Publish(protocol.Change{Kind: protocol.ChangeServices})
}

// edit stores a changed service and then ends its visits; see put.
func (s *Services) edit(ctx context.Context, id protocol.ServiceID, what, by string, gone func(store.Visit) bool, change func(*protocol.Service) error) (protocol.Service, error) {
	s.change.Lock()
	defer s.change.Unlock()
	v, err := s.Get(id)
	if err != nil {
		return v, err
	}
	if err := change(&v); err != nil {
		return v, err
	}
	v.UpdatedAt = time.Now().UnixMilli()
	return s.put(ctx, v, what, by, gone)
}

// put stores a service and ends its visits: all of them, or with gone only those for which gone
// returns true, which are deleted, and those of visitors who lost their access.
func (s *Services) put(ctx context.Context, v protocol.Service, what, by string, gone func(store.Visit) bool) (protocol.Service, error) {
	v.URL, v.Addresses = "", nil // which follow the settings
	put := func() error { return s.store.Put(ctx, v, audit(what, by, v)) }
	if gone != nil {
		put = func() error { return s.store.PutWithout(ctx, v, gone, audit(what, by, v)) }
	}
	if err := put(); err != nil {
		return v, err
	}
	s.show(v, gone == nil)
	if gone != nil {
		s.onShare(v.ID, func(x store.Visit) bool { return gone(x) || !lets(v, x) })
	}
	s.publish()
	return s.described(v), nil
}

func audit(what, by string, v protocol.Service) protocol.AuditEntry {
	who := "for everyone who reaches its address"
	switch {
	case !v.Enabled:
		who = "turned off"
	case v.SignIn && len(v.Visitors) == 0:
		who = "for the owner"
	case v.SignIn:
		who = "for the owner and " + strings.Join(v.Visitors, ", ")
	}
	return protocol.AuditEntry{
		At: time.Now().UnixMilli(), Kind: protocol.AuditService, By: by, Node: v.NodeID, Verdict: "allowed",
		What: fmt.Sprintf("%s %s, %s, %s", what, v.Title, v.Target, who),
	}
}

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
	onStop   func(protocol.Service) // ends the program of a terminal that is not to be shown any more

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
		onShare: func(protocol.ServiceID, func(store.Visit) bool) {}, onDelete: func(protocol.ServiceID) {}, onStop: func(protocol.Service) {},
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
	v := d.Service()
	v.ID, v.Name = protocol.ServiceID("svc_"+strings.ToLower(rand.Text()[:16])), nameFor(v.Title)
	v.CreatedAt = time.Now().UnixMilli()
	v.UpdatedAt = v.CreatedAt
	s.change.Lock()
	defer s.change.Unlock()
	v.NetworkPort, v.LocalPort = s.freePorts()
	return s.put(ctx, v, "published", by, nil)
}

// Update changes a service. Its visits end. The error is a *protocol.Fault, or that of the store.
func (s *Services) Update(ctx context.Context, id protocol.ServiceID, c Change, by string) (protocol.Service, error) {
	return s.edit(ctx, id, "changed", by, nil, c.Apply)
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
	if v.Terminal != nil {
		s.onStop(v)
	}
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
	was := v
	if err := change(&v); err != nil {
		return v, err
	}
	v.UpdatedAt = time.Now().UnixMilli()
	v, err = s.put(ctx, v, what, by, gone)
	if err == nil && was.Terminal != nil && (!v.Enabled || v.Terminal == nil || *v.Terminal != *was.Terminal) {
		s.onStop(was)
	}
	return v, err
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
		What: fmt.Sprintf("%s %s, %s, %s", what, v.Title, v.Content(), who),
	}
}

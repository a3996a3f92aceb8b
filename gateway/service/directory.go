package service

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"sync"

	"fairlead/gateway/protocol"
)

// directory holds the services as visitors find them now. It is safe for concurrent use.
type directory struct {
	addresses func(protocol.Service) []protocol.ServiceAddress // the best one first

	mu      sync.Mutex // guards the field below
	entries map[protocol.ServiceID]*entry
}

// entry is a service with what ends its present visits.
type entry struct {
	protocol.Service
	ctx context.Context
	cut context.CancelFunc
}

// show makes a service reachable as it is now. If cut is set, it ends the visits that began before.
func (d *directory) show(v protocol.Service, cut bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if was := d.entries[v.ID]; was != nil {
		if !cut {
			was.Service = v
			return
		}
		was.cut()
	}
	e := &entry{Service: v}
	e.ctx, e.cut = context.WithCancel(context.Background())
	d.entries[v.ID] = e
}

// remove makes a service unreachable and ends its visits.
func (d *directory) remove(id protocol.ServiceID) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.entries[id].cut()
	delete(d.entries, id)
}

// endVisits ends all visits.
func (d *directory) endVisits() {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range d.entries {
		e.cut()
	}
}

// List returns the services, the oldest first.
func (d *directory) List() []protocol.Service {
	list := d.Stored()
	for i, v := range list {
		list[i] = d.described(v)
	}
	return list
}

// Stored returns the services without their addresses, the oldest first.
func (d *directory) Stored() []protocol.Service {
	d.mu.Lock()
	list := make([]protocol.Service, 0, len(d.entries))
	for _, e := range d.entries {
		list = append(list, e.Service)
	}
	d.mu.Unlock()
	slices.SortFunc(list, func(a, b protocol.Service) int {
		return cmp.Or(cmp.Compare(a.CreatedAt, b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return list
}

// described adds what is not stored, because it follows the settings. The caller does not hold mu:
// the state of an address can depend on which services there are.
func (d *directory) described(v protocol.Service) protocol.Service {
	v.Addresses = d.addresses(v)
	for _, a := range slices.Backward(v.Addresses) {
		if a.Problem == "" {
			v.URL = a.URL
		}
	}
	v.Visitors = slices.Clone(v.Visitors)
	return v
}

// Get returns a service. The error is a *protocol.Fault.
func (d *directory) Get(id protocol.ServiceID) (protocol.Service, error) {
	d.mu.Lock()
	e := d.entries[id]
	var v protocol.Service
	if e != nil {
		v = e.Service
	}
	d.mu.Unlock()
	if e != nil {
		return d.described(v), nil
	}
	return protocol.Service{}, protocol.NewFault(protocol.FaultNotFound, fmt.Sprintf("there is no service %s: network_directory lists them", id))
}

// Visit returns the enabled service whose host name begins with name, without its addresses, and a
// context that ends when the service changes. Without such a service, ok is false.
func (d *directory) Visit(name string) (v protocol.Service, ctx context.Context, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, e := range d.entries {
		if e.Name == name && e.Enabled {
			return e.Service, e.ctx, true
		}
	}
	return protocol.Service{}, nil, false
}

// Ports of services are chosen from these.
const (
	firstPort = 8800
	lastPort  = 9799
)

// freePorts returns two ports that no other service has and no other program uses; 0 if none is
// left.
func (d *directory) freePorts() (network, local int) {
	taken := make(map[int]bool)
	for _, v := range d.Stored() {
		taken[v.NetworkPort], taken[v.LocalPort] = true, true
	}
	var found []int
	for port := firstPort; port <= lastPort && len(found) < 2; port++ {
		if taken[port] {
			continue
		}
		if l, err := net.Listen("tcp", fmt.Sprintf(":%d", port)); err == nil {
			l.Close()
			found = append(found, port)
		}
	}
	if len(found) < 2 {
		return 0, 0
	}
	return found[0], found[1]
}

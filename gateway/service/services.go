package service

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"slices"
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
	store     Store
	bus       *event.Bus
	addresses func(protocol.Service) []protocol.ServiceAddress // the best one first
	changed   func()                                           // called after a service changed

	onShare  func(protocol.ServiceID, func(store.Visit) bool) // ends the visits for which the function returns true
	onDelete func(protocol.ServiceID)

	change sync.Mutex // held while a service changes, so that changes are stored in order

	mu   sync.Mutex // guards the field below
	open map[protocol.ServiceID]*open
}

// open is a service with what ends its present visits.
type open struct {
	protocol.Service
	ctx context.Context
	cut context.CancelFunc
}

// Open loads the services. addresses returns those of one, the best one first.
func Open(ctx context.Context, rows Store, bus *event.Bus, addresses func(protocol.Service) []protocol.ServiceAddress) (*Services, error) {
	list, err := rows.List(ctx)
	if err != nil {
		return nil, err
	}
	s := &Services{store: rows, bus: bus, addresses: addresses, changed: func() {}, open: make(map[protocol.ServiceID]*open)}
	s.onShare, s.onDelete = func(protocol.ServiceID, func(store.Visit) bool) {}, func(protocol.ServiceID) {}
	for _, v := range list {
		s.show(v, true)
	}
	return s, nil
}

// OnChange calls f after each change of a service. It must be set before the first.
func (s *Services) OnChange(f func()) { s.changed = f }

// show makes a service reachable as it is now. If cut is set, it ends the visits that began before.
func (s *Services) show(v protocol.Service, cut bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if was := s.open[v.ID]; was != nil {
		if !cut {
			was.Service = v
			return
		}
		was.cut()
	}
	o := &open{Service: v}
	o.ctx, o.cut = context.WithCancel(context.Background())
	s.open[v.ID] = o
}

// endVisits ends all visits.
func (s *Services) endVisits() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.open {
		o.cut()
	}
}

// List returns the services, the oldest first.
func (s *Services) List() []protocol.Service {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]protocol.Service, 0, len(s.open))
	for _, o := range s.open {
		list = append(list, s.described(o.Service))
	}
	slices.SortFunc(list, func(a, b protocol.Service) int {
		return cmp.Or(cmp.Compare(a.CreatedAt, b.CreatedAt), cmp.Compare(a.ID, b.ID))
	})
	return list
}

// described adds what is not stored, because it follows the settings.
func (s *Services) described(v protocol.Service) protocol.Service {
	v.Addresses = s.addresses(v)
	for _, a := range slices.Backward(v.Addresses) {
		if a.Problem == "" {
			v.URL = a.URL
		}
	}
	v.Visitors = slices.Clone(v.Visitors)
	return v
}

// Get returns a service. The error is a *protocol.Fault.
func (s *Services) Get(id protocol.ServiceID) (protocol.Service, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.open[id]; o != nil {
		return s.described(o.Service), nil
	}
	return protocol.Service{}, protocol.NewFault(protocol.FaultNotFound, fmt.Sprintf("there is no service %s: network_directory lists them", id))
}

// Visit returns the enabled service whose host name begins with name, and a context that ends when
// the service changes. Without such a service, ok is false.
func (s *Services) Visit(name string) (v protocol.Service, ctx context.Context, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, o := range s.open {
		if o.Name == name && o.Enabled {
			return s.described(o.Service), o.ctx, true
		}
	}
	return protocol.Service{}, nil, false
}

// Definition is what a new service shall be.
type Definition struct {
	NodeID   protocol.NodeID
	Title    string // empty for the machine and the port
	Target   Target
	Enabled  bool
	SignIn   bool
	Visitors []string // see [ParsePattern]
	// Certificate is the fingerprint of the target's certificate to trust; may be empty.
	Certificate string
}

// Check returns why a service cannot be published, as a *protocol.Fault.
func (d Definition) Check() error {
	if _, err := patterns(nil, d.Visitors); err != nil {
		return err
	}
	return checkTitle(d.title())
}

func (d Definition) title() string {
	return cmp.Or(strings.TrimSpace(d.Title), fmt.Sprintf("%s %d", d.NodeID, d.Target.Port))
}

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

// Ports of services are chosen from these.
const (
	firstPort = 8800
	lastPort  = 9799
)

// freePorts returns two ports that no other service has and no other program uses; 0 if none is
// left.
func (s *Services) freePorts() (network, local int) {
	taken := make(map[int]bool)
	for _, v := range s.List() {
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

// Change changes some fields of a service; nil leaves a field as it is.
type Change struct {
	Title           *string
	Target          *Target // a new one is not trusted without Certificate
	Certificate     *string
	Enabled, SignIn *bool
}

// Check returns why a service cannot be changed so, as a *protocol.Fault.
func (c Change) Check(v protocol.Service) error {
	if c.Title != nil {
		if err := checkTitle(strings.TrimSpace(*c.Title)); err != nil {
			return err
		}
	}
	if !value(c.SignIn, v.SignIn) && len(v.Visitors) > 0 {
		return protocol.NewFault(protocol.FaultFailedPrecondition, "the service has a list of visitors, who sign in: clear it with service_share and the action revoke first")
	}
	return nil
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

func value[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

// Actions of [Services.Share].
const (
	ShareList   = "list"
	ShareAdd    = "add"
	ShareRemove = "remove"
	ShareRevoke = "revoke" // removes all
)

// CheckShare returns why [Services.Share] would refuse its arguments, as a *protocol.Fault.
func CheckShare(action string, emails []string) error {
	switch action {
	case ShareAdd, ShareRemove:
		if len(emails) == 0 {
			return invalid("the action %s needs emails", action)
		}
	case ShareList, ShareRevoke:
	default:
		return invalid("the action is %q; it can be list, add, remove or revoke", action)
	}
	_, err := patterns(nil, emails)
	return err
}

// Share changes or lists who may visit a service. The visits of those who are taken off the list
// end, also if they were let in for some time. The error is a *protocol.Fault, or that of the
// store.
func (s *Services) Share(ctx context.Context, id protocol.ServiceID, action string, emails []string, by string) (protocol.Service, error) {
	if err := CheckShare(action, emails); err != nil {
		return protocol.Service{}, err
	}
	if action == ShareList {
		return s.Get(id)
	}
	var gone []string
	isGone := func(v store.Visit) bool { return v.IsGranted && (action == ShareRevoke || Matches(gone, v.Email)) }
	return s.edit(ctx, id, "changed the visitors of", by, isGone, func(v *protocol.Service) (err error) {
		switch action {
		case ShareAdd:
			v.SignIn = true
			v.Visitors, err = patterns(v.Visitors, emails)
		case ShareRemove:
			gone, err = patterns(nil, emails)
			v.Visitors = slices.DeleteFunc(slices.Clone(v.Visitors), func(p string) bool { return slices.Contains(gone, p) })
		case ShareRevoke:
			v.Visitors = []string{}
		}
		return err
	})
}

// maxVisitors is the greatest number of addresses and patterns of a service.
const maxVisitors = 1000

// patterns adds email addresses and patterns to a list, each once.
func patterns(list, more []string) ([]string, error) {
	list = append([]string{}, list...)
	for _, text := range more {
		p, err := ParsePattern(text)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	if len(list) > maxVisitors {
		return nil, invalid("a service has at most %d addresses: use a pattern such as *@company.com", maxVisitors)
	}
	return list, nil
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
	s.mu.Lock()
	s.open[id].cut()
	delete(s.open, id)
	s.mu.Unlock()
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

// put stores a service and ends its visits: all of them, or with gone only those for which it
// returns true, which are deleted, and those whom the service does not let in any more.
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
		who = "switched off"
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

// maxTitle is the greatest length of a title, in bytes.
const maxTitle = 200

func checkTitle(title string) error {
	if title == "" || len(title) > maxTitle || strings.ContainsFunc(title, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return invalid("the title must be one line of 1 to %d bytes", maxTitle)
	}
	return nil
}

// nameFor returns a host name's first part for a title. Its end is random, so that nobody finds a
// service by its title, and two have never the same.
func nameFor(title string) string {
	slug := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return ' '
	}, title)
	slug = strings.Join(strings.Fields(slug), "-")
	return strings.Trim(slug[:min(len(slug), 40)]+"-"+strings.ToLower(rand.Text()[:10]), "-")
}

// Package address opens the listeners at which published services are reached, as the settings say:
// one for the owner's domain, and ports of single services. It says at which addresses a service
// is.
package address

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"fairlead/gateway/config"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/peer/wake"
	"fairlead/gateway/protocol"
	"fairlead/gateway/service"
)

// Options configure the addresses. All fields are required, unless they say otherwise.
type Options struct {
	Home    string
	Secrets keychain.Store // of the certificate of ports
	Config  func() config.Config
	Gateway func() *net.TCPAddr // of the gateway's own listener; nil without one
	Network func() protocol.NetworkStatus
	// Services returns the services, without asking for their addresses.
	Services func() []protocol.Service
	// Serve serves a request to the service with this name.
	Serve func(name string, w http.ResponseWriter, r *http.Request)
	// Callback serves the name below the domain to which providers of sign-in send browsers back.
	Callback http.HandlerFunc
	// Changed is called when the problems have changed.
	Changed func()
	// ACMEClient is for tests; nil uses the usual one.
	ACMEClient *http.Client
}

// Addresses are the listeners of the services. They are safe for concurrent use.
type Addresses struct {
	o     Options
	certs *issuers

	sync sync.Mutex // held while listeners start and stop; locked before mu

	mu       sync.Mutex // guards the fields below
	running  bool       // between the start and the end of Run
	open     map[spec]*listener
	reported []string // the problems of the last report
}

// New returns addresses that are closed until Run.
func New(o Options) *Addresses {
	a := &Addresses{o: o, open: make(map[spec]*listener)}
	a.certs = &issuers{folder: filepath.Join(o.Home, "certificates"), allows: a.isInUse, client: o.ACMEClient}
	return a
}

// retryInterval is the time after which a listener that could not start is tried again: an
// interface may come up later. Certificates are looked at as often.
const retryInterval = 15 * time.Second

// Run keeps the listeners open until ctx ends.
func (a *Addresses) Run(ctx context.Context) {
	a.setRunning(true)
	a.Sync()
	wake.Every(ctx, retryInterval, a.Sync)
	a.setRunning(false)
	a.Sync()
}

func (a *Addresses) setRunning(on bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.running = on
}

// ConfigChanged follows a changed setting.
func (a *Addresses) ConfigChanged(string) { a.Sync() }

// Sync opens and closes listeners so that they are those of the settings and services of now. It
// returns when they are open.
func (a *Addresses) Sync() {
	a.sync.Lock()
	defer a.sync.Unlock()
	want := a.specs()
	a.mu.Lock()
	old := a.open
	a.mu.Unlock()
	next := make(map[spec]*listener, len(want))
	for s, l := range old {
		if slices.Contains(want, s) && l.works() {
			next[s] = l
		} else {
			l.close()
		}
	}
	for _, s := range want {
		if next[s] == nil {
			next[s] = a.start(s)
		}
	}
	a.mu.Lock()
	a.open = next
	a.mu.Unlock()
	a.report()
}

// report logs new problems, and reports that they changed.
func (a *Addresses) report() {
	problems := a.Problems()
	a.mu.Lock()
	before := a.reported
	a.reported = problems
	a.mu.Unlock()
	if slices.Equal(before, problems) {
		return
	}
	for _, p := range problems {
		if !slices.Contains(before, p) {
			slog.Warn("An address of published apps does not work", "err", p)
		}
	}
	a.o.Changed()
}

// Problems are why listeners do not work, in the order of their addresses.
func (a *Addresses) Problems() []string {
	a.mu.Lock()
	var list []string
	for _, l := range a.open {
		if p := l.problem(); p != "" {
			list = append(list, p)
		}
	}
	a.mu.Unlock()
	slices.Sort(list)
	return list
}

// isInUse reports whether a name below the domain leads somewhere: to a service that is switched
// on, or to the sign-in.
func (a *Addresses) isInUse(name string) bool {
	return name == service.SignInName || slices.ContainsFunc(a.o.Services(), func(v protocol.Service) bool { return v.Enabled && v.Name == name })
}

// specs returns the listeners that the settings ask for.
func (a *Addresses) specs() []spec {
	a.mu.Lock()
	running := a.running
	a.mu.Unlock()
	if !running {
		return nil
	}
	c := a.o.Config()
	s := c.Services
	var list []spec
	if s.Domain != "" && s.Listen != "" {
		list = append(list, domainSpec(s))
	}
	if s.Domain != "" && s.RedirectListen != "" {
		list = append(list, redirectSpec(s))
	}
	for _, v := range a.o.Services() {
		if v.Enabled && s.NetworkPorts && c.Network.Enabled && v.NetworkPort != 0 {
			list = append(list, networkSpec(c.Network.Listen, v))
		}
		if v.Enabled && s.LocalPorts && v.LocalPort != 0 {
			list = append(list, localSpec(v))
		}
	}
	return list
}

// Of returns the addresses of a service, the best one first.
func (a *Addresses) Of(v protocol.Service) []protocol.ServiceAddress {
	c := a.o.Config()
	s := c.Services
	var list []protocol.ServiceAddress
	if s.Domain != "" && s.Listen != "" {
		list = append(list, protocol.ServiceAddress{URL: a.URL(v.Name), From: protocol.FromAnywhere, Problem: a.problemOf(domainSpec(s))})
	}
	if s.NetworkPorts && c.Network.Enabled && v.NetworkPort != 0 {
		problem := a.problemOf(networkSpec(c.Network.Listen, v))
		for _, host := range a.networkHosts() {
			list = append(list, protocol.ServiceAddress{URL: "https://" + net.JoinHostPort(host, strconv.Itoa(v.NetworkPort)), From: protocol.FromNetwork, Problem: problem})
		}
	}
	if at := a.o.Gateway(); at != nil {
		list = append(list, protocol.ServiceAddress{URL: service.LocalURL(v.Name, at.Port), From: protocol.FromBrowser})
	}
	if s.LocalPorts && v.LocalPort != 0 {
		list = append(list, protocol.ServiceAddress{URL: fmt.Sprintf("http://127.0.0.1:%d", v.LocalPort), From: protocol.FromComputer, Problem: a.problemOf(localSpec(v))})
	}
	return list
}

// URL returns the address of a name below the domain, for browsers.
func (a *Addresses) URL(name string) string {
	s := a.o.Config().Services
	host := name + "." + s.Domain
	if port := a.publicPort(s); port != "443" {
		host = net.JoinHostPort(host, port)
	}
	return "https://" + host
}

// publicPort returns the port at which browsers reach the domain.
func (a *Addresses) publicPort(s config.Services) string {
	switch {
	case s.PublicPort != 0:
		return strconv.Itoa(s.PublicPort)
	case s.Certificate == byProxy || s.Listen == "":
		return "443"
	}
	at := s.Listen
	a.mu.Lock()
	if l := a.open[domainSpec(s)]; l != nil && l.at != nil {
		at = l.at.String() // with the port that was chosen for 0
	}
	a.mu.Unlock()
	_, port, _ := net.SplitHostPort(at) // checked when it was set
	return port
}

// networkHosts are the hosts under which others reach the network listener.
func (a *Addresses) networkHosts() []string {
	var hosts []string
	for _, address := range a.o.Network().Addresses {
		if host, _, err := net.SplitHostPort(address); err == nil {
			hosts = append(hosts, host)
		}
	}
	return hosts
}

// problemOf returns why a listener does not work; empty if it does.
func (a *Addresses) problemOf(s spec) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if l := a.open[s]; l != nil {
		return l.problem()
	}
	return "the gateway does not listen there now"
}

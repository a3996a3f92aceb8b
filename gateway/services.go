package gateway

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/config"
	"fairlead/gateway/native"
	"fairlead/gateway/peer/publicnet"
	"fairlead/gateway/protocol"
	"fairlead/gateway/service"
	"fairlead/gateway/service/address"
	"fairlead/gateway/signin"
	"fairlead/gateway/tool"
)

// openServices opens the published services, the site that serves them, and its addresses.
func (g *Gateway) openServices(ctx context.Context) (err error) {
	g.addresses = address.New(address.Options{
		Home: g.home, Secrets: g.secrets, Config: g.config.Get, Gateway: g.listenAddr, Network: g.network.Status,
		Services: func() []protocol.Service { return g.services.Stored() }, Serve: func(name string, w http.ResponseWriter, r *http.Request) { g.site.ServeName(name, w, r) },
		Callback: func(w http.ResponseWriter, r *http.Request) { g.site.ServeCallback(w, r) },
		Changed:  func() { g.status.publish() },
	})
	if g.services, err = service.Open(ctx, g.store.Services, g.bus, g.addresses.Of); err != nil {
		return err
	}
	g.services.OnChange(g.addresses.Sync)
	g.config.OnChange(g.addresses.ConfigChanged)
	g.signIn = signin.New(signin.Options{
		Config: func() config.Services { return g.config.Get().Services }, Secret: g.config.Secret, Base: g.signInBase, Passkeys: g.store.Services,
		Link: func(ctx context.Context, v protocol.Service, email string) (string, error) {
			return g.visits.Link(ctx, v, email)
		},
	})
	g.shown = newServiceTerminals(g.terminals, g.services.List, g.bus)
	g.visits = service.NewVisits(g.store.Services, g.signIn)
	g.site, err = service.NewSite(ctx, service.Options{
		Services: g.services, Visits: g.visits, Requests: g.store.Services, Passkeys: g.store.Services, Uses: g.store.Services, Questions: g.questions, Bus: g.bus,
		Zone: func() *time.Location { return g.config.Get().Zone() }, MachineName: g.hub.NameOf,
		Dial: func(ctx context.Context, node protocol.NodeID, id protocol.ServiceID, t service.Target) (net.Conn, error) {
			return g.tunnels.Dial(ctx, node, protocol.StreamHeader{Kind: protocol.StreamHTTP, Service: string(id), Target: t.Address()})
		},
		AskCertificate: g.askAboutCertificate, Terminals: g.shown,
	})
	return err
}

// askAboutCertificate asks the owner whether to trust the certificate that an app shows. A yes to
// one that an authority vouches for trusts such certificates from then on: they are renewed often.
func (g *Gateway) askAboutCertificate(v protocol.Service, unknown *service.UnknownCertificate) (isDenied bool) {
	trusted := unknown.Fingerprint()
	if unknown.IsValid {
		trusted = ""
	}
	_, err := tool.Outcome(g.calls.Run(context.Background(), tool.Call{
		Tool: protocol.NewToolName(protocol.NativePrefix, native.ServiceUpdate), Args: protocol.Encode(native.UpdateIn{Service: v.ID, Certificate: &trusted}),
		Principal: auth.Owner("a visit to " + v.Title),
	}))
	f, ok := errors.AsType[*protocol.Fault](err)
	return ok && f.Code == protocol.FaultPermissionDenied
}

// probe looks at the target of a service before it is published, as [service.Site.Probe] does. The
// error for a target that is this gateway itself is a *protocol.Fault.
func (g *Gateway) probe(ctx context.Context, id protocol.NodeID, t service.Target) error {
	node, _ := g.hub.Node(id)
	isHere := node.Local || node.Host != nil && publicnet.IsLoopback(node.Host.Address)
	isLoopback := publicnet.IsLoopback(t.Host) || strings.HasSuffix(t.Host, ".localhost")
	own := g.network.Status().Addresses
	if g.listener != nil {
		own = append(own, g.listener.Addr().String())
	}
	for _, at := range own {
		host, port, _ := net.SplitHostPort(at)
		if port == strconv.Itoa(t.Port) && (isHere && isLoopback || host == t.Host && !isLoopback) {
			return protocol.NewFault(protocol.FaultInvalidArgs, fmt.Sprintf("the target %s is this gateway itself, which visitors must not reach: give the address of an app", t))
		}
	}
	return g.site.Probe(ctx, id, t)
}

// signInBase returns the gateway's own address for browsers that visit the host of a request.
// Providers send them back to it. It is not 127.0.0.1, which some providers do not accept. A port
// for other computers has none.
func (g *Gateway) signInBase(r *http.Request) string {
	at, domain := g.listenAddr(), g.config.Get().Services.Domain
	switch {
	case address.IsBelow(r, domain):
		return g.addresses.URL(service.SignInName)
	case at == nil, r.TLS != nil:
		return ""
	}
	return fmt.Sprintf("http://localhost:%d", at.Port)
}

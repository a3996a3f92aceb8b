package rpc

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/channel"
	"fairlead/gateway/nodes"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/wire"
	"fairlead/gateway/protocol"
)

// handshake handles a connect request (docs/protocol.md#connect).
type handshake struct {
	*request
	params    protocol.ConnectParams
	principal auth.Principal
}

// connect handles the handshake, with GSV's order of checks. Two things differ from the original: a
// 401 response reaches the peer before the socket closes, and a second connect on the same socket
// is refused.
func (r *request) connect(ctx context.Context) (any, error) {
	if r.conn.socket.isConnected() {
		return nil, protocol.ErrConflict.With("this connection has shaken hands already")
	}
	h := &handshake{request: r}
	if err := json.Unmarshal(r.Params, &h.params); err != nil {
		return nil, protocol.ErrInvalidConnect.With("Invalid connect: " + protocol.Problem(err))
	}
	if h.params.MinProtocol != protocol.Version {
		return nil, protocol.ErrVersion
	}
	if err := h.authenticate(ctx); err != nil {
		return nil, h.refuse(err)
	}
	h.params.Auth = nil // verified; the token is not retained
	if err := h.attach(ctx); err != nil {
		return nil, err
	}
	if h.principal.Device != "" {
		if err := h.registerDevice(ctx); err != nil {
			return nil, h.refuse(err)
		}
	}
	r.conn.establish(h.params.Client, h.principal)
	if h.params.Client.Mode == protocol.ModeClient {
		r.conn.server.conns.replaceClient(r.conn)
		r.afterResponse(func() { r.conn.feed.pushChat(slices.Contains(h.params.Extensions, protocol.ExtDeltas)) })
	}
	return h.hello(), nil
}

func (h *handshake) authenticate(ctx context.Context) (err error) {
	h.principal, err = h.conn.server.authenticate(ctx, h.conn.origin, h.params.Client, h.params.Auth)
	return err
}

// origin is where a connection comes from.
type origin struct {
	trusted *auth.Principal // of a connection that only this process can make; nil for others
	binding []byte          // of the TLS session, for connections from the network
	remote  string          // the peer's host
}

// authenticate returns who a peer is.
func (s *Server) authenticate(ctx context.Context, from origin, client protocol.ClientInfo, credentials *protocol.Auth) (p auth.Principal, err error) {
	switch {
	case from.trusted != nil:
		p = *from.trusted
	case from.binding != nil: // from the network: only paired devices
		if p, err = s.services.Devices.Authenticate(ctx, credentials, string(client.Mode), from.binding); err != nil {
			return p, err
		}
		if p.Role == protocol.RoleNode && client.ID != p.Name {
			return p, protocol.ErrForbidden.With("this machine was paired as " + p.Name)
		}
	default:
		token := ""
		if credentials != nil {
			token = credentials.Token
		}
		if s.services.Verify(ctx, token) != nil {
			return p, protocol.ErrUnauthorized
		}
		p = auth.Owner(client.ID)
	}
	return p, nil
}

// refuse logs a refused login and closes the connection after the response. It returns why.
func (h *handshake) refuse(why error) error {
	h.conn.server.refusals.add(h.conn.origin.remote, why)
	h.afterResponse(func() { h.conn.socket.Close(protocol.CloseUnauthorized, "Unauthorized") })
	return why
}

// attach checks the parameters of the mode, and registers a node or a channel.
func (h *handshake) attach(ctx context.Context) error {
	client := h.params.Client
	switch {
	case client.Mode == protocol.ModeNode:
		return h.attachNode(ctx)
	case client.Mode != protocol.ModeClient && client.Mode != protocol.ModeChannel:
		return protocol.ErrInvalidConnect.With("Invalid client mode")
	case client.Mode == protocol.ModeChannel && client.Channel == "":
		return protocol.ErrInvalidConnect.With("Channel mode requires channel field")
	case client.ID == "":
		return protocol.ErrInvalidConnect.With("Client id required")
	case client.Mode == protocol.ModeChannel:
		return h.attachChannel()
	}
	if err := checkID("Client id", client.ID); err != nil {
		return protocol.ErrInvalidConnect.With(err.Error())
	}
	return nil
}

func (h *handshake) attachNode(ctx context.Context) error {
	services, p, listens := &h.conn.server.services, h.params, make(chan struct{})
	entry := nodes.Entry{Local: h.conn.origin.trusted != nil}
	if h.principal.Device != "" {
		entry = services.Devices.Admit(ctx, h.principal, p)
	}
	entry.Sequence, entry.Listens = h.conn.sequence, listens
	if !entry.Local {
		entry.Address = h.conn.origin.remote
	}
	h.afterResponse(func() { nodes.Listening(p, listens) })
	detach, err := services.Nodes.Attach(context.WithoutCancel(ctx), p, entry, h.conn.socket)
	h.params.Programs, h.params.Environment, h.params.Calls = nil, nil, nil // the node registry retains them
	if err != nil {
		return err
	}
	h.conn.onClose(detach)
	if h.principal.Device == "" {
		h.principal = auth.Node(protocol.NodeID(p.Client.ID))
	}
	h.afterResponse(func() { wire.Ping(h.conn.socket.ws) }) // measures the latency at once
	return nil
}

// attachChannel registers the connection as a channel, for one account of one channel only.
func (h *handshake) attachChannel() error {
	if err := channel.Name(&h.params); err != nil {
		return err
	}
	ready, detach, err := h.conn.server.services.Channels.Programs.Attach(h.params, h.conn.socket)
	if err != nil {
		return err
	}
	h.conn.onClose(detach)
	h.afterResponse(ready)
	h.principal = auth.Channel(h.params.Client.Channel, h.params.Client.AccountID)
	return nil
}

// registerDevice registers a device's connection until it closes. An error that is only about
// storing the contact is logged.
func (h *handshake) registerDevice(ctx context.Context) error {
	left, err := h.conn.server.services.Devices.Connected(context.WithoutCancel(ctx), h.principal.Device, h.conn.origin.remote)
	if left == nil {
		return err
	}
	if err != nil {
		slog.Warn("The time of a device's connection could not be stored", "device", h.principal.Device, "err", err)
	}
	h.conn.onClose(left)
	return nil
}

func (h *handshake) hello() protocol.ConnectResult {
	hello := protocol.ConnectResult{
		Type: protocol.HelloOK, Protocol: protocol.Version,
		Server:   protocol.ServerInfo{Version: h.conn.server.services.Version, ConnectionID: h.conn.id},
		Features: protocol.Features{Events: protocol.Events, Extensions: protocol.Extensions},
	}
	for _, m := range protocol.Methods {
		hello.Features.Methods = append(hello.Features.Methods, m.Name)
	}
	return hello
}

const (
	// refusedEvery is the interval at which further refused logins of an address are logged as a
	// count.
	refusedEvery = time.Minute
	// maxRefusedFrom limits the addresses that are counted separately; all others share
	// otherAddresses.
	maxRefusedFrom = 64
	otherAddresses = "other addresses"
)

// refusals writes refused logins to the log and the audit log: the first of an address at once,
// then their number each minute until a minute passes without one. So guessing tokens is visible,
// and cannot fill the disk with log lines.
type refusals struct {
	audit func(ctx context.Context, lines ...protocol.AuditEntry) error

	mu     sync.Mutex     // guards the fields below
	counts map[string]int // address to the number of refused logins since its last log line
	timer  *time.Timer    // runs while more is not empty
}

// add counts a refused login from an address. why never contains the token.
func (r *refusals) add(address string, why error) {
	r.mu.Lock()
	if _, known := r.counts[address]; !known && len(r.counts) >= maxRefusedFrom {
		address = otherAddresses
	}
	if _, known := r.counts[address]; known {
		r.counts[address]++
		r.mu.Unlock()
		return
	}
	if len(r.counts) == 0 {
		r.counts = make(map[string]int)
		r.timer = crash.AfterFunc(refusedEvery, r.report)
	}
	r.counts[address] = 0
	r.mu.Unlock()
	slog.Warn("Login refused", "from", address, "reason", why)
	r.record("refused from " + address)
}

// report logs the counts of the last minute and removes the addresses that had none.
func (r *refusals) report() {
	r.mu.Lock()
	counts := maps.Clone(r.counts)
	for address, n := range r.counts {
		r.counts[address] = 0
		if n == 0 {
			delete(r.counts, address)
		}
	}
	if len(r.counts) > 0 {
		r.timer.Reset(refusedEvery)
	}
	r.mu.Unlock()
	for _, address := range slices.Sorted(maps.Keys(counts)) {
		if n := counts[address]; n > 0 {
			slog.Warn("Logins refused", "from", address, "count", n)
			r.record(fmt.Sprintf("%d more refused from %s", n, address))
		}
	}
}

func (r *refusals) record(what string) {
	line := protocol.AuditEntry{At: time.Now().UnixMilli(), Kind: protocol.AuditLogin, By: "nobody", What: what, Verdict: "deny"}
	if err := r.audit(context.Background(), line); err != nil {
		slog.Warn("A refused login is missing from the audit log", "err", err)
	}
}

// close logs the remaining counts. add must not be called afterwards.
func (r *refusals) close() {
	r.mu.Lock()
	running := r.timer != nil && r.timer.Stop()
	r.mu.Unlock()
	if running {
		r.report()
		r.timer.Stop()
	}
}

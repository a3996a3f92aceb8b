package protocol

import (
	"fmt"
	"net"
	"strconv"
	"strings"
)

// ExtTunnel: the node opens its tunnel when it gets the tunnel.open event (docs/protocol.md#tunnels).
const ExtTunnel = "tunnel"

// EventTunnelOpen asks a node that names [ExtTunnel] to open its tunnel (extension).
const EventTunnelOpen = "tunnel.open"

// TunnelOpen is the payload of tunnel.open. The node returns the ticket in its [TunnelConnectParams].
type TunnelOpen struct {
	Ticket string `json:"ticket"`
}

// TunnelPath replaces the last part of the gateway's address for the connections that carry streams.
const TunnelPath = "tunnel"

// The first request of a connection at [TunnelPath]. After the response, the connection carries
// streams.
var (
	// TunnelConnect is of a node: the gateway opens streams.
	TunnelConnect = Method[TunnelConnectParams, OK]{"tunnel.connect", ScopeNode, nodes, extension}
	// ForwardConnect is of a client or a connected app: it opens a stream for each connection to its
	// local port.
	ForwardConnect = Method[ForwardConnectParams, Forward]{"forward.connect", ScopeInvoke, clients, extension}
)

// TunnelConnectParams authenticates a node's tunnel, like connect.
type TunnelConnectParams struct {
	Client ClientInfo `json:"client"`
	Auth   *Auth      `json:"auth,omitempty"`
	Ticket string     `json:"ticket"`
}

// Kinds of streams.
const (
	StreamTCP  = "tcp"
	StreamHTTP = "http"
	StreamPTY  = "pty"
)

// StreamHeader is the first line of a stream, as JSON. The other side answers with a [StreamAnswer],
// also in one line; after that, bytes follow in both directions.
type StreamHeader struct {
	Kind    string `json:"kind"`              // tcp, http or pty
	Service string `json:"service,omitempty"` // the name of the published service; empty for a forward
	Target  string `json:"target"`            // host:port; a forward's own streams leave it empty
	Size    int64  `json:"size,omitempty"`    // bytes that follow, if they are known
}

// StreamAnswer says whether a stream was accepted.
type StreamAnswer struct {
	OK    bool   `json:"ok"`
	Error *Fault `json:"error,omitempty"`
}

// ForwardID names an open forward.
type ForwardID string

// Forward is a local port of a client that leads to a port of a machine. It exists as long as the
// client's connection for it.
type Forward struct {
	ID          ForwardID `json:"id"`
	Node        NodeID    `json:"nodeId"`
	Target      string    `json:"target"` // host:port, as the machine dials it
	Listen      string    `json:"listen"` // host:port at the client, as the client reports it
	By          string    `json:"by"`     // the principal
	App         AppID     `json:"app,omitempty"`
	Device      DeviceID  `json:"device,omitempty"`
	Client      string    `json:"client"`            // client.id
	Address     string    `json:"address,omitempty"` // the host from which the client is connected; empty: the gateway's own process
	Connections int       `json:"connections"`       // that are open now
	Total       int64     `json:"total"`             // connections so far, with those that failed
	Sent        int64     `json:"sent"`              // bytes to the machine
	Received    int64     `json:"received"`          // bytes from the machine
	Since       int64     `json:"since"`
	LastUsedAt  int64     `json:"lastUsedAt,omitempty"` // when the last bytes passed; 0: never
}

// ForwardConnectParams opens a forward.
type ForwardConnectParams struct {
	Client ClientInfo `json:"client"`
	Auth   *Auth      `json:"auth,omitempty"`
	Node   NodeID     `json:"nodeId"`
	Target string     `json:"target"` // host:port
	Listen string     `json:"listen"` // the local address, for lists
}

// ForwardListResult lists the open forwards, oldest first.
type ForwardListResult struct {
	Forwards []Forward `json:"forwards"`
}

// ForwardParams names a forward.
type ForwardParams struct {
	ID ForwardID `json:"id"`
}

// The methods for forwards.
var (
	ForwardList  = Method[Empty, ForwardListResult]{"forward.list", ScopeRead, clients, extension}
	ForwardClose = Method[ForwardParams, OK]{"forward.close", ScopeInvoke, clients, extension}
)

// OwnHost is the host of a target on the machine itself.
const OwnHost = "localhost"

// maxHost is the longest name of a host (RFC 1035, section 2.3.4).
const maxHost = 253

// SplitTarget splits a target, host:port. An IPv6 address is in brackets. The error is
// ErrBadRequest.
func SplitTarget(target string) (host string, port uint16, err error) {
	host, text, err := net.SplitHostPort(target)
	n, portErr := strconv.ParseUint(text, 10, 16)
	switch {
	case err != nil || host == "" || len(host) > maxHost || strings.ContainsFunc(host, isNoHost):
		return "", 0, ErrBadRequest.With(fmt.Sprintf("%.80q is not a target: write PORT or HOST:PORT, such as 8080 or db.lan:5432", target))
	case portErr != nil || n == 0:
		return "", 0, ErrBadRequest.With(fmt.Sprintf("%.80q: a port is a number from 1 to 65535", target))
	}
	return host, uint16(n), nil
}

// isNoHost reports whether a character is in no name or address of a host. Zones of addresses are
// not supported: they mean something on one machine only.
func isNoHost(r rune) bool {
	return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune(".-_:", r))
}

// ParseForward splits NODE:PORT or NODE:HOST:PORT into the machine and its target, host:port. An
// IPv6 address is in brackets. The error is ErrBadRequest.
func ParseForward(text string) (node NodeID, target string, err error) {
	name, target, ok := strings.Cut(text, ":")
	if !ok || name == "" {
		return "", "", ErrBadRequest.With(fmt.Sprintf("%.80q names no port of a machine: write NODE:PORT or NODE:HOST:PORT", text))
	}
	if !strings.Contains(target, ":") {
		target = net.JoinHostPort(OwnHost, target)
	}
	_, _, err = SplitTarget(target)
	return NodeID(name), target, err
}

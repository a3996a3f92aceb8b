package gateway_test

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead/gateway"
	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/gateway/protocol/secret"
	"fairlead/gateway/protocol/trust"
	"fairlead/node"
)

// house is a gateway whose network is on, with its owner at the window.
type house struct {
	t       *testing.T
	gw      *gateway.Gateway
	owner   *client.Client
	changes chan protocol.Change
	home    string
}

func openHouse(t *testing.T) *house {
	t.Helper()
	t.Setenv("FAIRLEAD_SECRETS", "file")
	t.Setenv("FAIRLEAD_TOKEN", "gateway-token-of-the-test")
	h := &house{t: t, home: t.TempDir(), changes: make(chan protocol.Change, 1000)}
	slog.SetDefault(slog.New(slog.DiscardHandler))
	gw, err := gateway.Open(t.Context(), gateway.Options{Home: h.home, Listen: "127.0.0.1:0", Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	h.gw = gw
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { gw.Run(ctx) })
	h.owner = client.New(client.Options{URL: "ws://memory/ws", Dial: gw.DialOwner(), Connect: func() protocol.ConnectParams { return gateway.ClientParams("window") }})
	wg.Go(func() { h.owner.Run(ctx) })
	wg.Go(func() {
		h.owner.Feed(ctx, func(protocol.FeedSnapshot) {}, func(c protocol.Change) {
			select {
			case h.changes <- c:
			default:
			}
		})
	})
	t.Cleanup(func() {
		cancel()
		wg.Wait()
		gw.Close(context.Background())
	})
	h.until("the owner is connected", h.owner.Connected)
	ask(h, protocol.ConfigSet, protocol.ConfigSetParams{Path: "network.listen", Value: json.RawMessage(`"127.0.0.1:0"`)})
	if n := h.list().Network; n.Listening || n.Enabled {
		t.Fatalf("the network is on before anybody turned it on: %+v", n)
	}
	ask(h, protocol.ConfigSet, protocol.ConfigSetParams{Path: "network.enabled", Value: json.RawMessage(`true`)})
	h.until("the network is on", func() bool { return h.list().Network.Listening })
	return h
}

// ask calls a method as the owner.
func ask[P, R any](h *house, m protocol.Method[P, R], p P) R {
	h.t.Helper()
	r, err := client.Call(h.t.Context(), h.owner, m, p)
	if err != nil {
		h.t.Fatalf("%s: %v", m.Name, err)
	}
	return r
}

func (h *house) list() protocol.DeviceListResult {
	h.t.Helper()
	return ask(h, protocol.DeviceList, protocol.Empty{})
}

func (h *house) until(what string, ok func() bool) {
	h.t.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			h.t.Fatalf("never came: %s", what)
		}
	}
}

// request waits for the one request of a kind.
func (h *house) request(kind string) (r protocol.DeviceRequest) {
	h.t.Helper()
	h.until("a request to "+kind, func() bool {
		for _, one := range h.list().Requests {
			if one.Kind == kind {
				r = one
				return true
			}
		}
		return false
	})
	return r
}

// peerBox is a device with a home of its own.
type peerBox struct {
	id    trust.Identity
	peers *trust.Peers
	name  string
	work  string // folder its node works in
}

func newMachine(t *testing.T, name string) *peerBox {
	t.Helper()
	dir := t.TempDir()
	secrets := secret.Open(dir)
	id, err := trust.OpenIdentity(secrets)
	if err != nil {
		t.Fatal(err)
	}
	return &peerBox{id: id, peers: trust.OpenPeers(dir, secrets), name: name, work: t.TempDir()}
}

func (m *peerBox) taker(role string) trust.Taker {
	t := trust.Taker{Identity: m.id, Applicant: trust.Applicant{Role: role, Name: m.name, OS: "Debian", Hostname: m.name, Platform: "linux-x64"}}
	if role == protocol.RoleNode {
		t.Applicant.NodeID = protocol.NodeID(m.name)
		t.Applicant.Reach = &protocol.Reach{}
	}
	return t
}

type paired struct {
	done trust.Done
	err  error
}

// pair has a machine pair in the background.
func pair(t *testing.T, addresses []string, taker trust.Taker) chan paired {
	out := make(chan paired, 1)
	go func() {
		done, err := client.Pair(t.Context(), addresses, taker)
		out <- paired{done, err}
	}()
	return out
}

// bring pairs a machine by link, with the owner's yes.
func (h *house) bring(m *peerBox, taker trust.Taker) trust.Peer {
	h.t.Helper()
	invite := ask(h, protocol.DeviceInviteTo, protocol.DeviceInviteParams{Role: taker.Applicant.Role})
	link, err := trust.ParseLink(invite.Link)
	if err != nil {
		h.t.Fatal(err)
	}
	taker.Link = &link
	var shown []string
	taker.OnWaiting = func(words []string, _ int) { shown = words }
	out := pair(h.t, link.Addresses, taker)
	r := h.request(protocol.RequestPair)
	if r.Device.Name != m.name || r.Device.OS != "Debian" || r.Device.Address != "127.0.0.1" || r.Device.Fingerprint != trust.Fingerprint(m.id.Public()) {
		h.t.Errorf("the owner sees %+v", r.Device)
	}
	ask(h, protocol.DeviceApprove, protocol.DeviceRequestParams{ID: r.ID})
	got := <-out
	if got.err != nil {
		h.t.Fatal(got.err)
	}
	if !slices.Equal(shown, r.Words) || len(shown) != 4 {
		h.t.Errorf("the device shows %v, the owner sees %v", shown, r.Words)
	}
	peer, err := m.peers.Put(got.done)
	if err != nil {
		h.t.Fatal(err)
	}
	return peer
}

// node starts the machine's node; the returned channel has how it ended.
func (h *house) node(m *peerBox, pin trust.Pin, confine node.Confinement) (stop func(), ended chan error) {
	h.t.Helper()
	n, err := node.New(node.Options{ID: protocol.NodeID(m.name), Workspace: m.work, Confine: confine, Version: "test",
		Through: func(o client.Options) client.Options { return client.Through(o, m.peers, pin, m.id, nil) }})
	if err != nil {
		h.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(h.t.Context())
	ended = make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	return cancel, ended
}

// info is what the gateway knows of a node.
func (h *house) info(id string) (found protocol.NodeInfo) {
	for _, n := range ask(h, protocol.NodesList, protocol.Empty{}).Nodes {
		if n.ID == protocol.NodeID(id) {
			found = n
		}
	}
	return found
}

// nodeTaker is a taker that says what its node will offer.
func (h *house) nodeTaker(m *peerBox, confine node.Confinement) trust.Taker {
	h.t.Helper()
	n, err := node.New(node.Options{ID: protocol.NodeID(m.name), Workspace: m.work, Confine: confine, URL: "ws://x/ws", Version: "test"})
	if err != nil {
		h.t.Fatal(err)
	}
	taker := m.taker(protocol.RoleNode)
	taker.Applicant.Reach = protocol.ReachOf(n.Hello())
	return taker
}

// connect makes a client of a paired machine, and gives the error of its first handshake.
func (m *peerBox) connect(t *testing.T, pin trust.Pin) (*client.Client, error) {
	t.Helper()
	up, ended := make(chan struct{}, 1), make(chan error, 1)
	o := client.Through(client.Options{Connect: func() protocol.ConnectParams { return gateway.ClientParams("phone") },
		OnUp: func(context.Context, protocol.ConnectResult) { up <- struct{}{} }}, m.peers, pin, m.id, nil)
	c := client.New(o)
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { ended <- c.Run(ctx) })
	t.Cleanup(func() { cancel(); wg.Wait() })
	select {
	case <-up:
		return c, nil
	case err := <-ended:
		return c, err
	case <-time.After(10 * time.Second):
		t.Fatal("no connection")
		return nil, nil
	}
}

func TestAMachineIsPairedByLinkAndItsTokenRotatedAndRevoked(t *testing.T) {
	h := openHouse(t)
	m := newMachine(t, "laptop")
	peer := h.bring(m, h.nodeTaker(m, node.Confinement{}))
	stop, ended := h.node(m, peer.Pin, node.Confinement{})
	defer stop()
	h.until("the node is online", func() bool { return h.info("laptop").Online })
	h.until("its ping is measured", func() bool { return h.info("laptop").PingMs > 0 })
	first, _ := m.peers.Token(peer.Pin)

	ask(h, protocol.DeviceRotate, protocol.DeviceParams{ID: m.id.ID()})
	h.until("it has a new token and is back", func() bool {
		now, _ := m.peers.Token(peer.Pin)
		return now != first && h.info("laptop").Online && h.list().Devices[0].Online
	})
	if d := h.list().Devices[0]; d.RotatedAt != 0 {
		t.Errorf("%+v", d)
	}

	ask(h, protocol.DeviceRevoke, protocol.DeviceParams{ID: m.id.ID()})
	select {
	case err := <-ended:
		if !errors.Is(err, protocol.ErrUnauthorized) {
			t.Errorf("the node ended with %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("a revoked node goes on")
	}
	h.until("a revoked node is shown as offline", func() bool { return !h.info("laptop").Online })
	if d := h.list().Devices[0]; d.Online || d.RevokedAt == 0 {
		t.Errorf("a revoked device is shown as %+v", d)
	}
	// The next contact tells the machine who did it.
	stop2, ended2 := h.node(m, peer.Pin, node.Confinement{})
	defer stop2()
	if err := <-ended2; err == nil || !strings.Contains(err.Error(), "ended by owner") {
		t.Errorf("%v", err)
	}
	if p, err := m.peers.Get(peer.Pin); err != nil || p.Ended == nil || p.Ended.Reason != protocol.RefusedRevoked || p.Ended.By == "" || p.Ended.At == 0 {
		t.Errorf("the machine knows %+v, %v", p.Ended, err)
	}
	// A revoked key fetches no new token, but it can be paired again.
	if _, err := client.Pair(t.Context(), peer.Addresses, trust.Taker{Identity: m.id, Pin: peer.Pin, Renew: true}); !errors.Is(err, protocol.ErrUnauthorized) {
		t.Errorf("renewed after the revocation: %v", err)
	}
	again := h.bring(m, h.nodeTaker(m, node.Confinement{}))
	stop3, _ := h.node(m, again.Pin, node.Confinement{})
	defer stop3()
	h.until("it is back after pairing again", func() bool { return h.info("laptop").Online })
}

func TestAnInvitationCountsOnce(t *testing.T) {
	h := openHouse(t)
	a, b := newMachine(t, "phone"), newMachine(t, "mallory")
	invite := ask(h, protocol.DeviceInviteTo, protocol.DeviceInviteParams{Role: protocol.RoleClient})
	link, _ := trust.ParseLink(invite.Link)
	code, err := trust.ParseCode(invite.Code)
	if err != nil {
		t.Fatal(err)
	}
	first := a.taker(protocol.RoleClient)
	first.Code = &code
	out := pair(t, link.Addresses, first)
	r := h.request(protocol.RequestPair)
	// While it waits, and after it was spent, nobody else gets in by link or code.
	try := func(when string) {
		t.Helper()
		byLink, byCode := b.taker(protocol.RoleClient), b.taker(protocol.RoleClient)
		byLink.Link, byCode.Code = &link, &code
		for door, taker := range map[string]trust.Taker{"link": byLink, "code": byCode} {
			if _, err := client.Pair(t.Context(), link.Addresses, taker); !errors.Is(err, protocol.ErrNotFound) {
				t.Errorf("%s, by %s: %v", when, door, err)
			}
		}
	}
	try("while it is taken")
	ask(h, protocol.DeviceApprove, protocol.DeviceRequestParams{ID: r.ID, Name: "Anna's phone"})
	if got := <-out; got.err != nil || got.done.Device.Name != "Anna's phone" {
		t.Fatalf("%+v", got)
	}
	try("after it was spent")
	if _, err := client.Call(t.Context(), h.owner, protocol.DeviceApprove, protocol.DeviceRequestParams{ID: r.ID}); !errors.Is(err, protocol.ErrNotFound) {
		t.Errorf("approved twice: %v", err)
	}
	if n := len(h.list().Devices); n != 1 {
		t.Errorf("%d devices", n)
	}
}

func TestThreeWrongCodesWithdrawTheInvitation(t *testing.T) {
	h := openHouse(t)
	m := newMachine(t, "mallory")
	invite := ask(h, protocol.DeviceInviteTo, protocol.DeviceInviteParams{Role: protocol.RoleClient})
	code, _ := trust.ParseCode(invite.Code)
	wrong := trust.Code{Number: code.Number, Words: []string{"acorn", "acorn", "zebra"}}
	for i := range 3 {
		taker := m.taker(protocol.RoleClient)
		taker.Code = &wrong
		if _, err := client.Pair(t.Context(), invite.Addresses, taker); !errors.Is(err, protocol.ErrForbidden) {
			t.Errorf("guess %d: %v", i+1, err)
		}
	}
	taker := m.taker(protocol.RoleClient)
	taker.Code = &code
	if _, err := client.Pair(t.Context(), invite.Addresses, taker); !errors.Is(err, protocol.ErrNotFound) {
		t.Errorf("the right code after three guesses: %v", err)
	}
	for {
		select {
		case c := <-h.changes:
			if c.Notice != nil && strings.Contains(c.Notice.Text, "guessed wrong") {
				return
			}
			continue
		case <-time.After(5 * time.Second):
			t.Fatal("the owner was not told")
		}
	}
}

func TestNobodyComesInWithoutTheOwnersYes(t *testing.T) {
	h := openHouse(t)
	m := newMachine(t, "laptop")
	at := h.list().Network.Addresses
	out := pair(t, at, m.taker(protocol.RoleNode))
	r := h.request(protocol.RequestPair)
	// Asking again for something else is another request: an answer to the one that was seen lets nobody in.
	more := m.taker(protocol.RoleClient)
	second := pair(t, at, more)
	if got := <-out; !errors.Is(got.err, protocol.ErrConflict) {
		t.Errorf("the first question: %+v", got)
	}
	if _, err := client.Call(t.Context(), h.owner, protocol.DeviceApprove, protocol.DeviceRequestParams{ID: r.ID}); !errors.Is(err, protocol.ErrNotFound) {
		t.Errorf("a swapped request was approved: %v", err)
	}
	r = h.request(protocol.RequestPair)
	ask(h, protocol.DeviceDeny, protocol.DeviceRequestParams{ID: r.ID})
	if got := <-second; !errors.Is(got.err, protocol.ErrForbidden) || got.done.Token != "" {
		t.Errorf("%+v", got)
	}
	if l := h.list(); len(l.Devices) != 0 || len(l.Requests) != 0 {
		t.Errorf("%+v", l)
	}
	// One that leaves is not waiting any more.
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error, 1)
	go func() {
		_, err := client.Pair(ctx, at, m.taker(protocol.RoleNode))
		left <- err
	}()
	h.request(protocol.RequestPair)
	cancel()
	<-left
	h.until("the request is gone", func() bool { return len(h.list().Requests) == 0 })
}

// TestAManInTheMiddleGetsNothing: he terminates TLS with his own certificate and passes on what he reads.
func TestAManInTheMiddleGetsNothing(t *testing.T) {
	h := openHouse(t)
	his, _, err := auth.OpenCertificate(secret.Open(t.TempDir()), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	real := h.list().Network
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{his}, MinVersion: tls.VersionTLS13})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var mu sync.Mutex
	var heard strings.Builder
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				up, err := tls.Dial("tcp", real.Addresses[0], &tls.Config{InsecureSkipVerify: true})
				if err != nil {
					return
				}
				defer up.Close()
				go io.Copy(c, up)
				buf := make([]byte, 4096)
				for {
					n, err := c.Read(buf)
					mu.Lock()
					heard.Write(buf[:n])
					mu.Unlock()
					if err != nil {
						return
					}
					up.Write(buf[:n])
				}
			}()
		}
	}()
	between := []string{l.Addr().String()}
	m := newMachine(t, "phone")
	invite := ask(h, protocol.DeviceInviteTo, protocol.DeviceInviteParams{Role: protocol.RoleClient})
	link, _ := trust.ParseLink(invite.Link)
	code, _ := trust.ParseCode(invite.Code)
	byLink, byCode := m.taker(protocol.RoleClient), m.taker(protocol.RoleClient)
	byLink.Link, byCode.Code = &link, &code
	if _, err := client.Pair(t.Context(), between, byLink); !errors.Is(err, trust.ErrPin) {
		t.Errorf("link: %v", err)
	}
	mu.Lock()
	if heard.Len() > 0 {
		t.Errorf("he heard %q", heard.String())
	}
	mu.Unlock()
	if _, err := client.Pair(t.Context(), between, byCode); err == nil {
		t.Error("a code was paired through him")
	}
	if n := len(h.list().Requests); n != 0 {
		t.Errorf("%d requests are before the owner", n)
	}
	// Without a secret, the two ends show different words.
	var shown []string
	asks := m.taker(protocol.RoleClient)
	asks.OnWaiting = func(words []string, _ int) { mu.Lock(); shown = words; mu.Unlock() }
	out := pair(t, between, asks)
	h.until("either end gives up or shows words", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return shown != nil || len(out) > 0
	})
	if l := h.list(); len(l.Requests) > 0 && slices.Equal(l.Requests[0].Words, shown) {
		t.Errorf("both ends show %v through a man in the middle", shown)
	}
	for _, r := range h.list().Requests {
		ask(h, protocol.DeviceDeny, protocol.DeviceRequestParams{ID: r.ID})
	}
	<-out
	// A paired device sends him nothing either.
	mu.Lock()
	heard.Reset()
	mu.Unlock()
	if _, _, err := trust.Dial(t.Context(), between, trust.Pin(real.Pin)); !errors.Is(err, trust.ErrPin) {
		t.Errorf("a paired device: %v", err)
	}
	mu.Lock()
	defer mu.Unlock()
	if heard.Len() > 0 {
		t.Errorf("he heard %q", heard.String())
	}
}

func TestADeviceMayDoOnlyWhatItWasPairedFor(t *testing.T) {
	h := openHouse(t)
	invite := ask(h, protocol.DeviceInviteTo, protocol.DeviceInviteParams{Role: protocol.RoleClient, Scopes: []protocol.Scope{protocol.ScopeRead}})
	link, _ := trust.ParseLink(invite.Link)
	m := newMachine(t, "phone")
	taker := m.taker(protocol.RoleClient)
	taker.Link = &link
	out := pair(t, link.Addresses, taker)
	ask(h, protocol.DeviceApprove, protocol.DeviceRequestParams{ID: h.request(protocol.RequestPair).ID})
	got := <-out
	if got.err != nil {
		t.Fatal(got.err)
	}
	peer, err := m.peers.Put(got.done)
	if err != nil {
		t.Fatal(err)
	}
	c, err := m.connect(t, peer.Pin)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Call(t.Context(), c, protocol.StatusGet, protocol.Empty{}); err != nil {
		t.Errorf("status.get: %v", err)
	}
	for _, err := range []error{
		second(client.Call(t.Context(), c, protocol.ChatSend, protocol.ChatSendParams{SessionKey: protocol.MainSession, Message: "x", RunID: "r"})),
		second(client.Call(t.Context(), c, protocol.ConfigSet, protocol.ConfigSetParams{Path: "agent.maxSteps", Value: json.RawMessage("3")})),
		second(client.Call(t.Context(), c, protocol.InvokeTool, protocol.ToolInvokeParams{Tool: "x__Bash"})),
		second(client.Call(t.Context(), c, protocol.DeviceInviteTo, protocol.DeviceInviteParams{})),
		second(client.Call(t.Context(), c, protocol.ApprovalAnswer, protocol.ApprovalAnswerParams{})),
	} {
		if !errors.Is(err, protocol.ErrForbidden) {
			t.Errorf("a device that may read did more: %v", err)
		}
	}
	// It leaves of its own accord: both sides know.
	if _, err := client.Call(t.Context(), c, protocol.DeviceLeave, protocol.Empty{}); err != nil {
		t.Errorf("device.leave: %v", err)
	}
	if d := h.list().Devices[0]; d.RevokedAt == 0 || d.RevokedBy != "the device itself" {
		t.Errorf("%+v", d)
	}
}

func TestADeviceGivesNoRightsItHasNot(t *testing.T) {
	h := openHouse(t)
	m := newMachine(t, "tablet")
	invite := ask(h, protocol.DeviceInviteTo, protocol.DeviceInviteParams{Role: protocol.RoleClient, Scopes: []protocol.Scope{protocol.ScopeRead, protocol.ScopeAdmin}})
	link, _ := trust.ParseLink(invite.Link)
	taker := m.taker(protocol.RoleClient)
	taker.Link = &link
	out := pair(t, link.Addresses, taker)
	ask(h, protocol.DeviceApprove, protocol.DeviceRequestParams{ID: h.request(protocol.RequestPair).ID})
	got := <-out
	if got.err != nil {
		t.Fatal(got.err)
	}
	peer, err := m.peers.Put(got.done)
	if err != nil {
		t.Fatal(err)
	}
	c, err := m.connect(t, peer.Pin)
	if err != nil {
		t.Fatal(err)
	}
	all := []protocol.Scope{protocol.ScopeRead, protocol.ScopeInvoke}
	other := pair(t, link.Addresses, newMachine(t, "accomplice").taker(protocol.RoleClient))
	r := h.request(protocol.RequestPair)
	for what, err := range map[string]error{
		"an invitation with every right": second(client.Call(t.Context(), c, protocol.DeviceInviteTo, protocol.DeviceInviteParams{Role: protocol.RoleClient})),
		"an invitation with one more":    second(client.Call(t.Context(), c, protocol.DeviceInviteTo, protocol.DeviceInviteParams{Role: protocol.RoleClient, Scopes: all})),
		"more for itself":                second(client.Call(t.Context(), c, protocol.DeviceUpdate, protocol.DeviceUpdateParams{ID: m.id.ID(), Scopes: &all})),
		"a yes to one that gets all":     second(client.Call(t.Context(), c, protocol.DeviceApprove, protocol.DeviceRequestParams{ID: r.ID})),
	} {
		if !errors.Is(err, protocol.ErrForbidden) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if _, err := client.Call(t.Context(), c, protocol.DeviceInviteTo, protocol.DeviceInviteParams{Role: protocol.RoleClient, Scopes: []protocol.Scope{protocol.ScopeRead}}); err != nil {
		t.Errorf("what it has: %v", err)
	}
	ask(h, protocol.DeviceDeny, protocol.DeviceRequestParams{ID: r.ID})
	<-other
}

func second[T any](_ T, err error) error { return err }

func TestTheNetworkLetsInNobodyButDevices(t *testing.T) {
	h := openHouse(t)
	m, thief := newMachine(t, "laptop"), newMachine(t, "thief")
	peer := h.bring(m, h.nodeTaker(m, node.Confinement{}))
	token, _ := m.peers.Token(peer.Pin)
	shake := func(a *protocol.Auth, p protocol.ConnectParams, sign *trust.Identity) error {
		o := client.Options{URL: "ws://fairlead/ws", Connect: func() protocol.ConnectParams { return p },
			Dial: func(ctx context.Context) (net.Conn, error) {
				c, _, err := trust.Dial(ctx, peer.Addresses, peer.Pin)
				return c, err
			},
			Auth: func(c net.Conn) (*protocol.Auth, error) {
				if sign != nil {
					binding, err := trust.Binding(c.(*tls.Conn).ConnectionState())
					if err != nil {
						return nil, err
					}
					a.Device = &protocol.DeviceProof{ID: m.id.ID(), Signature: sign.Sign(trust.ForConnect, binding)}
				}
				return a, nil
			}}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		o.OnUp = func(context.Context, protocol.ConnectResult) { cancel() }
		return client.New(o).Run(ctx)
	}
	window := gateway.ClientParams("window")
	for name, err := range map[string]error{
		"the gateway's own token":     shake(&protocol.Auth{Token: "gateway-token-of-the-test"}, window, nil),
		"a stolen token":              shake(&protocol.Auth{Token: token}, window, nil),
		"a stolen token, another key": shake(&protocol.Auth{Token: token}, window, &thief.id),
		"no token":                    shake(&protocol.Auth{}, window, &m.id),
	} {
		if !errors.Is(err, protocol.ErrUnauthorized) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := shake(&protocol.Auth{Token: token}, window, &m.id); !errors.Is(err, protocol.ErrForbidden) {
		t.Errorf("a node as a window: %v", err)
	}
	other := window
	other.Client.Mode, other.Client.ID = protocol.ModeNode, "tower"
	if err := shake(&protocol.Auth{Token: token}, other, &m.id); !errors.Is(err, protocol.ErrForbidden) {
		t.Errorf("a node under another name: %v", err)
	}
	// A device's token is worth nothing on the loopback listener.
	c := client.New(client.Options{URL: h.gw.URL(), Token: token, Connect: func() protocol.ConnectParams { return window }})
	if err := c.Run(t.Context()); !errors.Is(err, protocol.ErrUnauthorized) {
		t.Errorf("on loopback: %v", err)
	}
	// No web page, no older TLS.
	hc := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	req, _ := http.NewRequest(http.MethodGet, "https://"+peer.Addresses[0]+"/health", nil)
	req.Header.Set("Origin", "https://"+peer.Addresses[0])
	if res, err := hc.Do(req); err != nil || res.StatusCode != http.StatusForbidden {
		t.Errorf("a page: %v, %v", res, err)
	}
	if _, err := tls.Dial("tcp", peer.Addresses[0], &tls.Config{InsecureSkipVerify: true, MaxVersion: tls.VersionTLS12}); err == nil {
		t.Error("TLS 1.2 is served")
	}
	// Off means off, at once.
	ask(h, protocol.ConfigSet, protocol.ConfigSetParams{Path: "network.enabled", Value: json.RawMessage(`false`)})
	h.until("nobody listens", func() bool {
		c, err := net.Dial("tcp", peer.Addresses[0])
		if err == nil {
			c.Close()
		}
		return err != nil
	})
}

func TestAMachineThatOffersMoreWaitsForTheOwner(t *testing.T) {
	h := openHouse(t)
	m := newMachine(t, "laptop")
	narrow := node.Confinement{Mode: "read-only"}
	peer := h.bring(m, h.nodeTaker(m, narrow))
	stop, ended := h.node(m, peer.Pin, narrow)
	h.until("the node is online", func() bool { return h.info("laptop").Online })
	if n := h.info("laptop"); len(n.Held) > 0 {
		t.Errorf("held although nothing changed: %v, %+v", n.Held, h.list().Requests)
	}
	stop()
	<-ended
	h.until("it is offline", func() bool { return !h.info("laptop").Online })
	stop, ended = h.node(m, peer.Pin, node.Confinement{Mode: "full", Network: "allowed"})
	r := h.request(protocol.RequestWiden)
	if text := strings.Join(r.Wider, "; "); !strings.Contains(text, "full instead of read-only") || !strings.Contains(text, "network") {
		t.Errorf("the owner reads %q", text)
	}
	h.until("all its tools are held", func() bool { n := h.info("laptop"); return n.Online && len(n.Held) == len(n.Tools) })
	if _, err := client.Call(t.Context(), h.owner, protocol.InvokeTool, protocol.ToolInvokeParams{Tool: "laptop__Glob", Args: json.RawMessage(`{"pattern":"*"}`)}); !errors.Is(err, protocol.ErrForbidden) {
		t.Errorf("a held tool was called: %v", err)
	}
	ask(h, protocol.DeviceApprove, protocol.DeviceRequestParams{ID: r.ID})
	h.until("they are free", func() bool { return len(h.info("laptop").Held) == 0 })
	if _, err := client.Call(t.Context(), h.owner, protocol.InvokeTool, protocol.ToolInvokeParams{Tool: "laptop__Glob", Args: json.RawMessage(`{"pattern":"*"}`)}); err != nil {
		t.Errorf("after the yes: %v", err)
	}
	stop()
	<-ended
	h.until("it is offline", func() bool { return !h.info("laptop").Online })
	stop, ended = h.node(m, peer.Pin, narrow)
	h.until("less is no question", func() bool { n := h.info("laptop"); return n.Online && len(n.Held) == 0 })
	if n := len(h.list().Requests); n != 0 {
		t.Errorf("%d requests", n)
	}
	stop()
	<-ended
}

func TestAnInvitationOverSSHIsForOneKey(t *testing.T) {
	h := openHouse(t)
	m, other := newMachine(t, "server"), newMachine(t, "mallory")
	invite := ask(h, protocol.DeviceInviteTo, protocol.DeviceInviteParams{Device: trust.Fingerprint(m.id.Public())})
	link, _ := trust.ParseLink(invite.Link)
	wrong := other.taker(protocol.RoleNode)
	wrong.Link = &link
	if _, err := client.Pair(t.Context(), link.Addresses, wrong); !errors.Is(err, protocol.ErrForbidden) {
		t.Errorf("another key: %v", err)
	}
	right := m.taker(protocol.RoleNode)
	right.Link = &link
	done, err := client.Pair(t.Context(), link.Addresses, right)
	if err != nil || done.Device.Door != protocol.DoorSSH {
		t.Errorf("%+v, %v", done.Device, err)
	}
}

// TestCurlChecksThePinThatTheInvitationNames: the line that installs a node elsewhere begins with it.
func TestCurlChecksThePinThatTheInvitationNames(t *testing.T) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("no curl:", err)
	}
	h := openHouse(t)
	invite := ask(h, protocol.DeviceInviteTo, protocol.DeviceInviteParams{})
	n := h.list().Network
	if !strings.HasPrefix(invite.Install, "curl -fsSk --pinnedpubkey 'sha256//"+n.Pin+"' https://"+n.Addresses[0]+"/install.sh") {
		t.Errorf("the line is %s", invite.Install)
	}
	get := func(pin, path string) (string, error) {
		out, err := exec.Command(curl, "-sSk", "--pinnedpubkey", "sha256//"+pin, "https://"+n.Addresses[0]+path).CombinedOutput()
		return string(out), err
	}
	if out, err := get(n.Pin, "/install.sh"); err != nil || !strings.Contains(out, "ships no node programs") {
		t.Errorf("%s, %v", out, err)
	}
	if out, err := get(string(trust.Pin(base64.StdEncoding.EncodeToString(make([]byte, 32)))), "/install.sh"); err == nil {
		t.Errorf("another pin was accepted: %s", out)
	}
}

package gateway_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"fairlead/gateway"
	"fairlead/gateway/gatewaytest"
	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/peer/pake"
	"fairlead/gateway/peer/polltest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/node"
)

// accessGateway is a gateway with the network listener, and its owner at a window.
type accessGateway struct {
	t       testing.TB
	gw      *gateway.Gateway
	owner   *client.Client
	changes chan protocol.Change
	home    string
}

func newAccessGateway(t testing.TB) *accessGateway {
	t.Helper()
	t.Setenv("FAIRLEAD_SECRETS", "file")
	t.Setenv("FAIRLEAD_TOKEN", "gateway-token-of-the-test")
	h := &accessGateway{t: t, home: t.TempDir(), changes: make(chan protocol.Change, 1000)}
	slog.SetDefault(slog.New(slog.DiscardHandler))
	h.gw, _ = gatewaytest.Start(t, h.home, "127.0.0.1:0")
	h.owner, _ = gatewaytest.Owner(t, h.gw, func(c protocol.Change) {
		select {
		case h.changes <- c:
		default:
		}
	})
	ask(h, protocol.ConfigSet, protocol.ConfigSetParams{Path: "network.listen", Value: json.RawMessage(`"127.0.0.1:0"`)})
	if n := h.list().Network; n.Listening || n.Enabled {
		t.Fatalf("the network is on before anybody turned it on: %+v", n)
	}
	ask(h, protocol.ConfigSet, protocol.ConfigSetParams{Path: "network.enabled", Value: json.RawMessage(`true`)})
	h.until("the network is on", func() bool { return h.list().Network.Listening })
	return h
}

// ask calls a method as the owner.
func ask[P, R any](h *accessGateway, m protocol.Method[P, R], p P) R {
	h.t.Helper()
	r, err := client.Call(h.t.Context(), h.owner, m, p)
	if err != nil {
		h.t.Fatalf("%s: %v", m.Name, err)
	}
	return r
}

func (h *accessGateway) list() protocol.DeviceListResult {
	h.t.Helper()
	return ask(h, protocol.DeviceList, protocol.Empty{})
}

func (h *accessGateway) until(what string, ok func() bool) {
	h.t.Helper()
	polltest.Until(h.t, what, ok)
}

// questions returns the pending questions of some kinds.
func (h *accessGateway) questions(kinds ...string) []protocol.Question {
	h.t.Helper()
	return slices.DeleteFunc(ask(h, protocol.QuestionList, protocol.Empty{}).Questions, func(q protocol.Question) bool { return !slices.Contains(kinds, q.Kind) })
}

// requests returns the pending questions about devices.
func (h *accessGateway) requests() []protocol.Question {
	h.t.Helper()
	return h.questions(protocol.AskPair, protocol.AskWiden)
}

// request waits for a pending question of a kind.
func (h *accessGateway) request(kind string) (q protocol.Question) {
	h.t.Helper()
	h.until("a question of kind "+kind, func() bool {
		for _, q = range h.questions(kind) {
			return true
		}
		return false
	})
	return q
}

// answerTo returns an answer to a question.
func answerTo(q protocol.Question, decision string) protocol.QuestionAnswerParams {
	return protocol.QuestionAnswerParams{ID: q.ID, Hash: q.Hash, Decision: decision}
}

// allow and deny answer a question as the owner.
func (h *accessGateway) allow(q protocol.Question) { h.answer(answerTo(q, protocol.DecisionAllow)) }
func (h *accessGateway) deny(q protocol.Question)  { h.answer(answerTo(q, protocol.DecisionDeny)) }

func (h *accessGateway) answer(p protocol.QuestionAnswerParams) {
	h.t.Helper()
	if r := ask(h, protocol.QuestionAnswer, p); !r.Won {
		h.t.Fatalf("the answer to question %s came too late: it is %s", p.ID, r.Question.State)
	}
}

// pairedMachine is a device with its own home folder.
type pairedMachine struct {
	id    identity.Key
	peers *identity.Peers
	name  string
	work  string // folder its node works in
}

func newMachine(t testing.TB, name string) *pairedMachine {
	t.Helper()
	dir := t.TempDir()
	secrets := keychain.Open(dir)
	id, err := identity.OpenKey(secrets)
	if err != nil {
		t.Fatal(err)
	}
	return &pairedMachine{id: id, peers: identity.OpenPeers(dir, secrets), name: name, work: t.TempDir()}
}

func (m *pairedMachine) device(role string) pake.Device {
	t := pake.Device{Key: m.id, Applicant: pake.Applicant{Role: role, Name: m.name, OS: "Debian", Hostname: m.name, Platform: "linux-x64"}}
	if role == protocol.RoleNode {
		t.Applicant.NodeID = protocol.NodeID(m.name)
		t.Applicant.Reach = &protocol.Reach{}
	}
	return t
}

type paired struct {
	done identity.Pairing
	err  error
}

// pair pairs a machine in the background.
func pair(t testing.TB, addresses []string, joining pake.Device) chan paired {
	out := make(chan paired, 1)
	go func() {
		done, err := client.Pair(t.Context(), addresses, joining)
		out <- paired{done, err}
	}()
	return out
}

// pairByLink pairs a machine by link, with the owner's approval.
func (h *accessGateway) pairByLink(m *pairedMachine, joining pake.Device) identity.Peer {
	h.t.Helper()
	invite := ask(h, protocol.DeviceInviteTo, protocol.DeviceInviteParams{Role: joining.Applicant.Role})
	link, err := pake.ParseLink(invite.Link)
	if err != nil {
		h.t.Fatal(err)
	}
	joining.Link = &link
	var shown []string
	joining.OnWaiting = func(words []string, _ int) { shown = words }
	out := pair(h.t, link.Addresses, joining)
	r := h.request(protocol.AskPair)
	if r.Pairing.Device.Name != m.name || r.Pairing.Device.OS != "Debian" || r.Pairing.Device.Address != "127.0.0.1" || r.Pairing.Device.Fingerprint != identity.Fingerprint(m.id.Public()) {
		h.t.Errorf("the owner sees %+v, want the machine, Debian, 127.0.0.1 and its fingerprint", r.Pairing.Device)
	}
	h.allow(r)
	got := <-out
	if got.err != nil {
		h.t.Fatal(got.err)
	}
	if !slices.Equal(shown, r.Pairing.Words) || len(shown) != 4 {
		h.t.Errorf("the device shows %v, the owner sees %v", shown, r.Pairing.Words)
	}
	peer, err := m.peers.Put(got.done)
	if err != nil {
		h.t.Fatal(err)
	}
	return peer
}

// node starts the machine's node; the returned channel receives its final error.
func (h *accessGateway) node(m *pairedMachine, gatewayID identity.PeerID, confine node.Confinement) (stop func(), ended chan error) {
	h.t.Helper()
	n, err := node.New(node.Options{
		ID: protocol.NodeID(m.name), Workspace: m.work, Confine: confine, Version: "test",
		Through: func(o client.Options) client.Options { return client.Through(o, m.peers, gatewayID, m.id, nil) },
	})
	if err != nil {
		h.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(h.t.Context())
	ended = make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	return cancel, ended
}

// info returns the gateway's information about a node.
func (h *accessGateway) info(id string) (found protocol.NodeInfo) {
	for _, n := range ask(h, protocol.NodesList, protocol.Empty{}).Nodes {
		if n.ID == protocol.NodeID(id) {
			found = n
		}
	}
	return found
}

// nodeDevice returns a device that announces what its node will offer.
func (h *accessGateway) nodeDevice(m *pairedMachine, confine node.Confinement) pake.Device {
	h.t.Helper()
	n, err := node.New(node.Options{ID: protocol.NodeID(m.name), Workspace: m.work, Confine: confine, URL: "ws://x/ws", Version: "test"})
	if err != nil {
		h.t.Fatal(err)
	}
	joining := m.device(protocol.RoleNode)
	joining.Applicant.Reach = protocol.ReachOf(n.Hello())
	return joining
}

// connect connects a client of a paired machine, and returns the error of its first handshake.
func (m *pairedMachine) connect(t testing.TB, gatewayID identity.PeerID) (*client.Client, error) {
	t.Helper()
	up, ended := make(chan struct{}, 1), make(chan error, 1)
	o := client.Through(client.Options{
		Connect: func() protocol.ConnectParams { return gateway.ClientParams("phone") },
		OnUp:    func(context.Context, protocol.ConnectResult) { up <- struct{}{} },
	}, m.peers, gatewayID, m.id, nil)
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
	case <-time.After(3 * time.Minute):
		t.Fatal("no connection")
		return nil, nil
	}
}

package nodes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
)

// networkMemory is a NetworkStore in memory.
type networkMemory struct {
	list  []protocol.Network
	last  int // number of the last network
	lines []string
	err   error
}

func (m *networkMemory) List(context.Context) ([]protocol.Network, error) {
	return slices.Clone(m.list), m.err
}

func (m *networkMemory) record(lines []protocol.AuditEntry) {
	for _, l := range lines {
		m.lines = append(m.lines, l.What)
	}
}

func (m *networkMemory) Put(_ context.Context, n protocol.Network, lines ...protocol.AuditEntry) (protocol.Network, error) {
	if m.err != nil {
		return n, m.err
	}
	m.list = slices.DeleteFunc(m.list, func(o protocol.Network) bool { return o.ID == n.ID })
	if n.Index == 0 {
		m.last++
		n.Index = m.last
	}
	m.list = append(m.list, n)
	m.record(lines)
	return n, nil
}

func (m *networkMemory) Delete(_ context.Context, id protocol.NetworkID, lines ...protocol.AuditEntry) error {
	if m.err != nil {
		return m.err
	}
	m.list = slices.DeleteFunc(m.list, func(o protocol.Network) bool { return o.ID == id })
	m.record(lines)
	return nil
}

// newNetworkHub returns a hub with the networks of a store, on a computer named "Anna's Box".
func newNetworkHub(t *testing.T, m *networkMemory, persist Persist) *Hub {
	t.Helper()
	h := New(nil, persist)
	if err := h.Networks.Open(t.Context(), m, "Anna's Box"); err != nil {
		t.Fatal(err)
	}
	if err := h.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return h
}

func createNetwork(t *testing.T, h *Hub, name string) protocol.Network {
	t.Helper()
	n, err := h.Networks.Create(t.Context(), "owner", protocol.NetworkCreateParams{Name: name})
	if err != nil {
		t.Fatalf("creating the network %q: got error %v, want none", name, err)
	}
	return n
}

func TestTheFirstStartCreatesTheDefaultNetwork(t *testing.T) {
	m := &networkMemory{}
	first := newNetworkHub(t, m, nil).Networks.Default()
	if first.Name != "anna-s-box" || !first.Default || first.Index != 1 || first.CreatedAt == 0 {
		t.Errorf("got %+v, want anna-s-box as the default network with the index 1", first)
	}
	if again := newNetworkHub(t, m, nil).Networks.Default(); again != first {
		t.Errorf("after a restart: got %+v, want %+v", again, first)
	}
}

func TestNamesOfComputersBecomeNamesOfNetworks(t *testing.T) {
	for computer, want := range map[string]string{
		"laptop": "laptop", "Büro PC": "b-ro-pc", "--": "default", "": "default", strings.Repeat("a", 80): strings.Repeat("a", 63), "x.local": "x-local",
	} {
		if got := networkNameOf(computer); got != want {
			t.Errorf("%q: got %q, want %q", computer, got, want)
		}
	}
}

func TestNetworkNamesAreDNSLabels(t *testing.T) {
	h := newNetworkHub(t, &networkMemory{}, nil)
	for _, name := range []string{"", "-a", "a-", "a b", "a.b", "a_b", "ä", "net/x", strings.Repeat("a", 64), "a\x00"} {
		if n, err := h.Networks.Create(t.Context(), "owner", protocol.NetworkCreateParams{Name: name}); !errors.Is(err, protocol.ErrBadRequest) {
			t.Errorf("%q: got %+v, error %v, want ErrBadRequest", name, n, err)
		}
	}
	for name, want := range map[string]string{"staging": "staging", "Prod-2": "prod-2", "7": "7", strings.Repeat("b", 63): strings.Repeat("b", 63)} {
		if n := createNetwork(t, h, name); n.Name != want || n.Default || n.ID == "" {
			t.Errorf("%q: got %+v, want the name %q", name, n, want)
		}
	}
}

func TestNetworkNamesAreUnique(t *testing.T) {
	h := newNetworkHub(t, &networkMemory{}, nil)
	staging := createNetwork(t, h, "staging")
	for _, name := range []string{"staging", "STAGING", "anna-s-box"} {
		if _, err := h.Networks.Create(t.Context(), "owner", protocol.NetworkCreateParams{Name: name}); !errors.Is(err, protocol.ErrConflict) {
			t.Errorf("create %q: got %v, want ErrConflict", name, err)
		}
	}
	if _, err := h.Networks.Rename(t.Context(), "owner", protocol.NetworkRenameParams{Network: "staging", Name: "Anna-s-box"}); !errors.Is(err, protocol.ErrConflict) {
		t.Errorf("rename to a taken name: got %v, want ErrConflict", err)
	}
	n, err := h.Networks.Rename(t.Context(), "owner", protocol.NetworkRenameParams{Network: string(staging.ID), Name: "test"})
	if want := (protocol.Network{ID: staging.ID, Name: "test", Index: staging.Index, CreatedAt: staging.CreatedAt}); err != nil || n != want {
		t.Errorf("rename: got %+v, error %v, want %+v", n, err, want)
	}
	if _, err := h.Networks.Find("staging"); !errors.Is(err, protocol.ErrNotFound) {
		t.Errorf("find by the old name: got %v, want ErrNotFound", err)
	}
	createNetwork(t, h, "staging")
}

func TestIndexesOfDeletedNetworksAreNotUsedAgain(t *testing.T) {
	m := &networkMemory{}
	h := newNetworkHub(t, m, nil)
	createNetwork(t, h, "a")
	if _, err := h.Networks.Delete(t.Context(), "owner", protocol.NetworkParams{Network: "a"}); err != nil {
		t.Fatal(err)
	}
	if n := createNetwork(t, h, "a"); n.Index != 3 {
		t.Errorf("the index of the third network: got %d, want 3", n.Index)
	}
	if want := []string{"created the network a", "deleted the network a", "created the network a"}; !slices.Equal(m.lines, want) {
		t.Errorf("the audit log: got %q, want %q", m.lines, want)
	}
}

func TestTheNumberOfNetworksIsLimited(t *testing.T) {
	h := newNetworkHub(t, &networkMemory{}, nil)
	for i := range maxNetworks - 1 {
		createNetwork(t, h, fmt.Sprint("n", i))
	}
	if _, err := h.Networks.Create(t.Context(), "owner", protocol.NetworkCreateParams{Name: "more"}); !errors.Is(err, protocol.ErrTooLarge) {
		t.Errorf("one more than %d networks: got %v, want ErrTooLarge", maxNetworks, err)
	}
}

func TestOnlyEmptyNetworksAreDeleted(t *testing.T) {
	h := newNetworkHub(t, &networkMemory{}, nil)
	remove := func(network string) error {
		_, err := h.Networks.Delete(t.Context(), "owner", protocol.NetworkParams{Network: network})
		return err
	}
	isRefused := func(network, because string) {
		t.Helper()
		if err := remove(network); !errors.Is(err, protocol.ErrConflict) || !strings.Contains(err.Error(), because) {
			t.Errorf("delete %s: got %v, want ErrConflict with %q", network, err, because)
		}
	}
	isRefused("anna-s-box", "default network")
	a := createNetwork(t, h, "a")
	attach(t, h, "nas", "x")
	move := func(network string) {
		t.Helper()
		if n, err := h.Networks.Move(t.Context(), "owner", protocol.NetworkMoveParams{NodeID: "nas", Network: network}); err != nil {
			t.Fatalf("moving to %s: got %+v, error %v; want no error", network, n, err)
		}
	}
	move("a")
	isRefused("a", "1 machine (nas)")
	move("anna-s-box")
	active := []string{"api-1"}
	h.Networks.SetProvisioned(func(id protocol.NetworkID) []string {
		if id != a.ID {
			t.Errorf("asked about the network %s, want %s", id, a.ID)
		}
		return active
	})
	isRefused("a", "deprovision them first")
	active = nil
	if err := remove("a"); err != nil {
		t.Errorf("deleting an empty network: got error %v, want none", err)
	}
	if err := remove("a"); !errors.Is(err, protocol.ErrNotFound) {
		t.Errorf("delete it again: got %v, want ErrNotFound", err)
	}
	if err := remove(""); !errors.Is(err, protocol.ErrBadRequest) {
		t.Errorf("delete without a name: got %v, want ErrBadRequest", err)
	}
}

func TestAFailedDeletionLeavesTheNetwork(t *testing.T) {
	m := &networkMemory{}
	h := newNetworkHub(t, m, nil)
	createNetwork(t, h, "a")
	m.err = errors.New("disk full")
	if _, err := h.Networks.Delete(t.Context(), "owner", protocol.NetworkParams{Network: "a"}); err == nil {
		t.Error("delete with a broken store: got no error, want one")
	}
	if _, err := h.Networks.Find("a"); err != nil {
		t.Errorf("after the failure: got %v, want the network", err)
	}
}

func TestAMachineKeepsItsNetwork(t *testing.T) {
	m, machines := &networkMemory{}, memory{nodes: make(map[protocol.NodeID]protocol.NodeInfo)}
	h := newNetworkHub(t, m, machines)
	a := createNetwork(t, h, "a")
	_, leave := attach(t, h, "nas", "x")
	if got, want := h.Networks.Of("nas"), h.Networks.Default().ID; got != want {
		t.Errorf("a new machine: got the network %s, want the default one %s", got, want)
	}
	moves := 0
	h.Networks.OnMove(func() { moves++ })
	for range 2 { // the second one changes nothing
		if n, err := h.Networks.Move(t.Context(), "owner", protocol.NetworkMoveParams{NodeID: "nas", Network: "a"}); err != nil || n.Network != a.ID {
			t.Fatalf("move: got %+v, error %v, want it in %s", n, err, a.ID)
		}
	}
	if moves != 1 {
		t.Errorf("reported moves: got %d, want 1", moves)
	}
	leave()
	attach(t, h, "nas", "x")
	if got := h.Networks.Of("nas"); got != a.ID {
		t.Errorf("after it connected again: got the network %s, want %s", got, a.ID)
	}
	if got := newNetworkHub(t, m, machines).Networks.Of("nas"); got != a.ID {
		t.Errorf("after a restart: got the network %s, want %s", got, a.ID)
	}
	if got := h.Networks.Of("unknown"); got != "" {
		t.Errorf("an unknown machine: got the network %s, want none", got)
	}
	for _, p := range []protocol.NetworkMoveParams{{NodeID: "unknown", Network: "a"}, {NodeID: "nas", Network: "b"}} {
		if _, err := h.Networks.Move(t.Context(), "owner", p); !errors.Is(err, protocol.ErrNotFound) {
			t.Errorf("move %+v: got %v, want ErrNotFound", p, err)
		}
	}
}

func TestANewMachineJoinsTheNetworkOfItsInvitation(t *testing.T) {
	h := newNetworkHub(t, &networkMemory{}, nil)
	a := createNetwork(t, h, "a")
	join := func(id string, network protocol.NetworkID) protocol.NetworkID {
		t.Helper()
		attachAs(t, h, params(id, "x"), Entry{Network: network})
		return h.Networks.Of(protocol.NodeID(id))
	}
	if got := join("new", a.ID); got != a.ID {
		t.Errorf("got the network %s, want %s", got, a.ID)
	}
	if got, want := join("late", "net_deleted"), h.Networks.Default().ID; got != want {
		t.Errorf("with a deleted network: got %s, want the default one %s", got, want)
	}
	if got := join("new", h.Networks.Default().ID); got != a.ID {
		t.Errorf("a known machine with another invitation: got %s, want its own %s", got, a.ID)
	}
}

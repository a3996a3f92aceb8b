package catalog

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

// newNetworkBench returns a bench with the network lab beside the default one. The laptop has a
// namesake in it.
func newNetworkBench(t *testing.T) *bench {
	b := newBench(t)
	b.networks = []protocol.Network{{ID: "net_2", Name: "lab", Index: 2}, {ID: "net_3", Name: "empty", Index: 3}}
	b.others = []protocol.NodeInfo{{ID: "lab-laptop", Name: "Laptop", Online: true, ConnectedAt: 1, Network: "net_2"}}
	return b
}

// limitedTo returns an app with all scopes that may use the machines in some networks alone.
func (b *bench) limitedTo(networks ...protocol.NetworkID) auth.Principal {
	return auth.App(protocol.App{ID: "n", Scopes: protocol.AppScopes, Networks: networks}).WithNetworks(func(id protocol.NodeID) protocol.NetworkID {
		n, _ := b.Node(id)
		return n.Network
	})
}

func TestTheDirectoryListsEachNetwork(t *testing.T) {
	b := newNetworkBench(t)
	list := func(args string) string {
		t.Helper()
		var out directoryOut
		if err := json.Unmarshal([]byte(b.must(me, "network_directory", args)), &out); err != nil {
			t.Fatal(err)
		}
		var text []string
		for _, n := range out.Networks {
			var ids []string
			for _, x := range n.Nodes {
				ids = append(ids, x.ID)
			}
			text = append(text, n.ID+" "+n.Name+": "+strings.Join(ids, " "))
		}
		return strings.Join(text, "; ")
	}
	for args, want := range map[string]string{
		`{"node_name_glob":"Laptop"}`:                           "net_1 home: laptop; net_2 lab: lab-laptop; net_3 empty: ",
		`{"network_name":"LAB"}`:                                "net_2 lab: lab-laptop",
		`{"network_name":"net_2"}`:                              "net_2 lab: lab-laptop",
		`{"network_name":"empty"}`:                              "net_3 empty: ",
		`{"network_name":"lab","online":false}`:                 "net_2 lab: ",
		`{"network_name":"nowhere"}`:                            "",
		`{"network_name":"home","node_name_glob":"lab-laptop"}`: "net_1 home: ",
	} {
		if got := list(args); got != want {
			t.Errorf("%s: got %q, want %q", args, got, want)
		}
	}
}

func TestANetworkTellsNamesakesApart(t *testing.T) {
	b := newNetworkBench(t)
	for target, want := range map[string]string{
		`{"network_name":"home","node_name":"Laptop"}`:  "laptop",
		`{"network_name":"Lab","node_name":"laptop"}`:   "lab-laptop",
		`{"network_name":"net_2","node_name":"Laptop"}`: "lab-laptop",
		`{"network_name":"lab","node_id":"lab-laptop"}`: "lab-laptop",
		`{"node_id":"lab-laptop","node_name":"Laptop"}`: "lab-laptop",
	} {
		b.must(me, "fs_stat", `{"target":`+target+`,"path":"/x"}`)
		if got := string(b.last().Tool); got != want+"__fs_stat" {
			t.Errorf("%s: called %s, want %s__fs_stat", target, got, want)
		}
	}
	b.checkFault(me, "fs_stat", `{"target":{"node_name":"Laptop"},"path":"/x"}`, protocol.FaultInvalidArgs, "network_name")
	for _, target := range []string{`{"network_name":"lab","node_name":"nas"}`, `{"network_name":"empty","node_name":"Laptop"}`, `{"network_name":"nowhere","node_id":"nas"}`} {
		b.checkFault(me, "fs_stat", `{"target":`+target+`,"path":"/x"}`, protocol.FaultTargetNotFound, "")
	}
}

func TestPeersAreThoseOfTheNetwork(t *testing.T) {
	b := newNetworkBench(t)
	if got := b.must(me, "net_peers", `{"target":{"node_id":"lab-laptop"}}`); !strings.Contains(got, `"remote_id":"lab-laptop","local":true`) || !strings.Contains(got, `"count":1`) {
		t.Errorf("in the network lab: got %s, want lab-laptop alone", got)
	}
	if got := b.must(me, "net_peers", `{"target":{"node_id":"nas"}}`); strings.Contains(got, "lab-laptop") || !strings.Contains(got, `"remote_id":"laptop"`) {
		t.Errorf("in the default network: got %s, want laptop and no lab-laptop", got)
	}
}

func TestNetworksAreCreatedAndDeletedThroughThePipeline(t *testing.T) {
	b := newNetworkBench(t)
	b.answer = func(_ context.Context, c tool.Call) (tool.Result, error) {
		return succeed(`{"ok":true,"result":{"id":"net_9","name":"staging","index":4,"createdAt":1762266900000}}`), nil
	}
	created := b.must(app("a", protocol.ScopeNetworkWrite), "network_create", `{"name":"Staging"}`)
	if want := `{"network_id":"net_9","name":"staging","index":4,"created_at":"2025-11-04T14:35:00Z"}`; created != want {
		t.Errorf("network_create: got %s, want %s", created, want)
	}
	if c := b.last(); c.Tool != "gsv__NetworkCreate" || string(c.Args) != `{"name":"Staging"}` || c.Direct {
		t.Errorf("network_create: called %s %s, direct %v; want gsv__NetworkCreate as the app", c.Tool, c.Args, c.Direct)
	}
	for _, args := range []string{`{"network_name":"lab"}`, `{"network_name":"net_2","force":true}`} {
		if got, want := b.must(me, "network_delete", args), `{"network_id":"net_9","name":"staging","nodes_removed":0,"message":"Deleted network \"staging\" (id: net_9)"}`; got != want {
			t.Errorf("network_delete %s: got %s, want %s", args, got, want)
		}
		if c := b.last(); c.Tool != "gsv__NetworkDelete" || string(c.Args) != `{"network":"net_2"}` || !c.Direct {
			t.Errorf("network_delete %s: called %s %s, direct %v; want gsv__NetworkDelete as the owner", args, c.Tool, c.Args, c.Direct)
		}
	}
}

func TestChangesOfNetworksHaveTheCodesOfTheirErrors(t *testing.T) {
	b := newNetworkBench(t)
	b.checkFault(me, "network_delete", `{}`, protocol.FaultInvalidArgs, "home, lab, empty")
	b.checkFault(me, "network_delete", `{"network_name":"nowhere"}`, protocol.FaultNotFound, "nowhere")
	b.checkFault(me, "network_create", `{}`, protocol.FaultInvalidArgs, "name")
	for code, err := range map[protocol.FaultCode]error{
		protocol.FaultInvalidArgs: protocol.ErrBadRequest.With("no name"), protocol.FaultAlreadyExists: protocol.ErrConflict.With("taken"), protocol.FaultTooLarge: protocol.ErrTooLarge.With("too many"),
	} {
		b.refused = err
		b.checkFault(me, "network_create", `{"name":"x"}`, code, err.Error())
	}
	b.refused = protocol.ErrConflict.With("has machines")
	b.checkFault(me, "network_delete", `{"network_name":"lab"}`, protocol.FaultFailedPrecondition, "has machines")
	b.networks, b.others = nil, nil
	b.checkFault(me, "network_delete", `{}`, protocol.FaultFailedPrecondition, "has machines") // the only network
	for _, tool := range []string{"network_create", "network_delete"} {
		b.checkFault(app("a", protocol.ScopeNetworkRead, protocol.ScopeShell), tool, `{"name":"x"}`, protocol.FaultForbidden, "network.write")
	}
}

func TestAnAppLimitedToANetworkSeesItAlone(t *testing.T) {
	b := newNetworkBench(t)
	lab := b.limitedTo("net_2")
	if got := b.must(lab, "network_directory", `{}`); strings.Contains(got, "home") || strings.Contains(got, "nas") || !strings.Contains(got, "lab-laptop") {
		t.Errorf("the directory: got %s, want lab with lab-laptop alone", got)
	}
	for _, name := range []string{"home", "net_1", "empty"} {
		if got := b.must(lab, "network_directory", `{"network_name":"`+name+`"}`); got != `{"networks":[]}` {
			t.Errorf("the directory of %s: got %s, want no network", name, got)
		}
	}
	b.must(lab, "fs_stat", `{"target":{"node_name":"Laptop"},"path":"/x"}`)
	if got := b.last().Tool; got != "lab-laptop__fs_stat" {
		t.Errorf("the laptop: called %s, want lab-laptop__fs_stat", got)
	}
	for _, target := range []string{`{"node_id":"nas"}`, `{"network_name":"home","node_name":"Laptop"}`} {
		f := b.checkFault(lab, "fs_stat", `{"target":`+target+`,"path":"/x"}`, protocol.FaultTargetNotFound, "")
		if g := b.checkFault(lab, "fs_stat", strings.NewReplacer("nas", "xyz", "home", "none").Replace(`{"target":`+target+`,"path":"/x"}`), protocol.FaultTargetNotFound, ""); strings.ReplaceAll(f.Message, "home", "none") != g.Message {
			t.Errorf("%s: got %q, want %q as for a target that does not exist", target, f.Message, g.Message)
		}
	}
	for _, call := range [][2]string{{"network_create", `{"name":"x"}`}, {"network_delete", `{"network_name":"lab"}`}} {
		b.checkFault(lab, call[0], call[1], protocol.FaultForbidden, "limited")
	}
	if got := b.must(b.limitedTo("net_deleted"), "network_directory", `{}`); got != `{"networks":[]}` {
		t.Errorf("an app whose only network was deleted: got %s, want nothing", got)
	}
}

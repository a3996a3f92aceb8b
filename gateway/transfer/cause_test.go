package transfer_test

import (
	"path/filepath"
	"testing"

	"fairlead/gateway/event"
	"fairlead/gateway/native"
	"fairlead/gateway/nodes"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
	"fairlead/gateway/tool"
	"fairlead/gateway/transfer"
)

// A waiting transfer may need a new approval if the rules have changed. A transfer of a job or a
// stranger must not count as the person's own.
func TestTransferOfAnAgentBelongsToTheCauseOfItsRun(t *testing.T) {
	s, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "fairlead.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	bus := new(event.Bus)
	e := transfer.New(transfer.Options{Store: s.Transfers, Bus: bus, Authorizer: anyCaller{}, Machines: nodes.New(bus, s.Nodes)})
	defer e.Close()
	for _, want := range []protocol.AskedBy{{Kind: protocol.AskedBySchedule, Name: "nightly"}, {Kind: protocol.AskedByChannel, Name: "eve"}, {Kind: "chat"}} {
		call := tool.Call{}
		if want.Kind != "chat" {
			call.AskedBy = want
		}
		out, err := transfer.NewCalls(e).Tool(t.Context(), call, native.TransferIn{Source: "tower:/x", Destination: "lab:/x", Later: true})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := e.Get(t.Context(), protocol.TransferParams{ID: out.TransferID}); err != nil || got.AskedBy != want {
			t.Errorf("asked for by %+v, %v; want %+v", got.AskedBy, err, want)
		}
	}
}

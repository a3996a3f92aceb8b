package rpc

import (
	"context"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	"fairlead/gateway/nodes"
	"fairlead/gateway/protocol"
	"fairlead/gateway/transfer"
)

// slowDisk stores a node slowly.
type slowDisk struct{}

func (slowDisk) Put(context.Context, protocol.NodeInfo, ...protocol.AuditEntry) error {
	time.Sleep(time.Second)
	return nil
}

func (slowDisk) List(context.Context) ([]protocol.NodeInfo, error) {
	return nil, nil
}
func (slowDisk) Delete(context.Context, protocol.NodeID) (bool, error) { return false, nil }
func (slowDisk) StoppedCalls(context.Context, protocol.NodeID, []protocol.CallID) ([]protocol.CallID, error) {
	return nil, nil
}

// A node without extensions loses messages before hello-ok, and those right after it.
func TestATransferWaitsForTheNodesHelloOk(t *testing.T) {
	for _, c := range []struct {
		extensions string
		settles    time.Duration
	}{{`[]`, 250 * time.Millisecond}, {`["transfer"]`, 0}} {
		synctest.Test(t, func(t *testing.T) {
			f := newFakes()
			f.hub = nodes.New(f.bus, slowDisk{})
			f.transfers = transfer.New(transfer.Options{Store: &transferRows{}, Bus: f.bus, Machines: f.hub, Folders: f.files.Transfer, First: 6, Authorizer: transferCalls{f.pipeline}})
			b, stop := open(f)
			defer stop()
			defer f.transfers.Close()
			_, err := f.transfers.Start(t.Context(), transfer.Request{TransferStartParams: protocol.TransferStartParams{Sources: []string{"n:/x"}, Destination: "gsv:x", Later: true}})
			if err != nil {
				t.Fatal(err)
			}
			d := websocket.Dialer{NetDialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return b.owner(ctx) }}
			ws, _, err := d.Dial("ws://gateway/ws", nil)
			if err != nil {
				t.Fatal(err)
			}
			defer ws.Close()
			began := time.Now()
			connect := `{"type":"req","id":"c","method":"connect","params":{"minProtocol":1,"maxProtocol":1,"client":{"id":"n","mode":"node"},"extensions":` + c.extensions +
				`,"tools":[{"name":"Read"}],"nodeRuntime":{"hostCapabilities":["filesystem.read"],"toolCapabilities":{"Read":["filesystem.read"]}}}}`
			if err := ws.WriteMessage(websocket.TextMessage, []byte(connect)); err != nil {
				t.Fatal(err)
			}
			for i, want := range []string{`"id":"c","ok":true`, `"event":"transfer.send"`} {
				_, frame, err := ws.ReadMessage()
				if err != nil || !strings.Contains(string(frame), want) {
					t.Fatalf("frame %d is %.200s, %v; want %s", i, frame, err, want)
				}
			}
			if took := time.Since(began); took < time.Second+c.settles {
				t.Errorf("got the notice after %s, want at least %s", took, time.Second+c.settles)
			}
		})
	}
}

package gateway_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/node"
)

// journal collects the log of a program.
type journal struct {
	mu sync.Mutex // guards b
	b  bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.b.Write(p)
}

func (j *journal) has(text string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return strings.Contains(j.b.String(), text)
}

// TestPairedMachinesMeetAtTheGatewaysPort transfers a file between two machines that know the
// gateway only by its pin.
func TestPairedMachinesMeetAtTheGatewaysPort(t *testing.T) {
	h := openHouse(t)
	var logs [2]journal
	boxes := []*peerBox{newMachine(t, "a"), newMachine(t, "b")}
	var wg sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	defer wg.Wait()
	defer stop()
	for i, m := range boxes {
		tie := h.bring(m, h.nodeTaker(m, node.Confinement{})).ID()
		n, err := node.New(node.Options{
			ID: protocol.NodeID(m.name), Workspace: m.work, Version: "test", Logger: slog.New(slog.NewTextHandler(&logs[i], nil)),
			Through: func(o client.Options) client.Options { return client.Through(o, m.peers, tie, m.id, nil) },
		})
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() { n.Run(ctx) })
		h.until(m.name+" is online", func() bool { return h.info(m.name).Online })
	}
	data := make([]byte, 48<<20)
	rand.Read(data)
	if err := os.WriteFile(filepath.Join(boxes[0].work, "x.bin"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	met := func() bool { return logs[0].has("Connected directly") && logs[1].has("Connected directly") }
	// on a busy machine the whole file may arrive before they are joined
	for try := 0; try < 20 && !met(); try++ {
		name := fmt.Sprint(try)
		tr := ask(h, protocol.TransferStart, protocol.TransferStartParams{Sources: []string{"a:x.bin"}, Destination: "b:" + name})
		h.until("it is over", func() bool {
			tr = ask(h, protocol.TransferGet, protocol.TransferParams{ID: tr.ID})
			return tr.Over()
		})
		if tr.State != protocol.TransferDone || tr.Route != protocol.RouteRelay {
			t.Fatalf("%+v", tr)
		}
		if got, err := os.ReadFile(filepath.Join(boxes[1].work, name)); err != nil || !bytes.Equal(got, data) {
			t.Fatalf("another file arrived, %v", err)
		}
	}
	if !met() {
		t.Error("the machines have had no connection of their own")
	}
}

package transfer_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/gateway/protocol/stream"
)

// seedNode is a node that knows seed 004 only: it sends what it is given, and takes one file at a time into memory.
type seedNode struct {
	c       *client.Client
	content []byte // of every file
	size    int64  // that it announces
	wg      sync.WaitGroup
	events  chan func()

	mu    sync.Mutex // guards files
	files map[string][]byte
	paths map[uint32]string
}

func newSeedNode(t *testing.T, r *rig, id string) *seedNode {
	t.Helper()
	s := &seedNode{content: bytes.Repeat([]byte("seed"), 200_000), files: make(map[string][]byte), paths: make(map[uint32]string), events: make(chan func(), 100)}
	s.size = int64(len(s.content))
	s.c = client.New(client.Options{URL: "ws://" + r.listen + "/ws", Token: "fl_transfer", Connect: func() protocol.ConnectParams {
		return protocol.ConnectParams{
			MinProtocol: 1, MaxProtocol: 1, Client: protocol.ClientInfo{ID: id, Mode: protocol.ModeNode}, Tools: []protocol.ToolSpec{{Name: "Read"}},
			NodeRuntime: &protocol.NodeRuntime{HostCapabilities: []string{protocol.CapRead}, ToolCapabilities: map[string][]string{"Read": {protocol.CapRead}}},
		}
	}, OnEvent: s.event, OnFrame: func(f *stream.Frame) {
		s.mu.Lock()
		p := s.paths[f.ID()]
		s.files[p] = append(s.files[p], f.Body()...)
		s.mu.Unlock()
		f.Free()
	}})
	ctx, cancel := context.WithCancel(context.Background())
	s.wg.Go(func() { s.c.Run(ctx) })
	s.wg.Go(func() {
		for {
			select {
			case f := <-s.events:
				f()
			case <-ctx.Done():
				return
			}
		}
	})
	t.Cleanup(func() { cancel(); s.wg.Wait() })
	r.online(protocol.NodeID(id))
	return s
}

func (s *seedNode) event(e protocol.EventFrame) {
	var p struct {
		TransferID uint32          `json:"transferId"`
		Path       string          `json:"path"`
		Stream     json.RawMessage `json:"stream"`
	}
	json.Unmarshal(e.Payload, &p)
	report := func(method string, params map[string]any) {
		params["transferId"] = p.TransferID
		s.c.Peer().Report(context.Background(), method, params, true)
	}
	switch e.Event {
	case protocol.EventTransferSend:
		s.events <- func() { report("transfer.meta", map[string]any{"size": s.size}) }
	case protocol.EventTransferStart:
		s.events <- func() {
			for rest := s.content; len(rest) > 0; {
				n := min(len(rest), 100_000)
				stream.ReadFrame(bytes.NewReader(protocol.AppendChunk(nil, p.TransferID, rest[:n])), func() {}, func(f *stream.Frame) {
					s.c.Peer().SendFrame(context.Background(), f)
				})
				rest = rest[n:]
			}
			report("transfer.complete", map[string]any{})
		}
	case protocol.EventTransferReceive:
		s.mu.Lock()
		s.paths[p.TransferID] = p.Path
		s.mu.Unlock()
		s.events <- func() { report("transfer.accept", map[string]any{}) }
	case protocol.EventTransferEnd:
		s.mu.Lock()
		n := len(s.files[s.paths[p.TransferID]])
		s.mu.Unlock()
		s.events <- func() { report("transfer.done", map[string]any{"bytesWritten": n}) }
	}
	if len(p.Stream) > 0 {
		panic("a peer of the seed was told of a stream")
	}
}

func TestAMachineOfTheSeedTakesPart(t *testing.T) {
	r := newRig(t, "a")
	s := newSeedNode(t, r, "seed")
	from := r.file("a", "x.bin", 700_001)
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	do := func(p protocol.TransferStartParams) protocol.Transfer {
		t.Helper()
		return r.end(r.begin(p).ID, patience)
	}
	tr := do(protocol.TransferStartParams{Sources: []string{"a:x.bin"}, Destination: "seed:/tmp/y.bin"})
	if tr.State != protocol.TransferDone || !tr.Simple || tr.BytesDone != 700_001 {
		t.Fatalf("%+v", tr)
	}
	s.mu.Lock()
	got := s.files["/tmp/y.bin"]
	s.mu.Unlock()
	if !bytes.Equal(got, data) {
		t.Error("another file arrived")
	}
	for _, conflict := range []string{protocol.ConflictRename, protocol.ConflictRename, protocol.ConflictOverwrite} {
		tr = do(protocol.TransferStartParams{Sources: []string{"seed:/tmp/x"}, Destination: "a:in/x", Conflict: conflict})
		if tr.State != protocol.TransferDone || tr.BytesDone != s.size {
			t.Fatalf("%+v", tr)
		}
		// The second time the same content is there already, and gets no number.
		if got, err := os.ReadFile(filepath.Join(r.nodes["a"].dir, "in", "x")); err != nil || !bytes.Equal(got, s.content) {
			t.Errorf("%s: %d bytes, %v", conflict, len(got), err)
		}
	}
	if list, _ := os.ReadDir(filepath.Join(r.nodes["a"].dir, "in")); len(list) != 1 {
		t.Errorf("there are %v", list)
	}
	s.size++ // it announces more than it sends
	tr = do(protocol.TransferStartParams{Sources: []string{"seed:/tmp/x"}, Destination: "a:in/short"})
	if tr.State != protocol.TransferFailed {
		t.Errorf("%+v", tr)
	}
	clean(t, r.nodes["a"].dir)
	if _, err := os.Stat(filepath.Join(r.nodes["a"].dir, "in", "short")); !errors.Is(err, os.ErrNotExist) {
		t.Error("half a file is there")
	}
	// What the seed cannot do is said.
	tr = do(protocol.TransferStartParams{Sources: []string{"a:x.bin"}, Destination: "seed:/tmp/", Into: true})
	if tr.State != protocol.TransferFailed {
		t.Errorf("%+v", tr)
	}
	tr = do(protocol.TransferStartParams{Sources: []string{"a:in"}, Destination: "seed:/tmp/in"})
	if tr.State != protocol.TransferFailed || tr.Error != "Failed to read file "+filepath.Join(r.nodes["a"].dir, "in")+": it is a folder" {
		t.Errorf("%+v", tr)
	}
}

package transfer_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/event"
	"fairlead/gateway/nodes"
	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
	"fairlead/gateway/tool"
	"fairlead/gateway/transfer"
)

// scriptedNode is a node that a test controls.
type scriptedNode struct {
	hears func(p *scriptedNode, event string, id uint32) // reaction to an event; nil means none
	gone  chan struct{}
	deaf  bool         // does not read
	got   atomic.Int64 // bytes of frames
}

func (p *scriptedNode) SendEvent(ctx context.Context, name string, payload any) error {
	if p.deaf {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	id := uint32(0)
	switch e := payload.(type) {
	case protocol.TransferSend:
		id = e.TransferID
	case protocol.TransferReceive:
		id = e.TransferID
	case protocol.TransferStartEvent:
		id = e.TransferID
	case protocol.TransferEnd:
		id = e.TransferID
	}
	if p.hears != nil && id != 0 {
		go p.hears(p, name, id)
	}
	return nil
}

func (p *scriptedNode) SendEventBehind(ctx context.Context, name string, payload any) error {
	return p.SendEvent(ctx, name, payload)
}

func (p *scriptedNode) SendFrame(_ context.Context, f *stream.Frame) error {
	p.got.Add(int64(len(f.Body())))
	f.Free()
	return nil
}

func (p *scriptedNode) Gone() <-chan struct{} { return p.gone }
func (p *scriptedNode) Close(int, string)     {}

// testEngine is an engine with scripted nodes, in a synctest bubble.
type testEngine struct {
	oneTool
	t     *testing.T
	e     *transfer.Engine
	path  string // of the database
	store *store.DB
	kinds []string // extensions of the nodes
	// conflict is the conflict setting of new transfers; empty is the default.
	conflict string
	rules    atomic.Value // a string that changes with the rules

	mu       sync.Mutex // guards machines
	machines map[protocol.NodeID]*scriptedNode
}

// Authorize implements transfer.Authorizer: the person does not answer.
func (s *testEngine) Authorize(ctx context.Context, _ tool.Call) (tool.Authorization, error) {
	<-ctx.Done()
	return tool.Authorization{}, context.Cause(ctx)
}

// Check implements transfer.Authorizer.
func (s *testEngine) Check(tool.Call) error { return nil }

// Link implements transfer.Machines.
func (s *testEngine) Link(id protocol.NodeID) (nodes.Link, nodes.Contact, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.machines[id]
	return p, nodes.Contact{Extensions: s.kinds}, p != nil
}

func (s *testEngine) connectNode(id protocol.NodeID, hears func(p *scriptedNode, event string, id uint32)) *scriptedNode {
	return s.addNode(id, &scriptedNode{hears: hears})
}

func (s *testEngine) addNode(id protocol.NodeID, p *scriptedNode) *scriptedNode {
	p.gone = make(chan struct{})
	s.mu.Lock()
	defer s.mu.Unlock()
	s.machines[id] = p
	return p
}

// advanceTime advances the time.
func advanceTime(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// inBubble runs f in a bubble; begin is called before the queue is loaded.
func inBubble(t *testing.T, begin func(s *testEngine), f func(s *testEngine)) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		db, err := store.Open(t.Context(), filepath.Join(dir, "x.db"))
		if err != nil {
			t.Fatal(err)
		}
		s := &testEngine{t: t, path: filepath.Join(dir, "x.db"), store: db, kinds: []string{protocol.ExtTransfer}, machines: make(map[protocol.NodeID]*scriptedNode)}
		s.rules.Store("before")
		s.e = transfer.New(transfer.Options{
			Store: db.Transfers, Bus: new(event.Bus), Machines: s, Authorizer: s, RulesVersion: func() string { return s.rules.Load().(string) },
		})
		begin(s)
		if err := s.e.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ran := make(chan struct{})
		go func() {
			defer close(ran)
			s.e.Run(ctx)
		}()
		defer func() {
			cancel()
			<-ran
			s.e.Close()
			db.Close()
		}()
		f(s)
	})
}

// reportSizeAfter reports a number of bytes, after a delay.
func (s *testEngine) reportSizeAfter(size int64, after time.Duration) func(*scriptedNode, string, uint32) {
	return func(p *scriptedNode, event string, id uint32) {
		if event == protocol.EventTransferSend {
			time.Sleep(after)
			proceed, _ := s.e.Relays().Meta(p, protocol.TransferMetaParams{TransferID: &id, Size: &size, Files: 1})
			proceed()
		}
	}
}

// acceptThen accepts the transfer, then calls f.
func (s *testEngine) acceptThen(f func(p *scriptedNode, id uint32)) func(*scriptedNode, string, uint32) {
	return func(p *scriptedNode, event string, id uint32) {
		if event == protocol.EventTransferReceive {
			proceed, _ := s.e.Relays().Accept(p, protocol.TransferAcceptParams{TransferID: &id})
			proceed()
			if f != nil {
				synctest.Wait()
				f(p, id)
			}
		}
	}
}

func (s *testEngine) frame(p *scriptedNode, id uint32, body []byte) {
	stream.ReadFrame(bytes.NewReader(append(binary.LittleEndian.AppendUint32(nil, id), body...)), func() {}, func(f *stream.Frame) { s.e.Relays().Frame(p, f) })
}

// progress encodes a destination's progress record.
func progress(files uint32, size int64, current string) []byte {
	b := append([]byte{'p'}, binary.LittleEndian.AppendUint32(nil, uint32(12+len(current)))...)
	b = binary.LittleEndian.AppendUint32(b, files)
	b = binary.LittleEndian.AppendUint64(b, uint64(size))
	return append(b, current...)
}

func (s *testEngine) start() protocol.TransferID { return s.startTo("b:y") }

func (s *testEngine) startTo(destination string) protocol.TransferID {
	s.t.Helper()
	tr, err := s.e.Start(s.t.Context(), transfer.Request{TransferStartParams: protocol.TransferStartParams{Sources: []string{"a:x"}, Destination: destination, Later: true, Conflict: s.conflict}})
	if err != nil {
		s.t.Fatal(err)
	}
	return tr.ID
}

func (s *testEngine) get(id protocol.TransferID) protocol.Transfer {
	s.t.Helper()
	tr, err := s.e.Get(s.t.Context(), protocol.TransferParams{ID: id})
	if err != nil {
		s.t.Fatal(err)
	}
	return tr
}

func doNothing(*testEngine) {}

// A machine that sleeps is silent for a minute before its connection is given up. That may happen
// any number of times.
func TestOftenInterruptedTransferSurvivesSilence(t *testing.T) {
	inBubble(t, doNothing, func(s *testEngine) {
		s.connectNode("a", s.reportSizeAfter(100, 0))
		b := s.connectNode("b", s.acceptThen(nil))
		id := s.start()
		for range 5 {
			synctest.Wait()
			old := b
			b = s.connectNode("b", s.acceptThen(nil))
			close(old.gone)
			advanceTime(2 * time.Second)
		}
		for want := 7; want <= 8; want++ {
			advanceTime(time.Minute + 2*time.Second)
			if tr := s.get(id); tr.State != protocol.TransferRunning || tr.Attempts != want {
				s.t.Fatalf("got %s after %d attempts, error %q, want running after %d", tr.State, tr.Attempts, tr.Error, want)
			}
		}
		// A transfer without progress does not retry for ever.
		advanceTime(time.Minute + 2*time.Second)
		if tr := s.get(id); tr.State != protocol.TransferFailed || tr.Attempts != 8 || tr.Error != "Transfer timeout" {
			s.t.Errorf("got %s after %d attempts, error %q, want a timeout after 8", tr.State, tr.Attempts, tr.Error)
		}
	})
}

func TestProgressingTransferOutlivesSilence(t *testing.T) {
	inBubble(t, doNothing, func(s *testEngine) {
		s.connectNode("a", s.reportSizeAfter(100, 0))
		done := int64(0)
		s.connectNode("b", s.acceptThen(func(p *scriptedNode, id uint32) {
			done += 10
			s.frame(p, id, progress(0, done, "y"))
		}))
		id := s.start()
		advanceTime(6 * time.Minute)
		if tr := s.get(id); tr.State != protocol.TransferRunning || tr.Attempts < 5 || tr.BytesDone < 50 {
			s.t.Errorf("got %s after %d attempts, %d bytes, error %q, want running", tr.State, tr.Attempts, tr.BytesDone, tr.Error)
		}
	})
}

func TestSourceMayScanForMinutes(t *testing.T) {
	inBubble(t, doNothing, func(s *testEngine) {
		s.connectNode("a", s.reportSizeAfter(100, 5*time.Minute))
		s.connectNode("b", s.acceptThen(func(p *scriptedNode, id uint32) {
			n := int64(100)
			proceed, _ := s.e.Relays().Done(p, protocol.TransferDoneParams{TransferID: &id, BytesWritten: &n, Files: 1})
			proceed()
		}))
		id := s.start()
		advanceTime(5*time.Minute + time.Second)
		if tr := s.get(id); tr.State != protocol.TransferDone || tr.Attempts != 1 {
			s.t.Errorf("got %s after %d attempts, error %q, want done after 1", tr.State, tr.Attempts, tr.Error)
		}
	})
}

// A node that must remove unfinished files but does not read must not block others.
func TestStalledMachineDelaysNoOther(t *testing.T) {
	inBubble(t, func(s *testEngine) {
		for i := range 30 {
			row := store.Transfer{Transfer: protocol.Transfer{
				ID: protocol.TransferID(fmt.Sprint("t", i)), State: protocol.TransferCancelled, Sources: []string{"a:x"}, Destination: "stuck:x", From: "a", To: "stuck",
				Attempts: 1, Current: "x", CreatedAt: 1, EndedAt: int64(i + 1),
			}}
			if err := s.store.Transfers.Put(s.t.Context(), row); err != nil {
				s.t.Fatal(err)
			}
		}
	}, func(s *testEngine) {
		s.addNode("stuck", &scriptedNode{deaf: true})
		advanceTime(1500 * time.Millisecond) // the request is being sent
		began, took := time.Now(), time.Duration(-1)
		s.connectNode("a", func(*scriptedNode, string, uint32) { took = time.Since(began) })
		s.connectNode("b", nil)
		s.start()
		advanceTime(10 * time.Second)
		if took != 0 {
			s.t.Errorf("got another transfer begun after %s, want it at once", took)
		}
	})
}

// Transfers that wait for the approval of an absent person must not block those that need no
// approval.
func TestTransfersWithQuestionsOccupyNoSlot(t *testing.T) {
	inBubble(t, doNothing, func(s *testEngine) {
		for range 20 {
			s.start()
		}
		advanceTime(time.Second)
		s.rules.Store("after")
		var begun atomic.Int32
		s.connectNode("a", func(*scriptedNode, string, uint32) { begun.Add(1) })
		s.connectNode("b", nil)
		advanceTime(2 * time.Second)
		s.start()
		advanceTime(2 * time.Second)
		if n := begun.Load(); n != 1 {
			s.t.Errorf("got %d transfers begun, want 1", n)
		}
	})
}

// Transfers that wait for the person at their destination must not block transfers to other nodes.
func TestTransferDoesNotWaitForQuestionsOfOthers(t *testing.T) {
	inBubble(t, doNothing, func(s *testEngine) {
		s.connectNode("a", s.reportSizeAfter(100, 0))
		var asked, begun atomic.Int32
		s.connectNode("b", func(*scriptedNode, string, uint32) { asked.Add(1) })
		s.connectNode("c", func(*scriptedNode, string, uint32) { begun.Add(1) })
		for range 30 {
			s.start()
		}
		advanceTime(time.Second)
		for range 3 {
			s.startTo("c:y")
		}
		advanceTime(time.Second)
		if asked.Load() != 16 || begun.Load() != 1 {
			s.t.Errorf("got %d questions, %d transfers begun, want 16, 1", asked.Load(), begun.Load())
		}
	})
}

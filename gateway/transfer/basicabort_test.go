package transfer_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/native"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
	"fairlead/gateway/transfer"
)

// useBasicProtocol restricts every node to the basic protocol, and lets transfers overwrite.
func useBasicProtocol(s *testEngine) { s.kinds, s.conflict = nil, protocol.ConflictOverwrite }

// meta, accept, complete and done send the reports of a node that knows only the basic protocol.
// A negative number is left out.
func (s *testEngine) meta(p *scriptedNode, id uint32, size int64, err string) {
	params := protocol.TransferMetaParams{TransferID: &id, Error: err}
	if size >= 0 {
		params.Size = &size
	}
	proceed, _ := s.e.Relays().Meta(p, params)
	proceed()
}

func (s *testEngine) accept(p *scriptedNode, id uint32, err string) {
	proceed, _ := s.e.Relays().Accept(p, protocol.TransferAcceptParams{TransferID: &id, Error: err})
	proceed()
}

func (s *testEngine) complete(p *scriptedNode, id uint32) {
	proceed, _ := s.e.Relays().Complete(p, protocol.TransferCompleteParams{TransferID: &id})
	proceed()
}

func (s *testEngine) done(p *scriptedNode, id uint32, bytes int64, err string) {
	params := protocol.TransferDoneParams{TransferID: &id, Error: err}
	if bytes >= 0 {
		params.BytesWritten = &bytes
	}
	proceed, _ := s.e.Relays().Done(p, params)
	proceed()
}

// TestEveryWayABasicTransferEnds plays both nodes: a case replaces some of their answers. In each
// case the transfer must end with the reason, and a second one between the same nodes must work.
func TestEveryWayABasicTransferEnds(t *testing.T) {
	type act func(s *testEngine, p *scriptedNode, id uint32)
	const send, start, receive, end = protocol.EventTransferSend, protocol.EventTransferStart, protocol.EventTransferReceive, protocol.EventTransferEnd
	const part = "b:y may be incomplete: send it again, or delete it"
	leave := func(_ *testEngine, p *scriptedNode, _ uint32) { close(p.gone) }
	nothing := func(*testEngine, *scriptedNode, uint32) {}
	bytes := func(n int) act {
		return func(s *testEngine, p *scriptedNode, id uint32) {
			s.frame(p, id, make([]byte, n))
			s.complete(p, id)
		}
	}
	for name, c := range map[string]struct {
		on   map[string]act
		want []string // parts of the error; none means success
		size int64    // expected on success
	}{
		"in order":             {size: 5},
		"no bytes":             {on: map[string]act{send: func(s *testEngine, p *scriptedNode, id uint32) { s.meta(p, id, 0, "") }, start: bytes(0)}, size: 0},
		"no size and no bytes": {on: map[string]act{send: func(s *testEngine, p *scriptedNode, id uint32) { s.meta(p, id, -1, "") }, start: bytes(0)}, size: 0},
		"no size and bytes":    {on: map[string]act{send: func(s *testEngine, p *scriptedNode, id uint32) { s.meta(p, id, -1, "") }}, want: []string{"announced 0 bytes but sends more", part}},
		"no bytesWritten":      {on: map[string]act{end: func(s *testEngine, p *scriptedNode, id uint32) { s.done(p, id, -1, "") }}, size: 5},
		"every report twice": {on: map[string]act{end: func(s *testEngine, p *scriptedNode, id uint32) {
			s.accept(p, id, "")
			s.done(p, id, 5, "")
			s.done(p, id, 0, "late")
		}}, size: 5},
		"the source has no such file": {on: map[string]act{send: func(s *testEngine, p *scriptedNode, id uint32) { s.meta(p, id, 0, "No such file") }}, want: []string{"No such file"}},
		"the destination refuses":     {on: map[string]act{receive: func(s *testEngine, p *scriptedNode, id uint32) { s.accept(p, id, "Permission denied") }}, want: []string{"Permission denied"}},
		"the source sends less":       {on: map[string]act{start: bytes(3)}, want: []string{"announced 5 bytes but sent 3", part}},
		"the source sends more":       {on: map[string]act{start: bytes(7)}, want: []string{"announced 5 bytes but sends more", part}},
		"the source fails while it sends": {on: map[string]act{start: func(s *testEngine, p *scriptedNode, id uint32) {
			s.frame(p, id, []byte("xx"))
			s.meta(p, id, 0, "Read error")
		}}, want: []string{"Read error", part}},
		"the destination fails while it gets": {on: map[string]act{start: func(s *testEngine, p *scriptedNode, id uint32) {
			s.frame(p, id, []byte("xx"))
			s.done(s.node("b"), id, 2, "Write error: full")
		}}, want: []string{"Write error: full", part}},
		"the destination ends too early":       {on: map[string]act{start: func(s *testEngine, p *scriptedNode, id uint32) { s.done(s.node("b"), id, 0, "") }}, want: []string{"The destination stopped before everything was sent", part}},
		"the destination fails at the end":     {on: map[string]act{end: func(s *testEngine, p *scriptedNode, id uint32) { s.done(p, id, 5, "Write error: full") }}, want: []string{"Write error: full", part}},
		"the destination wrote less":           {on: map[string]act{end: func(s *testEngine, p *scriptedNode, id uint32) { s.done(p, id, 4, "") }}, want: []string{"The destination wrote 4 bytes of 5", part}},
		"the source leaves at once":            {on: map[string]act{send: leave}, want: []string{"Node disconnected: a"}},
		"the source leaves before the start":   {on: map[string]act{start: leave}, want: []string{"Node disconnected: a", part}},
		"the source leaves in the middle":      {on: map[string]act{start: func(s *testEngine, p *scriptedNode, id uint32) { s.frame(p, id, []byte("xx")); close(p.gone) }}, want: []string{"Node disconnected: a", part}},
		"the destination leaves at once":       {on: map[string]act{receive: leave}, want: []string{"Node disconnected: b"}},
		"the destination leaves at the end":    {on: map[string]act{end: leave}, want: []string{"Node disconnected: b", part}},
		"the source never reports":             {on: map[string]act{send: nothing}, want: []string{"Transfer timeout"}},
		"the destination never accepts":        {on: map[string]act{receive: nothing}, want: []string{"Transfer timeout"}},
		"the source never sends":               {on: map[string]act{start: nothing}, want: []string{"Transfer timeout", part}},
		"the destination never says it has it": {on: map[string]act{end: nothing}, want: []string{"Transfer timeout", part}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, useBasicProtocol, func(s *testEngine) {
				on := c.on
				hears := func(p *scriptedNode, event string, id uint32) {
					if f := on[event]; f != nil {
						f(s, p, id)
						return
					}
					switch event {
					case send:
						s.meta(p, id, 5, "")
					case start:
						bytes(5)(s, p, id)
					case receive:
						s.accept(p, id, "")
					case end:
						s.done(p, id, p.got.Load(), "")
					}
				}
				s.connectNode("a", hears)
				s.connectNode("b", hears)
				id := s.start()
				advanceTime(2 * time.Minute)
				tr := s.get(id)
				for _, w := range c.want {
					if tr.State != protocol.TransferFailed || !strings.Contains(tr.Error, w) {
						t.Errorf("got %s, error %q, want failed with %q", tr.State, tr.Error, w)
					}
				}
				if !slices.Contains(c.want, part) && strings.Contains(tr.Error, "incomplete") {
					t.Errorf("got error %q, want none about an incomplete file, because nothing was written", tr.Error)
				}
				if len(c.want) == 0 && (tr.State != protocol.TransferDone || tr.BytesDone != c.size) {
					t.Errorf("got %s, %d bytes, error %q, want done, %d bytes", tr.State, tr.BytesDone, tr.Error, c.size)
				}
				on = nil
				s.connectNode("a", hears)
				s.connectNode("b", hears)
				id = s.start()
				advanceTime(time.Minute)
				if tr := s.get(id); tr.State != protocol.TransferDone || tr.BytesDone != 5 {
					t.Errorf("the next one: got %s, %d bytes, error %q, want done, 5", tr.State, tr.BytesDone, tr.Error)
				}
			})
		})
	}
}

func (s *testEngine) node(id protocol.NodeID) *scriptedNode {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.machines[id]
}

// TestInvalidListingSendsNothing: the destination fails to report whether a file exists.
func TestInvalidListingSendsNothing(t *testing.T) {
	answer := func(raw string, err error) oneTool {
		return func(context.Context) (json.RawMessage, error) { return json.RawMessage(raw), err }
	}
	for name, c := range map[string]struct {
		glob oneTool
		want string
	}{
		"an error":          {answer("", &tool.Failure{Text: "Invalid pattern"}), "b could not list its files, so nothing was sent: Invalid pattern"},
		"no JSON":           {answer("{", nil), "b could not list its files"},
		"no list":           {answer(`{"count":0}`, nil), "b did not list its files"},
		"null":              {answer("null", nil), "b did not list its files"},
		"a text":            {answer(`"none"`, nil), "b could not list its files"},
		"a part of a list":  {answer(`{"matches":[],"truncated":true}`, nil), "lists more than"},
		"too many names":    {answer(`{"matches":["/y"],"count":1}`, nil), "100 numbered names"},
		"a lost connection": {answer("", protocol.ErrUnavailable.With("Node disconnected: b")), "Node disconnected: b"},
		"no answer": {func(ctx context.Context) (json.RawMessage, error) {
			<-ctx.Done()
			return nil, context.Cause(ctx)
		}, "b did not list its files within 1 min"},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(s *testEngine) { s.kinds, s.oneTool = nil, c.glob }, func(s *testEngine) {
				s.connectNode("a", s.reportSizeAfter(5, 0))
				s.connectNode("b", func(_ *scriptedNode, event string, _ uint32) { t.Errorf("b got %s", event) })
				s.conflict = protocol.ConflictRename
				id := s.start()
				advanceTime(2 * time.Minute)
				if tr := s.get(id); tr.State != protocol.TransferFailed || !strings.Contains(tr.Error, c.want) {
					t.Errorf("got %s, error %q, want failed with %q", tr.State, tr.Error, c.want)
				}
			})
		})
	}
}

// TestToolReportsTheWrittenPathAndBytes checks the result of gsv__Transfer.
func TestToolReportsTheWrittenPathAndBytes(t *testing.T) {
	written := func(n int64) *int64 { return &n }
	for name, c := range map[string]struct {
		destination string
		done        protocol.TransferDoneParams
		want        native.TransferOut
	}{
		"as asked for": {"b:in/y", protocol.TransferDoneParams{Files: 1, BytesWritten: written(5), Path: "/ws/in/y"}, native.TransferOut{Destination: "b:in/y", BytesTransferred: 5, Path: "/ws/in/y"}},
		"skipped":      {"b:in/y", protocol.TransferDoneParams{Skipped: 1, BytesWritten: written(0), Path: "/ws/in/y"}, native.TransferOut{Destination: "b:in/y", Skipped: 1, Path: "/ws/in/y"}},
		"renamed":      {"b:in/y", protocol.TransferDoneParams{Files: 1, BytesWritten: written(5), Path: "/ws/in/y (2)"}, native.TransferOut{Destination: "b:in/y (2)", BytesTransferred: 5, Path: "/ws/in/y (2)"}},
		"renamed at the top, on Windows": {`b:y`, protocol.TransferDoneParams{Files: 1, BytesWritten: written(5), Path: `C:\ws\y (2)`}, native.TransferOut{
			Destination: "b:y (2)", BytesTransferred: 5, Path: `C:\ws\y (2)`,
		}},
		"into a folder": {"b:in/", protocol.TransferDoneParams{Files: 1, BytesWritten: written(5), Path: "/ws/in/x (2)"}, native.TransferOut{Destination: "b:in/x (2)", BytesTransferred: 5, Path: "/ws/in/x (2)"}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, doNothing, func(s *testEngine) {
				s.connectNode("a", s.reportSizeAfter(5, 0))
				s.connectNode("b", s.acceptThen(func(p *scriptedNode, id uint32) {
					c.done.TransferID = &id
					proceed, _ := s.e.Relays().Done(p, c.done)
					proceed()
				}))
				got, err := transfer.NewCalls(s.e).Tool(context.Background(), tool.Call{}, native.TransferIn{Source: "a:x", Destination: c.destination, Conflict: protocol.ConflictRename})
				synctest.Wait()
				c.want.Source, c.want.State, c.want.TransferID = "a:x", protocol.TransferDone, got.TransferID
				if err != nil || got != c.want {
					t.Errorf("got %+v, %v, want %+v", got, err, c.want)
				}
			})
		})
	}
}

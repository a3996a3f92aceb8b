package nodes

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/protocol"
)

// resumableNode is a node that continues its calls when its connection is lost.
func resumableNode(id string, calls ...protocol.CallID) protocol.ConnectParams {
	p := params(id, protocol.ExtKeep, protocol.ExtCancel)
	for i := range p.Tools {
		if p.Tools[i].Name == "Read" {
			p.Tools[i].Effect = protocol.EffectRead
		}
	}
	p.Calls = calls
	return p
}

// outcome is the result of a call.
type outcome struct {
	raw json.RawMessage
	err error
}

// begin makes a call and waits until its node has received it.
func begin(ctx context.Context, h *Hub, link *fakeLink, tool string, id protocol.CallID) <-chan outcome {
	ch := make(chan outcome, 1)
	go func() {
		raw, err := h.Calls.Call(ctx, "n", protocol.ToolInvoke{CallID: id, Tool: tool}, nil)
		ch <- outcome{raw, err}
	}()
	<-link.events
	return ch
}

func attachAs(t *testing.T, h *Hub, p protocol.ConnectParams, e Entry) (*fakeLink, func()) {
	t.Helper()
	link := newLink()
	detach, err := h.Attach(t.Context(), p, e, link)
	if err != nil {
		t.Fatal(err)
	}
	return link, detach
}

func TestCallGoesOnWithANodeThatComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(nil, nil)
		link, left := attachAs(t, h, resumableNode("n"), Entry{})
		resumed, forgotten, read := begin(t.Context(), h, link, "Bash", "resumed"), begin(t.Context(), h, link, "Bash", "forgotten"), begin(t.Context(), h, link, "Read", "read")
		left()
		if o := <-read; !errors.Is(o.err, protocol.ErrUnavailable) {
			t.Errorf("a call that only reads: got error %v, want ErrUnavailable", o.err)
		}
		time.Sleep(reconnectLimit - time.Second)
		link, _ = attachAs(t, h, resumableNode("n", "resumed", "unheard of"), Entry{})
		if o := <-forgotten; !errors.Is(o.err, protocol.ErrUnavailable) || o.err.Error() != "Node disconnected: n" {
			t.Errorf("a call that the node forgot: got error %v, want ErrUnavailable", o.err)
		}
		time.Sleep(reconnectLimit) // the first connection's time limit has passed
		// The next connection opens before the loss of this one is noticed.
		attachAs(t, h, resumableNode("n", "resumed"), Entry{})
		if link.closed == "" {
			t.Error("the connection before it is open")
		}
		if _, err := h.Calls.Result("n", protocol.ToolResultParams{CallID: "resumed", Result: json.RawMessage(`"all"`)}); err != nil {
			t.Fatal(err)
		}
		if o := <-resumed; o.err != nil || string(o.raw) != `"all"` {
			t.Errorf("got %s, %v; want no error and raw `\"all\"`", o.raw, o.err)
		}
	})
}

func TestCallOfANodeThatStaysAwayEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(nil, nil)
		link, left := attachAs(t, h, resumableNode("n"), Entry{})
		end, began := begin(t.Context(), h, link, "Bash", "c"), time.Now()
		left()
		if o := <-end; !errors.Is(o.err, protocol.ErrUnavailable) || time.Since(began) != reconnectLimit {
			t.Errorf("%v after %s; want error ErrUnavailable and time since began %v", o.err, time.Since(began), reconnectLimit)
		}
		link, _ = attachAs(t, h, resumableNode("n", "c"), Entry{})
		h.Pinged("n", link, time.Millisecond)
		if len(link.events) > 0 {
			t.Error("its outcome is unknown, but it is stopped")
		}
	})
}

// Another machine does not get a call by using the node's name.
func TestCallDoesNotMoveToAnotherDevice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(nil, nil)
		link, left := attachAs(t, h, resumableNode("n"), Entry{Device: "a"})
		end := begin(t.Context(), h, link, "Bash", "c")
		left()
		attachAs(t, h, resumableNode("n", "c"), Entry{Device: "b"})
		if o := <-end; !errors.Is(o.err, protocol.ErrUnavailable) {
			t.Errorf("got %s, %v; want error ErrUnavailable", o.raw, o.err)
		}
	})
}

func TestAReturningNodeStopsACancelledCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(nil, nil)
		link, left := attachAs(t, h, resumableNode("n"), Entry{})
		ctx, cancel := context.WithCancel(t.Context())
		end := begin(ctx, h, link, "Bash", "c")
		left()
		cancel()
		if o := <-end; !errors.Is(o.err, context.Canceled) {
			t.Errorf("got %v; want error Canceled", o.err)
		}
		link, _ = attachAs(t, h, resumableNode("n", "c"), Entry{})
		h.Pinged("n", link, time.Millisecond)
		h.Pinged("n", link, time.Millisecond)
		if c, ok := (<-link.events).(protocol.ToolCancel); !ok || c.CallID != "c" || len(link.events) > 0 {
			t.Errorf("it was told %+v, want the end of c alone", c)
		}
		if ack, err := h.Calls.Result("n", protocol.ToolResultParams{CallID: "c"}); err != nil || !ack.Dropped {
			t.Errorf("got %+v, %v; want no error and Dropped", ack, err)
		}
	})
}

func TestCallOfAnEarlierStartIsResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(nil, nil)
		if _, err := h.Calls.Rejoin(t.Context(), "n", "c", nil); !errors.Is(err, protocol.ErrUnavailable) {
			t.Errorf("before the node connects: got error %v, want ErrUnavailable", err)
		}
		attachAs(t, h, resumableNode("n", "c"), Entry{})
		if _, err := h.Calls.Rejoin(t.Context(), "n", "another", nil); !errors.Is(err, protocol.ErrUnavailable) {
			t.Errorf("a call that the node does not know: got error %v, want ErrUnavailable", err)
		}
		end := make(chan outcome, 1)
		go func() {
			raw, err := h.Calls.Rejoin(t.Context(), "n", "c", nil)
			end <- outcome{raw, err}
		}()
		synctest.Wait()
		if _, err := h.Calls.Result("n", protocol.ToolResultParams{CallID: "c", Result: json.RawMessage(`1`)}); err != nil {
			t.Error(err)
		}
		if o := <-end; o.err != nil || string(o.raw) != "1" {
			t.Errorf(`got %s, %v; want no error and raw "1"`, o.raw, o.err)
		}
	})
}

func TestCallOfAnEarlierStartOutlivesLostConnections(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(nil, nil)
		rejoin := func(id protocol.CallID) <-chan outcome {
			end := make(chan outcome, 1)
			go func() {
				raw, err := h.Calls.Rejoin(t.Context(), "n", id, nil)
				end <- outcome{raw, err}
			}()
			synctest.Wait()
			return end
		}
		_, left := attachAs(t, h, resumableNode("n", "resumed", "forgotten"), Entry{})
		left() // before anybody has rejoined the calls
		resumed, forgotten := rejoin("resumed"), rejoin("forgotten")
		if o := <-rejoin("another"); !errors.Is(o.err, protocol.ErrUnavailable) {
			t.Errorf("a call that the node does not know: got error %v, want ErrUnavailable", o.err)
		}
		time.Sleep(reconnectLimit - time.Second)
		_, left = attachAs(t, h, resumableNode("n", "resumed"), Entry{})
		if o := <-forgotten; !errors.Is(o.err, protocol.ErrUnavailable) {
			t.Errorf("a call that the node forgot: got error %v, want ErrUnavailable", o.err)
		}
		time.Sleep(reconnectLimit) // the time limit of the first disconnect has passed
		left()
		time.Sleep(reconnectLimit - time.Second)
		attachAs(t, h, resumableNode("n", "resumed"), Entry{})
		time.Sleep(reconnectLimit)
		if _, err := h.Calls.Result("n", protocol.ToolResultParams{CallID: "resumed", Result: json.RawMessage(`"all"`)}); err != nil {
			t.Fatal(err)
		}
		if o := <-resumed; o.err != nil || string(o.raw) != `"all"` {
			t.Errorf("got %s, %v; want no error and raw `\"all\"`", o.raw, o.err)
		}
	})
}

func TestCallOfAnEarlierStartEndsWhenItsNodeStaysAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(nil, nil)
		_, left := attachAs(t, h, resumableNode("n", "c"), Entry{})
		left()
		began := time.Now()
		if _, err := h.Calls.Rejoin(t.Context(), "n", "c", nil); !errors.Is(err, protocol.ErrUnavailable) || time.Since(began) != reconnectLimit {
			t.Errorf("%v after %s; want error ErrUnavailable and time since began %v", err, time.Since(began), reconnectLimit)
		}
	})
}

func TestAStoppedCallStaysStoppedAfterARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := New(nil, memory{nodes: make(map[protocol.NodeID]protocol.NodeInfo), stopped: []protocol.CallID{"stopped"}})
		link, _ := attachAs(t, h, resumableNode("n", "goes on", "stopped"), Entry{})
		h.Pinged("n", link, time.Millisecond)
		h.Pinged("n", link, time.Millisecond)
		if c, ok := (<-link.events).(protocol.ToolCancel); !ok || c.CallID != "stopped" || len(link.events) > 0 {
			t.Errorf("it was told %+v, want the end of the stopped call alone", c)
		}
	})
}

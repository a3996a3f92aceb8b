package rpc

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// connect runs a client over dial until the returned function is called.
func connect(t testing.TB, dial func(context.Context) (net.Conn, error), o client.Options) (*client.Client, func()) {
	t.Helper()
	o.URL, o.Dial, o.Token = "ws://gateway/ws", dial, token
	if o.Connect == nil {
		id := "client-" + protocol.NewID()
		o.Connect = func() protocol.ConnectParams {
			return protocol.ConnectParams{MinProtocol: 1, Client: protocol.ClientInfo{ID: id, Mode: protocol.ModeClient}}
		}
	}
	up := make(chan struct{}, 1)
	o.OnUp = func(context.Context, protocol.ConnectResult) {
		select {
		case up <- struct{}{}:
		default:
		}
	}
	c := client.New(o)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		c.Run(ctx)
		close(done)
	}()
	select {
	case <-up:
	case <-done:
		t.Fatal("the client was refused")
	}
	return c, func() {
		cancel()
		<-done
	}
}

// connectNode connects a node that answers every call with the result of f.
func connectNode(t testing.TB, dial func(context.Context) (net.Conn, error), id string, f func(protocol.ToolInvoke) protocol.ToolResultParams) func() {
	t.Helper()
	var c *client.Client
	var wg sync.WaitGroup
	ready := make(chan struct{})
	c, stop := connect(t, dial, client.Options{
		Connect: func() protocol.ConnectParams {
			return protocol.ConnectParams{
				MinProtocol: 1, Client: protocol.ClientInfo{ID: id, Mode: protocol.ModeNode}, Extensions: []string{protocol.ExtCancel},
				Tools:       []protocol.ToolSpec{{Name: "Echo"}},
				NodeRuntime: &protocol.NodeRuntime{HostCapabilities: []string{protocol.CapExec}, ToolCapabilities: map[string][]string{"Echo": {protocol.CapExec}}},
			}
		},
		OnEvent: func(e protocol.EventFrame) {
			if e.Event != protocol.EventToolInvoke {
				return
			}
			wg.Go(func() {
				<-ready
				var inv protocol.ToolInvoke
				if err := json.Unmarshal(e.Payload, &inv); err != nil {
					t.Error(err)
				}
				res := f(inv)
				res.CallID = inv.CallID
				client.Call(context.Background(), c, protocol.ReturnResult, res)
			})
		},
	})
	close(ready)
	return func() {
		stop()
		wg.Wait()
	}
}

func TestMessagesOfOneClientKeepTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes()
		var seen []string
		first := make(chan struct{})
		f.sent = func(p protocol.ChatSendParams) {
			if p.Message == "0" {
				<-first
			}
			seen = append(seen, p.Message)
		}
		b, stop := open(f)
		defer stop()
		m, err := b.dial("owner")
		if err != nil {
			t.Fatal(err)
		}
		defer m.ws.Close()
		sendLine(t, m, `{"type":"req","id":"c","method":"connect","params":{"minProtocol":1,"client":{"id":"c","mode":"client"}}}`)
		for i := range 50 {
			sendLine(t, m, fmt.Sprintf(`{"type":"req","id":"%d","method":"chat.send","params":{"sessionKey":"main","message":"%d"}}`, i, i))
		}
		sendLine(t, m, `{"type":"req","id":"s","method":"status.get"}`)
		synctest.Wait()
		if heard := strings.Join(m.takeReceived(), "\n"); !strings.Contains(heard, `"id":"s"`) || strings.Contains(heard, `"id":"1"`) {
			t.Errorf("while the first message waits: got %s, want the answer s alone", heard)
		}
		close(first)
		synctest.Wait()
		if n := len(m.takeReceived()); n != 50 {
			t.Errorf("got %d answers, want 50", n)
		}
		if !slices.IsSortedFunc(seen, func(a, b string) int { return len(a)*100 + strings.Compare(a, b) - len(b)*100 }) || len(seen) != 50 {
			t.Errorf("got order %v, want that of the requests", seen)
		}
	})
}

// TestSlowMessageDelaysOnlyItsChat sends a message that takes long, such as one with a
// recording.
func TestSlowMessageDelaysOnlyItsChat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFakes()
		slow := make(chan struct{})
		f.sent = func(p protocol.ChatSendParams) {
			if p.Message == "slow" {
				<-slow
			}
		}
		b, stop := open(f)
		defer stop()
		m, err := b.dial("owner")
		if err != nil {
			t.Fatal(err)
		}
		defer m.ws.Close()
		sendLine(t, m, `{"type":"req","id":"c","method":"connect","params":{"minProtocol":1,"client":{"id":"c","mode":"client"}}}`)
		for _, chat := range []string{"slow in one", "after in one", "at once in two"} {
			message, key, _ := strings.Cut(chat, " in ")
			sendLine(t, m, fmt.Sprintf(`{"type":"req","id":%q,"method":"chat.send","params":{"sessionKey":%q,"message":%q}}`, chat, key, message))
		}
		synctest.Wait()
		if heard := strings.Join(m.takeReceived(), "\n"); !strings.Contains(heard, `"at once in two"`) || strings.Contains(heard, `"after in one"`) {
			t.Errorf("while the first message waits: got %s, want the other chat's alone", heard)
		}
		close(slow)
		synctest.Wait()
		heard := strings.Join(m.takeReceived(), "\n")
		if first, then := strings.Index(heard, `"slow in one"`), strings.Index(heard, `"after in one"`); first < 0 || then < first {
			t.Errorf("in the end: got %s, want the first message before the second", heard)
		}
	})
}

func TestProgressNeverOvertakesTheResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, stop := open(newFakes())
		defer stop()
		owner, stopOwner := connect(t, b.owner, client.Options{})
		defer stopOwner()
		node, err := b.dial("owner node")
		if err != nil {
			t.Fatal(err)
		}
		defer node.ws.Close()
		sendLine(t, node, `{"type":"req","id":"c","method":"connect","params":{"minProtocol":1,"client":{"id":"n","mode":"node"},"extensions":["x"],"tools":[{"name":"Echo"}],"nodeRuntime":{"hostCapabilities":["shell.exec"],"toolCapabilities":{"Echo":["shell.exec"]}}}}`)
		synctest.Wait()
		var tails []string
		sub := b.bus.SubscribeOnly(func(c protocol.Change) bool {
			if c.Kind == protocol.ChangeCall {
				tails = append(tails, c.Call.Tail)
			}
			return false
		})
		defer sub.Close()
		go client.Call(t.Context(), owner, protocol.InvokeTool, protocol.ToolInvokeParams{Tool: "n__Echo"})
		synctest.Wait()
		for i := range 100 {
			sendLine(t, node, fmt.Sprintf(`{"type":"req","id":"p","method":"tool.progress","params":{"callId":"call-1","tail":"%d","bytes":1}}`, i))
		}
		sendLine(t, node, `{"type":"req","id":"r","method":"tool.result","params":{"callId":"call-1","result":1}}`)
		sendLine(t, node, `{"type":"req","id":"p","method":"tool.progress","params":{"callId":"call-1","tail":"late","bytes":1}}`)
		synctest.Wait()
		for i, tail := range tails {
			if tail != fmt.Sprint(i) {
				t.Fatalf("progress: got %s, want %d", tail, i)
			}
		}
		if len(tails) != 100 {
			t.Errorf("got %d reports, want 100", len(tails))
		}
	})
}

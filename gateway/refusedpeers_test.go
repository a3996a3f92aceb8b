//go:build unix

package gateway_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

func asChannel(r *refusal) *client.Client { return r.channel }

func asPeer(r *refusal) *client.Client { return r.peer }

// connectNode connects a new machine, which becomes the peer.
func (r *refusal) connectNode() (id protocol.NodeID, calls <-chan protocol.CallID, stop func()) {
	id = protocol.NodeID(r.name("old"))
	r.peer, calls, stop = gsvNode(r.t, client.Options{URL: "ws://memory/ws", Dial: r.gw.Dial}, id)
	stop = sync.OnceFunc(stop)
	r.leaveAfterTest(id, stop)
	r.until("the machine is online", func() bool { return r.info(string(id)).Online })
	return id, calls, stop
}

// leaveAfterTest ends the connection of a machine with the present subtest.
func (r *refusal) leaveAfterTest(id protocol.NodeID, stop func()) {
	r.t.Cleanup(func() {
		stop()
		r.left = append(r.left, id)
	})
}

// hasLeft reports whether the machines of earlier subtests are offline.
func (r *refusal) hasLeft() bool {
	r.left = slices.DeleteFunc(r.left, func(id protocol.NodeID) bool { return !r.info(string(id)).Online })
	return len(r.left) == 0
}

// offline returns a known machine that is not connected.
func (r *refusal) offline() protocol.NodeID {
	id, _, stop := r.connectNode()
	stop()
	r.until("the machine is offline", func() bool { return !r.info(string(id)).Online })
	return id
}

// result makes the owner call a tool of a new machine, and returns the machine's result.
func (r *refusal) result() protocol.ToolResultParams {
	var wg sync.WaitGroup
	r.t.Cleanup(wg.Wait)
	id, calls, _ := r.connectNode()
	wg.Go(func() {
		_, _ = r.raw(r.owner, "tool.invoke", protocol.ToolInvokeParams{Tool: protocol.NewToolName(id, "Bash"), Args: json.RawMessage(`{}`)})
	})
	return protocol.ToolResultParams{CallID: <-calls, Result: json.RawMessage(`{"status":"completed","exitCode":0}`)}
}

// execEvent makes a chat start a command in the background on a new machine, and returns the
// machine's report of its end.
func (r *refusal) execEvent() protocol.NodeExecEvent {
	key, _ := r.chat()
	id, calls, _ := r.connectNode()
	ask(r.accessGateway, protocol.RequestTool, protocol.ToolRequestParams{
		CallID: protocol.NewCallID(), Tool: protocol.NewToolName(id, "Bash"), Args: json.RawMessage(`{}`), SessionKey: key,
	})
	e := protocol.NodeExecEvent{EventID: r.name("event"), SessionID: r.name("command"), Event: protocol.ExecFinished, CallID: <-calls, ExitCode: new(0)}
	result := protocol.ToolResultParams{CallID: e.CallID, Result: json.RawMessage(`{"status":"running","sessionId":"` + e.SessionID + `"}`)}
	if _, err := client.Call(r.t.Context(), r.peer, protocol.ReturnResult, result); err != nil {
		r.t.Fatal(err)
	}
	r.untilResult(key, e.CallID)
	return e
}

// untilResult waits until the result of a requested call is in its chat.
func (r *refusal) untilResult(key protocol.SessionKey, id protocol.CallID) {
	r.t.Helper()
	r.until("the chat has the result", func() bool {
		return slices.ContainsFunc(ask(r.accessGateway, protocol.SessionPreview, protocol.SessionPreviewParams{SessionKey: key}).Messages, func(msg protocol.Message) bool {
			return msg.ToolCallID == string(id)
		})
	})
}

// transferParams describes a transfer that waits for a machine.
func (r *refusal) transferParams() protocol.TransferStartParams {
	return protocol.TransferStartParams{Sources: []string{"box:" + r.file()}, Destination: string(r.offline()) + ":/x/", Later: true}
}

// file makes a file of the machine and returns its path.
func (r *refusal) file() string {
	path := filepath.Join(r.workspace, r.name("file"))
	if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
		r.t.Fatal(err)
	}
	return path
}

// transfer starts a transfer that waits for a machine.
func (r *refusal) transfer() protocol.TransferParams {
	p := ofTransfer(ask(r.accessGateway, protocol.TransferStart, r.transferParams()))
	r.untilTransfer(p, protocol.TransferWaiting)
	return p
}

// finishedTransfer replaces a file of the machine.
func (r *refusal) finishedTransfer() protocol.TransferParams {
	name := r.name("note")
	ask(r.accessGateway, protocol.WorkspaceWrite, protocol.WorkspaceWriteParams{Path: name, Content: new("new")})
	if err := os.WriteFile(filepath.Join(r.workspace, name), []byte("old"), 0o600); err != nil {
		r.t.Fatal(err)
	}
	p := ofTransfer(ask(r.accessGateway, protocol.TransferStart, protocol.TransferStartParams{
		Sources: []string{"gsv:" + name}, Destination: "box:" + r.workspace, Into: true, Conflict: protocol.ConflictOverwrite,
	}))
	r.untilTransfer(p, protocol.TransferDone)
	return p
}

func (r *refusal) untilTransfer(p protocol.TransferParams, state string) {
	r.t.Helper()
	r.until("the transfer is "+state, func() bool { return ask(r.accessGateway, protocol.TransferGet, p).State == state })
}

func ofTransfer(t protocol.Transfer) protocol.TransferParams {
	return protocol.TransferParams{ID: t.ID}
}

// queued makes a chat whose run waits for the owner, and returns a message that waits behind it.
func (r *refusal) queued() protocol.ChatCancelParams {
	key, _ := r.chat()
	ask(r.accessGateway, protocol.ChatSend, protocol.ChatSendParams{SessionKey: key, Message: "run ls -la"})
	r.until("a question", func() bool {
		return slices.ContainsFunc(r.pending(), func(q protocol.Question) bool { return q.SessionKey == key })
	})
	run := protocol.RunID(r.name("run"))
	ask(r.accessGateway, protocol.ChatSend, protocol.ChatSendParams{SessionKey: key, Message: "what can you do", RunID: run})
	r.t.Cleanup(func() {
		_, err := client.Call(context.Background(), r.owner, protocol.ChatCancel, protocol.ChatCancelParams{SessionKey: key})
		if err != nil {
			r.t.Error(err)
		}
	})
	return protocol.ChatCancelParams{SessionKey: key, RunID: run}
}

// note makes a file of the agent.
func (r *refusal) note() protocol.WorkspaceDeleteParams {
	path := r.name("note") + ".md"
	ask(r.accessGateway, protocol.WorkspaceWrite, protocol.WorkspaceWriteParams{Path: path, Content: new("x")})
	return protocol.WorkspaceDeleteParams{Path: path}
}

// connectClient pairs a client and connects it.
func (r *refusal) connectClient() protocol.Empty {
	m := newMachine(r.t, r.name("phone"))
	c, err := m.connect(r.t, r.pairByLink(m, m.device(protocol.RoleClient)).ID())
	if err != nil {
		r.t.Fatal(err)
	}
	r.peer = c
	return protocol.Empty{}
}

//go:build unix

package gateway_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/peer/polltest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// gsvNode connects a node without extensions: it declares no effects and leaves every command
// running. to.OnEvent, if set, gets its events, too.
func gsvNode(t testing.TB, to client.Options, id protocol.NodeID) (node *client.Client, began <-chan protocol.CallID, stop func()) {
	t.Helper()
	calls, up := make(chan protocol.CallID, 8), make(chan struct{}, 8)
	to.Logger = slog.New(slog.DiscardHandler)
	to.Connect = func() protocol.ConnectParams {
		return protocol.ConnectParams{
			MinProtocol: protocol.Version, MaxProtocol: protocol.Version, Client: protocol.ClientInfo{ID: string(id), Mode: protocol.ModeNode},
			Tools: []protocol.ToolSpec{{Name: "Bash", Description: "Runs", InputSchema: json.RawMessage(`{"type":"object"}`)}},
			NodeRuntime: &protocol.NodeRuntime{
				HostCapabilities: []string{"shell.exec"}, ToolCapabilities: map[string][]string{"Bash": {"shell.exec"}},
			},
		}
	}
	to.OnUp = func(context.Context, protocol.ConnectResult) { up <- struct{}{} }
	also := to.OnEvent
	to.OnEvent = func(e protocol.EventFrame) {
		if also != nil {
			also(e)
		}
		var call protocol.ToolInvoke
		if e.Event == protocol.EventToolInvoke && json.Unmarshal(e.Payload, &call) == nil {
			calls <- call.CallID
		}
	}
	node = client.New(to)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- node.Run(ctx) }()
	select {
	case <-up:
	case <-time.After(3 * time.Minute):
		t.Fatal("the machine was not taken in")
	}
	return node, calls, func() { cancel(); <-done }
}

// TestTheGatewayKeepsTheProtocolsPromises checks rules of the protocol that need the whole gateway.
func TestTheGatewayKeepsTheProtocolsPromises(t *testing.T) {
	t.Setenv("FAIRLEAD_SECRETS", "file")
	t.Setenv("FAIRLEAD_TOKEN", "kill-test")
	c := startChild(t, t.TempDir())
	defer c.kill()
	conn, stop := dial(t, c.url)
	defer stop()

	// A skill that was just written is listed at once (skills.status).
	for range 5 {
		text := "---\nname: fresh\ndescription: New\n---\nText"
		call(t, conn, protocol.WorkspaceWrite, protocol.WorkspaceWriteParams{Path: "skills/fresh/SKILL.md", Content: &text})
		has := func() bool {
			return slices.ContainsFunc(call(t, conn, protocol.SkillsStatus, protocol.SkillsParams{}).Skills, func(s protocol.SkillStatusEntry) bool { return s.Name == "fresh" })
		}
		if !has() {
			t.Error("a skill that was written is not listed")
		}
		call(t, conn, protocol.WorkspaceDelete, protocol.WorkspaceDeleteParams{Path: "skills/fresh/SKILL.md"})
		if has() {
			t.Error("a skill that was deleted is listed")
		}
	}

	// A key from sessions.list can be read with session.preview.
	run := call(t, conn, protocol.ChatSend, protocol.ChatSendParams{SessionKey: "main", Message: "which machines are there?"}).RunID
	words := func() []protocol.Message {
		return call(t, conn, protocol.SessionPreview, protocol.SessionPreviewParams{SessionKey: protocol.MainSession}).Messages
	}
	polltest.Until(t, "an answer", func() bool { return len(words()) == 2 && words()[1].RunID == run })
	call(t, conn, protocol.ConfigSet, protocol.ConfigSetParams{Path: "session.mainKey", Value: json.RawMessage(`"home"`)})
	if list := words(); len(list) != 3 || list[2].Origin != protocol.OriginNotice {
		t.Errorf("the main chat of before: %+v", list)
	}
	if s := call(t, conn, protocol.SessionGet, protocol.SessionParams{SessionKey: "main"}); s.SessionKey != "agent:main:home" || s.MessageCount != 0 {
		t.Errorf("the main chat: got %+v, want it empty under its name", s)
	}
	call(t, conn, protocol.ConfigSet, protocol.ConfigSetParams{Path: "session.mainKey"})

	// The answer to a system event goes to the last active channel.
	call(t, conn, protocol.ConfigSet, protocol.ConfigSetParams{Path: "channels.telex", Value: json.RawMessage(`{"dmPolicy":"open"}`)})
	w := openWire(t, c.url, "kill-test")
	defer w.stop()
	job := func() string {
		added := call(t, conn, protocol.CronAdd, protocol.CronAddParams{
			Name: "look", Schedule: &protocol.CronSchedule{Kind: protocol.CronEvery, EveryMs: 3_600_000},
			Spec: &protocol.CronMode{Mode: protocol.CronSystemEvent, Text: "which machines are there?"},
		})
		return call(t, conn, protocol.CronRunNow, protocol.CronRunParams{ID: added.Job.ID, Mode: "force"}).Results[0].Summary
	}
	if s := job(); !strings.Contains(s, "\n") { // behind the key of the chat
		t.Errorf("the summary of a job without a channel: got %q, want an answer", s)
	}
	w.write(t, "which machines are there?")
	w.waitText(t, "")
	job()
	w.waitText(t, "")

	// The end of a background command is posted to the chat, see
	// docs/protocol.md#background-commands.
	node, began, leave := gsvNode(t, client.Options{URL: c.url, Token: "kill-test"}, "box")
	defer leave()
	run = call(t, conn, protocol.ChatSend, protocol.ChatSendParams{SessionKey: "agent:main:app:chat:x", Message: "run make on box"}).RunID
	var q protocol.Question
	polltest.Until(t, "a question", func() bool {
		open := call(t, conn, protocol.QuestionList, protocol.Empty{}).Questions
		if len(open) == 1 {
			q = open[0]
		}
		return len(open) == 1
	})
	if q.RunID != run {
		t.Errorf("got %+v; want RunID %v", q, run)
	}
	call(t, conn, protocol.QuestionAnswer, protocol.QuestionAnswerParams{ID: q.ID, Hash: q.Hash, Decision: protocol.DecisionAllow, Scope: protocol.ScopeOnce})
	id := <-began
	event := protocol.NodeExecEvent{EventID: "e1", SessionID: "s1", Event: protocol.ExecFinished}
	// Before the call's result the report is too early: the node retains it and sends it again.
	if _, err := client.Call(t.Context(), node, protocol.ReportExec, event); err == nil {
		t.Error("an end was taken before the chat knew of the command")
	}
	call(t, node, protocol.ReturnResult, protocol.ToolResultParams{CallID: id, Result: json.RawMessage(`{"status": "running", "sessionId": "s1", "pid": 5}`)})
	polltest.Until(t, "the end is taken", func() bool {
		ack, err := client.Call(t.Context(), node, protocol.ReportExec, event)
		return err == nil && ack.OK && !ack.Dropped
	})
}

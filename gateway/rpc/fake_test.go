package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"fairlead/gateway/approval"
	"fairlead/gateway/auth"
	"fairlead/gateway/channel"
	"fairlead/gateway/config"
	"fairlead/gateway/cron"
	"fairlead/gateway/dispatch"
	"fairlead/gateway/event"
	"fairlead/gateway/nodes"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/tool"
	"fairlead/gateway/skills"
	"fairlead/gateway/store"
	"fairlead/gateway/transfer"
	"fairlead/gateway/workspace"
)

// fakes are services that answer by what they are asked: the key "fail-507" fails with that code. Machines and the bus are real.
type fakes struct {
	bus       *event.Bus
	hub       *nodes.Hub
	schedules Schedules // only in the conversations that say so
	channels  Channels  // likewise
	files     *workspace.Files
	rules     *approval.Rules
	transfers *transfer.Engine
	calls     atomic.Int32
	offNet    bool                          // other machines cannot reach the gateway
	sent      func(protocol.ChatSendParams) // when set, sees each message
}

const token = "right"

// workspaces holds the agents' files of all tests.
var workspaces string

func TestMain(m *testing.M) {
	var err error
	if workspaces, err = os.MkdirTemp("", "fairlead-rpc-"); err != nil {
		panic(err)
	}
	code := m.Run()
	os.RemoveAll(workspaces)
	os.Exit(code)
}

func newFakes() *fakes {
	f := &fakes{bus: new(event.Bus), schedules: (*cron.Scheduler)(nil), channels: (*channel.Hub)(nil)}
	f.hub = nodes.New(f.bus, nil)
	var err error
	if f.rules, err = approval.OpenRules(context.Background(), noRules{}, func() config.ToolApproval { return config.Default().ToolApproval }); err != nil {
		panic(err)
	}
	home, err := os.MkdirTemp(workspaces, "")
	if err != nil {
		panic(err)
	}
	f.files = workspace.NewFiles(home)
	f.transfers = transfer.New(transfer.Options{Store: &transferRows{}, Bus: f.bus, Machines: f.hub, Folders: f.files.Transfer, First: 6})
	return f
}

func (f *fakes) services() Services {
	return Services{
		Version: "test", Bus: f.bus, Sessions: fakeSessions{f}, Tools: fakeTools{f}, Nodes: f.hub, Approvals: fakeApprovals{}, Config: fakeConfig{}, Files: f.files, Journal: fakeJournal{}, Rules: f.rules, Audit: fakeAudit{}, Models: fakeModels{}, Schedules: f.schedules, Devices: fakeDevices(f), Transfers: f.transfers,
		Skills:   skills.New(skills.Options{Files: f.files, Nodes: f.hub.Nodes, Config: config.Default, Set: fakeConfig{}.Set}),
		Channels: f.channels,
		StartTransfer: func(ctx context.Context, _ auth.Principal, by protocol.AskedBy, p protocol.TransferStartParams) (protocol.Transfer, error) {
			return f.transfers.StartBy(ctx, transferCalls{f}, auth.Owner("test"), by, p)
		},
		Status: func(context.Context) protocol.Status {
			return protocol.Status{Version: "test", Model: protocol.ModelRef{Provider: "operator", ID: "built-in"}}
		},
		Pause: func(_ context.Context, paused bool) (protocol.Status, error) {
			return protocol.Status{Version: "test", Paused: paused}, nil
		},
		Verify: func(_ context.Context, got string) error {
			if got != token {
				return protocol.ErrUnauthorized
			}
			return nil
		},
		CheckOrigin: func(r *http.Request) error {
			if r.Header.Get("Origin") != "" {
				return protocol.ErrForbidden.With("web pages from elsewhere may not connect")
			}
			return nil
		},
		Canonical: func(key protocol.SessionKey) protocol.SessionKey {
			if key == "main" || key == "agent:main:cli:dm:main" {
				return protocol.MainSession
			}
			return key
		},
		ExecEvent: func(_ context.Context, node protocol.NodeID, e protocol.NodeExecEvent) (protocol.Ack, error) {
			if e.SessionID == "early" {
				return protocol.Ack{}, protocol.ErrUnavailable.With("the chat of this command is not ready for it yet; report it again")
			}
			return protocol.Ack{OK: true, Dropped: e.SessionID != string(node)+"-1"}, nil
		},
		Requested: func(_ context.Context, key protocol.SessionKey, r dispatch.Result) error {
			f.bus.Publish(protocol.Change{Kind: protocol.ChangeMessage, SessionKey: key, Message: &protocol.Message{
				Role: protocol.RoleToolResult, ToolCallID: r.Info.ToolCallID, IsError: r.IsError, Content: r.Content,
			}})
			return nil
		},
	}
}

// fails is the error that a key asks for.
func fails(key string) error {
	code, ok := strings.CutPrefix(key, "fail-")
	if !ok {
		return nil
	}
	n, _ := strconv.Atoi(code)
	return fmt.Errorf("asked for: %w", &protocol.Error{Code: n, Message: "code " + code, Retryable: n == protocol.CodeUnavailable})
}

type fakeSessions struct{ f *fakes }

func (s fakeSessions) Send(_ context.Context, p auth.Principal, in protocol.ChatSendParams) (protocol.ChatSendResult, error) {
	if s.f.sent != nil {
		s.f.sent(in)
	}
	switch in.Message {
	case "/help":
		return protocol.ChatSendResult{Status: protocol.ChatCommand, Command: "help", Response: "text for " + p.String()}, nil
	case "what?":
		if in.Remind {
			return protocol.ChatSendResult{Status: protocol.ChatPaused, RunID: in.RunID, Response: "Reply yes or no.", ApprovalID: "a1"}, nil
		}
	case "yes":
		return protocol.ChatSendResult{Status: protocol.ChatPaused, RunID: in.RunID, Response: "approved", ApprovalID: "a1"}, nil
	}
	return protocol.ChatSendResult{Status: protocol.ChatStarted, RunID: in.RunID}, fails(in.Message)
}

func (fakeSessions) Cancel(_ context.Context, in protocol.ChatCancelParams) (protocol.ChatCancelResult, error) {
	return protocol.ChatCancelResult{OK: true, RunID: in.RunID, Cancelled: in.RunID != ""}, nil
}

func (fakeSessions) List(_ context.Context, in protocol.SessionsListParams) (protocol.SessionsListResult, error) {
	return protocol.SessionsListResult{Sessions: []protocol.SessionEntry{{SessionKey: protocol.MainSession, Label: in.Query}}, Count: in.Offset + in.Limit}, nil
}

func (fakeSessions) Search(_ context.Context, in protocol.SessionsSearchParams) (protocol.SessionsSearchResult, error) {
	if in.Query == "" {
		return protocol.SessionsSearchResult{}, protocol.ErrBadRequest.With("query required: at least one word")
	}
	return protocol.SessionsSearchResult{Hits: []protocol.SearchHit{{
		SessionKey: "agent:main:main", SessionID: "s1", Title: "t", Archived: true, MessageID: "m1",
		Seq: 1, Role: protocol.RoleUser, Snippet: []protocol.Snippet{{Text: "a "}, {Text: in.Query, Mark: true}},
	}}, Next: 7}, nil
}

func (fakeSessions) Get(_ context.Context, in protocol.SessionParams) (protocol.SessionGetResult, error) {
	if in.SessionKey == "panic" {
		panic("boom")
	}
	return protocol.SessionGetResult{SessionID: "s1", SessionKey: in.SessionKey}, fails(string(in.SessionKey))
}

func (fakeSessions) Stats(_ context.Context, in protocol.SessionParams) (protocol.SessionStats, error) {
	return protocol.SessionStats{SessionKey: in.SessionKey, QueueSize: 2, IsProcessing: true}, nil
}

func (fakeSessions) Patch(_ context.Context, in protocol.SessionPatchParams) (protocol.OK, error) {
	return protocol.OK{OK: in.Label != nil}, nil
}

func (fakeSessions) Reset(_ context.Context, in protocol.SessionParams) (protocol.SessionResetResult, error) {
	return protocol.SessionResetResult{OK: true, SessionKey: in.SessionKey, OldSessionID: "s1", NewSessionID: "s2", ArchivedMessages: 3}, nil
}

func (fakeSessions) Compact(_ context.Context, in protocol.SessionCompactParams) (protocol.SessionCompactResult, error) {
	if in.KeepMessages == nil {
		return protocol.SessionCompactResult{OK: true, KeptMessages: 20}, nil
	}
	if *in.KeepMessages < 1 {
		return protocol.SessionCompactResult{}, protocol.ErrBadRequest.With("keepMessages must be 1 or more")
	}
	return protocol.SessionCompactResult{OK: true, TrimmedMessages: 9, KeptMessages: *in.KeepMessages, ArchivedTo: "archive/" + in.Focus}, nil
}

func (fakeSessions) Uncompact(context.Context, protocol.SessionParams) (protocol.SessionUncompactResult, error) {
	return protocol.SessionUncompactResult{OK: true, Messages: 9}, nil
}

func (fakeSessions) Archives(_ context.Context, in protocol.SessionParams) (protocol.SessionArchivesResult, error) {
	return protocol.SessionArchivesResult{SessionKey: in.SessionKey, Archives: []protocol.ArchiveInfo{{ID: "a", SessionID: "s1", Kind: protocol.ArchiveReset, Messages: 1, ArchivedTo: "archive/a"}}}, nil
}

func (fakeSessions) RestoreArchive(_ context.Context, in protocol.SessionArchiveRestoreParams) (protocol.SessionArchiveRestoreResult, error) {
	out := protocol.SessionArchiveRestoreResult{OK: true, SessionKey: in.SessionKey, SessionID: "s1", Messages: 3}
	switch in.ID {
	case "":
		return protocol.SessionArchiveRestoreResult{}, protocol.ErrBadRequest.With("id required")
	case "none":
		return protocol.SessionArchiveRestoreResult{}, protocol.ErrNotFound.With("The chat has no archive none")
	case "busy", "part", "damaged":
		return protocol.SessionArchiveRestoreResult{}, protocol.ErrConflict.With("It is " + string(in.ID) + ".")
	case "a":
		out.Archived = &protocol.ArchiveInfo{ID: "s2", SessionID: "s2", Kind: protocol.ArchiveReset, Messages: 1, ArchivedTo: "archive/s2"}
	}
	return out, nil
}

func (fakeSessions) ReadArchive(_ context.Context, in protocol.SessionArchiveReadParams) (protocol.SessionArchiveReadResult, error) {
	if in.ID == "" {
		return protocol.SessionArchiveReadResult{}, protocol.ErrBadRequest.With("id required")
	}
	return protocol.SessionArchiveReadResult{Archive: protocol.ArchiveInfo{ID: in.ID, Kind: protocol.ArchiveCompact}, Messages: []protocol.Message{}}, nil
}

func (fakeSessions) History(_ context.Context, in protocol.SessionParams) (protocol.SessionHistoryResult, error) {
	return protocol.SessionHistoryResult{SessionKey: in.SessionKey, CurrentSessionID: "s2", PreviousSessionIDs: []protocol.SessionID{"s1"}}, nil
}

func (fakeSessions) Preview(_ context.Context, in protocol.SessionPreviewParams) (protocol.SessionPreviewResult, error) {
	text := "hello"
	if in.SessionKey == "huge" {
		text = strings.Repeat("x", in.Limit)
	}
	return protocol.SessionPreviewResult{
		SessionKey: in.SessionKey, SessionID: "s1", MessageCount: 1,
		Messages: []protocol.Message{{Role: protocol.RoleUser, Content: protocol.Content{protocol.Text(text)}}},
	}, nil
}

func (fakeSessions) Create(_ context.Context, in protocol.SessionCreateParams) (protocol.SessionEntry, error) {
	return protocol.SessionEntry{SessionKey: in.SessionKey, Label: in.Label}, nil
}

func (fakeSessions) Delete(context.Context, protocol.SessionParams) (protocol.SessionDeleteResult, error) {
	return protocol.SessionDeleteResult{OK: true, UndoUntil: 10}, nil
}

func (fakeSessions) Restore(context.Context, protocol.SessionParams) (protocol.OK, error) {
	return protocol.OK{OK: true}, nil
}

func (fakeSessions) Media(_ context.Context, in protocol.MediaGetParams) (protocol.MediaGetResult, error) {
	return protocol.MediaGetResult{MimeType: "image/png", Data: "AA=="}, fails(in.Key)
}

func (s fakeSessions) Snapshot(context.Context) ([]protocol.SessionEntry, []protocol.RunInfo, error) {
	return []protocol.SessionEntry{{SessionKey: protocol.MainSession}}, nil, nil
}

type fakeTools struct{ f *fakes }

// Call runs the call on the machine, or ends as the argument "end" says.
func (t fakeTools) Call(ctx context.Context, p auth.Principal, c dispatch.Call) (dispatch.Result, error) {
	node, spec, err := t.f.hub.Lookup(c.Tool)
	if c.Act != nil {
		_, spec.Name, _ = c.Tool.Split()
		node, err = c.Act.Node, nil
	}
	if err != nil {
		return dispatch.Result{}, err
	}
	if p.Kind != auth.KindOwner || !c.Direct {
		return dispatch.Result{}, errors.New("not the person's own act")
	}
	var args struct {
		End string `json:"end"`
	}
	json.Unmarshal(c.Args, &args)
	end := func(state, text string) (dispatch.Result, error) {
		return dispatch.Result{
			IsError: true, Info: protocol.CallInfo{State: state, Error: text, ToolCallID: c.ToolCallID},
			Content: protocol.Content{protocol.Text("Error: " + text)},
		}, nil
	}
	switch args.End {
	case "denied":
		return end(protocol.CallDenied, "Denied by a rule: no.")
	case "unknown":
		return end(protocol.CallUnknown, "Node disconnected: "+string(node))
	case "timeout":
		return dispatch.Result{}, protocol.ErrTimeout.With("Tool request timed out")
	case "arguments":
		return dispatch.Result{}, &tool.InputError{Err: errors.New("command is missing")}
	}
	if c.ID == "" {
		c.ID = protocol.CallID(fmt.Sprintf("call-%d", t.f.calls.Add(1)))
	}
	raw, err := t.f.hub.Call(ctx, node, protocol.ToolInvoke{CallID: c.ID, Tool: spec.Name, Args: c.Args}, func(p protocol.ToolProgress) {
		t.f.bus.Publish(protocol.Change{Kind: protocol.ChangeCall, Call: &protocol.CallInfo{CallID: p.CallID, Tool: spec.Name, State: protocol.CallRunning, Tail: p.Tail, Bytes: p.Bytes}})
	})
	var failed *nodes.ToolError
	switch {
	case errors.As(err, &failed):
		return end(protocol.CallFailed, failed.Text)
	case errors.Is(err, protocol.ErrUnavailable):
		return end(protocol.CallUnknown, err.Error())
	case err != nil:
		return dispatch.Result{}, err
	}
	return dispatch.Result{Raw: raw, Content: protocol.Content{protocol.Text(string(raw))}, Info: protocol.CallInfo{State: protocol.CallDone, ToolCallID: c.ToolCallID}}, nil
}

// Start leaves every call to Call.
func (fakeTools) Start(context.Context, auth.Principal, dispatch.Call, func(func()), func(dispatch.Result, error)) bool {
	return false
}

func (fakeTools) Cancel(id protocol.CallID) bool { return id == "call-1" }

func (fakeTools) Running() []protocol.CallInfo { return nil }

type fakeApprovals struct{}

func (fakeApprovals) Pending(context.Context) ([]protocol.Approval, error) {
	return []protocol.Approval{{
		ID: "open", Kind: protocol.AskCall, State: protocol.ApprovalPending, Node: "n", Tool: "Bash",
		Offers: []protocol.RuleOffer{{Policy: json.RawMessage(`{"tool":"Bash","argv":["ls"],"node":"n","cwd":"/srv/**","verdict":"allow"}`)}},
	}}, nil
}

func (fakeApprovals) Answer(_ context.Context, by string, p protocol.ApprovalAnswerParams) (protocol.ApprovalAnswerResult, error) {
	if p.Hash != "h" {
		return protocol.ApprovalAnswerResult{}, protocol.ErrConflict.With("the answer is about something else than what was shown")
	}
	return protocol.ApprovalAnswerResult{Won: true, Approval: protocol.Approval{ID: p.ID, State: protocol.ApprovalAllowed, AnsweredBy: by, Scope: p.Scope}}, nil
}

func (f fakeApprovals) AnswerAll(ctx context.Context, by string, p protocol.ApprovalAnswerAllParams) (res protocol.ApprovalAnswerAllResult, err error) {
	if len(p.Questions) == 0 {
		return res, protocol.ErrBadRequest.With("between 1 and 1000 questions can be answered at once, not 0")
	}
	for _, q := range p.Questions {
		out := protocol.ApprovalOutcome{ID: q.ID}
		if r, err := f.Answer(ctx, by, protocol.ApprovalAnswerParams{ID: q.ID, Hash: q.Hash, Scope: p.Scope}); err != nil {
			out.Error = protocol.AsError(err)
		} else {
			out.Won, out.Approval = r.Won, &r.Approval
		}
		res.Outcomes = append(res.Outcomes, out)
	}
	return res, nil
}

func (fakeApprovals) Snooze(_ context.Context, p protocol.ApprovalSnoozeParams) error {
	if len(p.IDs) == 0 {
		return protocol.ErrBadRequest.With("ids required")
	}
	return fails(string(p.IDs[0]))
}

func (fakeApprovals) Shown(_ context.Context, p protocol.ApprovalShownParams) error {
	return fails(string(p.ID))
}

type fakeConfig struct{}

func (fakeConfig) Schema() []protocol.ConfigField {
	return []protocol.ConfigField{{Path: "agent.maxSteps", Type: "integer", Default: json.RawMessage("40"), Description: "How many steps."}}
}

func (fakeConfig) All() (json.RawMessage, error) { return json.RawMessage(`{"model":{}}`), nil }

func (fakeConfig) Read(path string) (json.RawMessage, bool, error) {
	if path == "auth.token" {
		return json.RawMessage(`"` + protocol.MaskedSecret + `"`), true, nil
	}
	return nil, false, nil
}

func (fakeConfig) Set(_ context.Context, path string, value json.RawMessage) error {
	if string(value) == `"wrong"` {
		return protocol.ErrBadRequest.With(path + ": must be a number")
	}
	return nil
}

type fakeModels struct{}

func (fakeModels) Providers() []protocol.Provider { return nil }

func (fakeModels) Models(_ context.Context, provider string) ([]protocol.ModelInfo, error) {
	return []protocol.ModelInfo{{ID: "m1"}}, fails(provider)
}

func (fakeModels) Test(_ context.Context, provider, model string) protocol.ModelsTestResult {
	return protocol.ModelsTestResult{OK: true, Message: provider + " answered with " + model}
}

func (fakeModels) Detect(context.Context) []protocol.DetectedServer { return nil }

// fakeJournal has three calls.
type fakeJournal struct{}

func (fakeJournal) Journal(_ context.Context, q protocol.JournalListParams) ([]store.Call, bool, error) {
	if err := fails(string(q.SessionKey)); err != nil {
		return nil, false, err
	}
	code := 0
	all := []store.Call{
		{
			Info: protocol.CallInfo{CallID: "c3", Node: "n", Tool: "Bash", Effect: protocol.EffectExec, State: protocol.CallDone, Args: json.RawMessage(`{"command":"ls"}`), ExitCode: &code, StartedAt: 5, EndedAt: 6},
			Seq:  3, CreatedAt: 4, Principal: "owner c", ResultJSON: json.RawMessage(`"x"`), OutputBytes: 3,
		},
		{Info: protocol.CallInfo{CallID: "c2", Node: "n", Tool: "Read", State: protocol.CallDone, Args: json.RawMessage(`{}`)}, Seq: 2},
		{Info: protocol.CallInfo{CallID: "c1", Node: "n", Tool: "Read", State: protocol.CallDone, Args: json.RawMessage(`{}`)}, Seq: 1},
	}
	n := min(q.Limit, len(all)-q.Offset)
	return all[q.Offset : q.Offset+n], n < q.Limit, nil
}

// noRules remembers nothing: the rules are kept by who uses it.
type noRules struct{}

func (noRules) Rules(context.Context) ([]protocol.Rule, error) { return nil, nil }
func (noRules) Grants(context.Context, protocol.SessionKey) ([]store.Grant, error) {
	return []store.Grant{{ID: "g", Session: "s", Node: "n", Tool: "Write", Match: "path /a", Words: "any write of /a", CreatedAt: 7, From: "asked"}}, nil
}

func (noRules) MarkGrant(_ context.Context, id string, _ int64, _ ...protocol.AuditEntry) (bool, error) {
	return id == "g", nil
}

func (noRules) CountRule(context.Context, string, int64) error { return nil }
func (noRules) PutRules(context.Context, []protocol.Rule, ...protocol.AuditEntry) error {
	return nil
}

// fakeAudit has two lines.
type fakeAudit struct{}

func (fakeAudit) AuditLines(_ context.Context, q protocol.AuditListParams) ([]protocol.AuditEntry, bool, error) {
	all := []protocol.AuditEntry{
		{Seq: 2, At: 20, Kind: protocol.AuditCall, By: "owner c", Node: "n", Tool: "Bash", What: "ls", Verdict: "allow", State: "done", Hash: "b"},
		{Seq: 1, At: 10, Kind: protocol.AuditRuleMade, By: "owner c", Rule: "r", Hash: "a"},
	}
	n := min(q.Limit, len(all))
	return all[:n], n < len(all), fails(string(q.SessionKey))
}

func (fakeAudit) VerifyAudit(context.Context) (protocol.AuditVerifyResult, error) {
	return protocol.AuditVerifyResult{Lines: 2}, nil
}

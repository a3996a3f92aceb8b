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
	"fairlead/gateway/event"
	"fairlead/gateway/forward"
	"fairlead/gateway/native"
	"fairlead/gateway/nodes"
	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/gateway/skills"
	"fairlead/gateway/terminal"
	"fairlead/gateway/tool"
	"fairlead/gateway/transfer"
	"fairlead/gateway/tunnel"
	"fairlead/gateway/workspace"
)

// fakes are services whose answers depend on the request: the key "fail-507" fails with that code.
// Nodes and the bus are real.
type fakes struct {
	starting  atomic.Bool // the gateway is not ready
	paused    atomic.Bool
	bus       *event.Bus
	hub       *nodes.Hub
	schedules *cron.Scheduler // only in the conversations that need them
	channels  *channel.Hub    // likewise
	files     *workspace.Files
	rules     *approval.Rules
	pipeline  *tool.Pipeline // with the machines' and the gateway's tools, for its checks
	transfers *transfer.Engine
	calls     atomic.Int32
	offNet    bool                          // other machines cannot reach the gateway
	sent      func(protocol.ChatSendParams) // if set, gets each message
}

const token = "right"

// workspaces is the folder of the agents' files for all tests.
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
	f := &fakes{bus: new(event.Bus), channels: new(channel.Hub)}
	f.hub = nodes.New(f.bus, nil)
	if err := f.hub.Networks.Open(context.Background(), &networkRows{}, "home"); err != nil {
		panic(err)
	}
	var err error
	if f.rules, err = approval.OpenRules(context.Background(), noRules{}, noGrants{}, approval.RulesOptions{Config: config.Default}); err != nil {
		panic(err)
	}
	home, err := os.MkdirTemp(workspaces, "")
	if err != nil {
		panic(err)
	}
	f.files = workspace.NewFiles(home, nil)
	registry := tool.NewRegistry(f.hub, f.hub.Calls, nil)
	registry.Register(native.Tools(native.Services{Cron: cron.Tool(nil)})...)
	f.pipeline = tool.New(tool.Options{Registry: registry})
	f.transfers = transfer.New(transfer.Options{Store: &transferRows{}, Bus: f.bus, Machines: f.hub, Folders: f.files.Transfer, First: 6, Authorizer: transferCalls{f.pipeline}})
	return f
}

func (f *fakes) services() Services {
	return Services{
		Version: "test", Bus: f.bus, Nodes: f.hub, Config: fakeConfig{}, Files: f.files, Rules: f.rules, Models: fakeModels{}, LocalModels: fakeLocalModels{}, Schedules: f.schedules,
		Connections: NewConnections(), Devices: fakeDevices(f), Servers: fakeServers(f), Transfers: f.transfers, Channels: f.channels,
		Published: fakePublished(f.bus), Provisioning: fakeProvisioning(f),
		Tunnels: tunnel.New(f.hub, f.bus), Forwards: forward.New(forward.Options{Machines: f.hub, Audit: fakeAudit{}, Bus: f.bus}),
		Terminals: terminal.New(terminal.Options{Machines: f.hub, Audit: fakeAudit{}, Bus: f.bus}),
		Sessions: Sessions{
			Chats: fakeChats{}, History: fakeHistory{}, Runs: fakeRuns{f}, Editor: fakeEditor{}, Trash: fakeTrash{}, Messages: fakeMessages{f},
			Canonical: func(key protocol.SessionKey) protocol.SessionKey {
				if key == "main" || key == "agent:main:cli:dm:main" {
					return protocol.MainSession
				}
				return key
			},
		},
		Calls: Calls{
			Tools: fakeTools{f}, Results: fakeTools{f}, Registry: tool.NewRegistry(f.hub, f.hub.Calls, nil), Transfers: transfer.NewCalls(f.transfers),
			ExecEvent: func(_ context.Context, node protocol.NodeID, e protocol.NodeExecEvent) (protocol.Ack, error) {
				if e.SessionID == "early" {
					return protocol.Ack{}, protocol.ErrUnavailable.With("the chat of this command is not ready for it yet; report it again")
				}
				return protocol.Ack{OK: true, Dropped: e.SessionID != string(node)+"-1"}, nil
			},
		},
		Questions: Questions{fakeQuestions{}, fakeQuestions{}},
		Records: Records{fakeJournal{}, fakeAudit{}, func(_ context.Context, p protocol.UsageReportParams) (protocol.UsageReportResult, error) {
			return protocol.UsageReportResult{Days: make([]protocol.UsageDay, p.Days)}, nil
		}},
		Programs: Programs{Apps: fakeApps(f), Catalog: fakeCatalog{}, Commands: fakeCatalog{}},
		Skills:   skills.New(skills.Options{Files: f.files, Nodes: f.hub.Nodes, Config: config.Default, Set: fakeConfig{}.Set}),
		Status: func(context.Context) protocol.Status {
			return protocol.Status{Version: "test", Paused: f.paused.Load(), Model: protocol.ModelRef{Provider: "operator", ID: "built-in"}}
		},
		Verify: func(_ context.Context, got string) error {
			if got != token {
				return protocol.ErrUnauthorized
			}
			return nil
		},
		Web: Web{
			Ready: func() bool { return !f.starting.Load() },
			CheckOrigin: func(r *http.Request) error {
				if r.Header.Get("Origin") != "" {
					return protocol.ErrForbidden.With("web pages from elsewhere may not connect")
				}
				return nil
			},
		},
	}
}

// fails returns the error that a key requests.
func fails(key string) error {
	code, ok := strings.CutPrefix(key, "fail-")
	if !ok {
		return nil
	}
	n, _ := strconv.Atoi(code)
	return fmt.Errorf("asked for: %w", &protocol.Error{Code: n, Message: "code " + code, Retryable: n == protocol.ErrUnavailable.Code})
}

type fakeTools struct{ f *fakes }

func (t fakeTools) Check(c tool.Call) error { return t.f.pipeline.Check(c) }

func (fakeTools) IsKnown(context.Context, protocol.CallID) (bool, error) { return false, nil }

// Run runs the call on the node, or ends as the argument "end" says.
func (t fakeTools) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	if err := t.Check(c); err != nil && c.FileOperation == nil {
		return tool.Result{}, err
	}
	if c.OnStart != nil {
		c.OnStart()
	}
	node, spec, err := t.f.hub.Lookup(c.Tool)
	if c.FileOperation != nil {
		_, spec.Name, _ = c.Tool.Split()
		node, err = c.FileOperation.Node, nil
	}
	if err != nil {
		return tool.Result{}, err
	}
	if c.Principal.Kind != auth.KindOwner || !c.Direct {
		return tool.Result{}, errors.New("not the person's own act")
	}
	var args struct {
		End string `json:"end"`
	}
	json.Unmarshal(c.Args, &args)
	end := func(state, text string) (tool.Result, error) {
		return tool.Result{
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
		return tool.Result{}, protocol.ErrTimeout.With("Tool request timed out")
	case "arguments":
		return tool.Result{}, &toolkit.InputError{Err: errors.New("command is missing")}
	}
	if c.ID == "" {
		c.ID = protocol.CallID(fmt.Sprintf("call-%d", t.f.calls.Add(1)))
	}
	raw, err := t.f.hub.Calls.Call(ctx, node, protocol.ToolInvoke{CallID: c.ID, Tool: spec.Name, Args: c.Args}, func(p protocol.ToolProgress) {
		t.f.bus.Publish(protocol.Change{Kind: protocol.ChangeCall, Call: &protocol.CallInfo{CallID: p.CallID, Tool: spec.Name, State: protocol.CallRunning, Tail: p.Tail, Bytes: p.Bytes}})
	})
	var failed *tool.Failure
	switch {
	case errors.As(err, &failed):
		return end(protocol.CallFailed, failed.Text)
	case errors.Is(err, protocol.ErrUnavailable):
		return end(protocol.CallUnknown, err.Error())
	case err != nil:
		return tool.Result{}, err
	}
	return tool.Result{Raw: raw, Content: protocol.Content{protocol.Text(string(raw))}, Info: protocol.CallInfo{State: protocol.CallDone, ToolCallID: c.ToolCallID}}, nil
}

func (fakeTools) AwaitStored(protocol.CallID) func(context.Context) error { return nil }

// AcceptLateResult knows the outcome of one call.
func (fakeTools) AcceptLateResult(_ context.Context, node protocol.NodeID, p protocol.ToolResultParams) (*tool.Result, error) {
	if p.CallID != "unknown-until-now" {
		return nil, protocol.ErrNotFound.With("Unknown callId")
	}
	return &tool.Result{
		Raw: p.Result, Content: protocol.Content{protocol.Text("known now: " + string(p.Result))},
		Info: protocol.CallInfo{CallID: p.CallID, ToolCallID: "late", Node: node, SessionKey: protocol.MainSession, State: protocol.CallDone},
	}, nil
}

func (fakeTools) Cancel(id protocol.CallID) bool { return id == "call-1" }

func (fakeTools) Running() []protocol.CallInfo { return nil }

type fakeQuestions struct{}

func (fakeQuestions) Pending(context.Context) ([]protocol.Question, error) {
	return []protocol.Question{{
		ID: "open", Kind: protocol.AskCall, State: protocol.QuestionPending, Node: "n", Tool: "Bash",
		Offers: []protocol.RuleOffer{{Policy: json.RawMessage(`{"tool":"Bash","argv":["ls"],"node":"n","cwd":"/srv/**","verdict":"allow"}`)}},
	}}, nil
}

func (fakeQuestions) Get(_ context.Context, id protocol.QuestionID) (protocol.Question, error) {
	return protocol.Question{ID: id, Kind: protocol.AskCall, State: protocol.QuestionDenied}, fails(string(id))
}

func (fakeQuestions) Answer(_ context.Context, who auth.Principal, p protocol.QuestionAnswerParams) (protocol.QuestionAnswerResult, error) {
	if p.Hash != "h" {
		return protocol.QuestionAnswerResult{}, protocol.ErrConflict.With("the answer is about something else than what was shown")
	}
	return protocol.QuestionAnswerResult{Won: true, Question: protocol.Question{ID: p.ID, State: protocol.QuestionAllowed, AnsweredBy: who.String(), Scope: p.Scope}}, nil
}

func (f fakeQuestions) AnswerAll(ctx context.Context, who auth.Principal, p protocol.QuestionAnswerAllParams) (res protocol.QuestionAnswerAllResult, err error) {
	if len(p.Questions) == 0 {
		return res, protocol.ErrBadRequest.With("between 1 and 1000 questions can be answered at once, not 0")
	}
	for _, q := range p.Questions {
		out := protocol.QuestionOutcome{ID: q.ID}
		if r, err := f.Answer(ctx, who, protocol.QuestionAnswerParams{ID: q.ID, Hash: q.Hash, Scope: p.Scope}); err != nil {
			out.Error = protocol.AsError(err)
		} else {
			out.Won, out.Question = r.Won, &r.Question
		}
		res.Outcomes = append(res.Outcomes, out)
	}
	return res, nil
}

func (fakeQuestions) Snooze(_ context.Context, p protocol.QuestionSnoozeParams) error {
	if len(p.IDs) == 0 {
		return protocol.ErrBadRequest.With("ids required")
	}
	return fails(string(p.IDs[0]))
}

func (fakeQuestions) Shown(_ context.Context, p protocol.QuestionShownParams) error {
	return fails(string(p.ID))
}

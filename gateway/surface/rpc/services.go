package rpc

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/event"
	"fairlead/gateway/nodes"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
	"fairlead/gateway/workspace"
)

// Sessions manages the conversations.
type Sessions interface {
	Send(ctx context.Context, p auth.Principal, in protocol.ChatSendParams) (protocol.ChatSendResult, error)
	Cancel(ctx context.Context, in protocol.ChatCancelParams) (protocol.ChatCancelResult, error)
	List(ctx context.Context, in protocol.SessionsListParams) (protocol.SessionsListResult, error)
	Search(ctx context.Context, in protocol.SessionsSearchParams) (protocol.SessionsSearchResult, error)
	Get(ctx context.Context, in protocol.SessionParams) (protocol.SessionGetResult, error)
	Stats(ctx context.Context, in protocol.SessionParams) (protocol.SessionStats, error)
	Patch(ctx context.Context, in protocol.SessionPatchParams) (protocol.OK, error)
	Reset(ctx context.Context, in protocol.SessionParams) (protocol.SessionResetResult, error)
	Compact(ctx context.Context, in protocol.SessionCompactParams) (protocol.SessionCompactResult, error)
	Uncompact(ctx context.Context, in protocol.SessionParams) (protocol.SessionUncompactResult, error)
	Archives(ctx context.Context, in protocol.SessionParams) (protocol.SessionArchivesResult, error)
	ReadArchive(ctx context.Context, in protocol.SessionArchiveReadParams) (protocol.SessionArchiveReadResult, error)
	RestoreArchive(ctx context.Context, in protocol.SessionArchiveRestoreParams) (protocol.SessionArchiveRestoreResult, error)
	History(ctx context.Context, in protocol.SessionParams) (protocol.SessionHistoryResult, error)
	Preview(ctx context.Context, in protocol.SessionPreviewParams) (protocol.SessionPreviewResult, error)
	Create(ctx context.Context, in protocol.SessionCreateParams) (protocol.SessionEntry, error)
	Delete(ctx context.Context, in protocol.SessionParams) (protocol.SessionDeleteResult, error)
	Restore(ctx context.Context, in protocol.SessionParams) (protocol.OK, error)
	Media(ctx context.Context, in protocol.MediaGetParams) (protocol.MediaGetResult, error)
	Snapshot(ctx context.Context) ([]protocol.SessionEntry, []protocol.RunInfo, error)
}

// Tools runs tool calls.
type Tools interface {
	Run(ctx context.Context, c tool.Call) (tool.Result, error)
	AcceptLateResult(ctx context.Context, node protocol.NodeID, p protocol.ToolResultParams) (*tool.Result, error)
	IsKnown(ctx context.Context, id protocol.CallID) (bool, error)
	Cancel(id protocol.CallID) bool
	Running() []protocol.CallInfo
}

// Registry lists the tools that exist now.
type Registry interface {
	Tools() []protocol.ToolSpec
	Lookup(name protocol.ToolName) (tool.Target, error)
}

// Nodes manages the connected nodes.
type Nodes interface {
	Attach(ctx context.Context, p protocol.ConnectParams, e nodes.Entry, link nodes.Link) (detach func(), err error)
	Forget(ctx context.Context, p protocol.NodeForgetParams) (protocol.NodeForgetResult, error)
	Update(ctx context.Context, p protocol.NodesUpdateParams) (protocol.NodeInfo, error)
	Pinged(id protocol.NodeID, link nodes.Link, took time.Duration)
	Release(id protocol.NodeID)
	LinkOf(id protocol.NodeID) (nodes.Link, bool)
	Nodes() []protocol.NodeInfo
	Pick(protocol.NodeID) (protocol.NodeID, error)
	Logs(ctx context.Context, id protocol.NodeID, lines int) (protocol.LogsGetResult, error)
	Result(from protocol.NodeID, p protocol.ToolResultParams) (protocol.Ack, error)
	LogsResult(from protocol.NodeID, p protocol.LogsResultParams) (protocol.Ack, error)
	Progress(from protocol.NodeID, p protocol.ToolProgress) (protocol.Ack, error)
}

// Approvals manages the approvals.
type Approvals interface {
	Pending(ctx context.Context) ([]protocol.Approval, error)
	Answer(ctx context.Context, by string, p protocol.ApprovalAnswerParams) (protocol.ApprovalAnswerResult, error)
	AnswerAll(ctx context.Context, by string, p protocol.ApprovalAnswerAllParams) (protocol.ApprovalAnswerAllResult, error)
	Snooze(ctx context.Context, p protocol.ApprovalSnoozeParams) error
	Shown(ctx context.Context, p protocol.ApprovalShownParams) error
}

// Config reads and changes the configuration.
type Config interface {
	All() (json.RawMessage, error)
	Read(path string) (json.RawMessage, bool, error)
	Set(ctx context.Context, path string, value json.RawMessage) error
	Schema() []protocol.ConfigField
}

// Models lists and tests the model providers.
type Models interface {
	Providers() []protocol.Provider
	Models(ctx context.Context, provider string) ([]protocol.ModelInfo, error)
	Test(ctx context.Context, provider, model string) protocol.ModelsTestResult
	Detect(ctx context.Context) []protocol.DetectedServer
}

// Files accesses the agents' workspaces.
type Files interface {
	List(agent protocol.AgentID, name string) (workspace.Listing, error)
	Read(agent protocol.AgentID, name string) (*workspace.File, *workspace.Listing, error)
	Write(agent protocol.AgentID, name string, data []byte) (string, error)
	Delete(agent protocol.AgentID, name string) (string, error)
}

// Services are the parts of the gateway that the surface uses. All fields but Requested are
// required.
type Services struct {
	Version   string
	Bus       *event.Bus
	Sessions  Sessions
	Tools     Tools
	Registry  Registry
	Nodes     Nodes
	Approvals Approvals
	Config    Config
	Files     Files
	Journal   Journal
	Rules     Rules
	Audit     Audit
	Models    Models
	Schedules Schedules
	Skills    Skills
	Transfers Transfers
	Devices   Devices
	// Install serves the install scripts and programs for new machines; nil answers 404.
	Install  http.Handler
	Channels Channels
	// Status returns the gateway's state; Pause changes it.
	Status func(ctx context.Context) protocol.Status
	Pause  func(ctx context.Context, paused bool) (protocol.Status, error)
	// Verify checks a token; CheckOrigin checks a request's Host and Origin.
	Verify      func(ctx context.Context, token string) error
	CheckOrigin func(r *http.Request) error
	// Canonical maps every spelling of a session key to the canonical one.
	Canonical func(protocol.SessionKey) protocol.SessionKey
	// ExecEvent handles a node's report on a background command.
	ExecEvent func(ctx context.Context, node protocol.NodeID, e protocol.NodeExecEvent) (protocol.Ack, error)
	// Requested stores the result of a tool.request in its session. When nil, the result is only in
	// the journal and the feed.
	Requested func(ctx context.Context, key protocol.SessionKey, r tool.Result) error
}

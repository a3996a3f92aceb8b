package rpc

import (
	"context"
	"encoding/json"
	"net/http"

	"fairlead/gateway/approval"
	"fairlead/gateway/apps"
	"fairlead/gateway/auth"
	"fairlead/gateway/channel"
	"fairlead/gateway/cron"
	"fairlead/gateway/event"
	"fairlead/gateway/nodes"
	"fairlead/gateway/pairing"
	"fairlead/gateway/protocol"
	"fairlead/gateway/servers"
	"fairlead/gateway/skills"
	"fairlead/gateway/store"
	"fairlead/gateway/tool"
	"fairlead/gateway/transfer"
	"fairlead/gateway/workspace"
)

// Chats lists, creates and copies chats, and changes their settings.
type Chats interface {
	List(ctx context.Context, in protocol.SessionsListParams) (protocol.SessionsListResult, error)
	Get(ctx context.Context, in protocol.SessionParams) (protocol.SessionGetResult, error)
	Create(ctx context.Context, in protocol.SessionCreateParams) (protocol.SessionEntry, error)
	Patch(ctx context.Context, in protocol.SessionPatchParams) (protocol.OK, error)
	Fork(ctx context.Context, in protocol.SessionForkParams) (protocol.SessionEntry, error)
}

// History reads the messages and archives of chats.
type History interface {
	SessionIDs(ctx context.Context, in protocol.SessionParams) (protocol.SessionHistoryResult, error)
	Preview(ctx context.Context, in protocol.SessionPreviewParams) (protocol.SessionPreviewResult, error)
	Search(ctx context.Context, in protocol.SessionsSearchParams) (protocol.SessionsSearchResult, error)
	Archives(ctx context.Context, in protocol.SessionParams) (protocol.SessionArchivesResult, error)
	ReadArchive(ctx context.Context, in protocol.SessionArchiveReadParams) (protocol.SessionArchiveReadResult, error)
}

// Runs stops and pauses the agent's runs.
type Runs interface {
	// Active returns the runs that have not ended, oldest first.
	Active() []protocol.RunInfo
	Stats(ctx context.Context, in protocol.SessionParams) (protocol.SessionStats, error)
	Cancel(ctx context.Context, in protocol.ChatCancelParams) (protocol.ChatCancelResult, error)
	Pause(ctx context.Context, paused bool) error
}

// Editor changes the messages of a chat.
type Editor interface {
	Reset(ctx context.Context, in protocol.SessionParams) (protocol.SessionResetResult, error)
	Compact(ctx context.Context, in protocol.SessionCompactParams) (protocol.SessionCompactResult, error)
	Uncompact(ctx context.Context, in protocol.SessionParams) (protocol.SessionUncompactResult, error)
	RestoreArchive(ctx context.Context, in protocol.SessionArchiveRestoreParams) (protocol.SessionArchiveRestoreResult, error)
	DeleteMessage(ctx context.Context, in protocol.MessageParams) (protocol.MessageDeleteResult, error)
}

// Trash deletes chats and restores them.
type Trash interface {
	Delete(ctx context.Context, in protocol.SessionParams) (protocol.SessionDeleteResult, error)
	Restore(ctx context.Context, in protocol.SessionParams) (protocol.OK, error)
}

// Messages accepts messages, and has the files that came with them.
type Messages interface {
	Send(ctx context.Context, p auth.Principal, in protocol.ChatSendParams) (protocol.ChatSendResult, error)
	Resend(ctx context.Context, p auth.Principal, in protocol.ChatResendParams) (protocol.ChatResendResult, error)
	Media(ctx context.Context, in protocol.MediaGetParams) (protocol.MediaGetResult, error)
	// StoreToolResult stores the result of a tool.request in its session.
	StoreToolResult(ctx context.Context, key protocol.SessionKey, r tool.Result) error
}

// Tools runs tool calls.
type Tools interface {
	Run(ctx context.Context, c tool.Call) (tool.Result, error)
	// Check returns why a call cannot be made now.
	Check(c tool.Call) error
	IsKnown(ctx context.Context, id protocol.CallID) (bool, error)
	Cancel(id protocol.CallID) bool
	Running() []protocol.CallInfo
}

// Results accepts the results of nodes. *tool.Pipeline implements it.
type Results interface {
	AwaitStored(id protocol.CallID) func(context.Context) error
	AcceptLateResult(ctx context.Context, node protocol.NodeID, p protocol.ToolResultParams) (*tool.Result, error)
}

// Registry lists the tools that exist now.
type Registry interface {
	Tools() []protocol.ToolSpec
}

// Questions holds what waits for the person.
type Questions interface {
	Pending(ctx context.Context) ([]protocol.Question, error)
	Get(ctx context.Context, id protocol.QuestionID) (protocol.Question, error)
	Answer(ctx context.Context, who auth.Principal, p protocol.QuestionAnswerParams) (protocol.QuestionAnswerResult, error)
	AnswerAll(ctx context.Context, who auth.Principal, p protocol.QuestionAnswerAllParams) (protocol.QuestionAnswerAllResult, error)
}

// QuestionDisplay records where questions are shown.
type QuestionDisplay interface {
	Snooze(ctx context.Context, p protocol.QuestionSnoozeParams) error
	Shown(ctx context.Context, p protocol.QuestionShownParams) error
}

// Config reads and changes the configuration.
type Config interface {
	All() (json.RawMessage, error)
	Read(path string) (json.RawMessage, error)
	Set(ctx context.Context, path string, value json.RawMessage) error
	Schema() []protocol.ConfigField
}

// Models lists and tests the model providers.
type Models interface {
	Providers() []protocol.Provider
	Models(ctx context.Context, provider string) ([]protocol.ModelInfo, error)
	Test(ctx context.Context, provider, model string) protocol.ModelsTestResult
	Detect(ctx context.Context) []protocol.DetectedServer
	CheckReserve(ctx context.Context, ref protocol.ModelRef, tokens int64) error
}

// Journal is the record of tool calls.
type Journal interface {
	List(ctx context.Context, q protocol.JournalListParams) (list []store.Call, more bool, err error)
}

// Audit is the audit log.
type Audit interface {
	List(ctx context.Context, q protocol.AuditListParams) (list []protocol.AuditEntry, more bool, err error)
	Verify(ctx context.Context) (protocol.AuditVerifyResult, error)
	Append(ctx context.Context, lines ...protocol.AuditEntry) error
}

// Services are the parts of the gateway that the surface uses. Install may be nil.
type Services struct {
	Version string
	Bus     *event.Bus

	Chats    Chats
	History  History
	Runs     Runs
	Editor   Editor
	Trash    Trash
	Messages Messages

	Tools     Tools
	Results   Results
	Registry  Registry
	Nodes     *nodes.Hub
	Questions Questions
	Display   QuestionDisplay
	Rules     *approval.Rules
	Journal   Journal
	Audit     Audit
	Config    Config
	Models    Models
	Files     *workspace.Files
	Skills    *skills.Catalog
	Schedules *cron.Scheduler
	Channels  *channel.Hub
	Transfers *transfer.Engine
	Devices   *pairing.Manager
	Apps      *apps.Apps
	Servers   *servers.Manager
	Catalog   Catalog
	Commands  Commands
	// Install serves the install scripts and programs for new machines; nil answers 404.
	Install http.Handler
	// Programs serves MCP, REST and their sign-in, and checks the caller's token itself; nil answers
	// 404.
	Programs http.Handler
	Status   func(ctx context.Context) protocol.Status
	// Ready reports whether the gateway can do its work; /health says so. nil: it always can.
	Ready func() bool
	// Verify checks a token; CheckOrigin checks a request's Host and Origin.
	Verify      func(ctx context.Context, token string) error
	CheckOrigin func(r *http.Request) error
	// Usage reports what models used.
	Usage func(ctx context.Context, p protocol.UsageReportParams) (protocol.UsageReportResult, error)
	// Canonical maps every spelling of a session key to the canonical one.
	Canonical func(protocol.SessionKey) protocol.SessionKey
	ExecEvent func(ctx context.Context, node protocol.NodeID, e protocol.NodeExecEvent) (protocol.Ack, error)
}

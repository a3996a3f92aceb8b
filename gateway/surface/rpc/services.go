package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"

	"fairlead/gateway/approval"
	"fairlead/gateway/apps"
	"fairlead/gateway/auth"
	"fairlead/gateway/channel"
	"fairlead/gateway/cron"
	"fairlead/gateway/event"
	"fairlead/gateway/exposure"
	"fairlead/gateway/forward"
	"fairlead/gateway/nodes"
	"fairlead/gateway/pairing"
	"fairlead/gateway/protocol"
	"fairlead/gateway/provision"
	"fairlead/gateway/servers"
	"fairlead/gateway/service"
	"fairlead/gateway/skills"
	"fairlead/gateway/store"
	"fairlead/gateway/terminal"
	"fairlead/gateway/tool"
	"fairlead/gateway/transfer"
	"fairlead/gateway/tunnel"
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

// Queue holds what waits for the person.
type Queue interface {
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

// LocalModels are the models that this computer gets and runs.
type LocalModels interface {
	List(ctx context.Context) protocol.LocalModelsResult
	Pull(provider, model string) error
	StopPull(ctx context.Context, model string, discard bool) error
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

// Sessions are the chats.
type Sessions struct {
	Chats    Chats
	History  History
	Runs     Runs
	Editor   Editor
	Trash    Trash
	Messages Messages
	// Canonical maps every spelling of a session key to the canonical one.
	Canonical func(protocol.SessionKey) protocol.SessionKey
}

// Calls are the calls of tools, and what nodes report about them.
type Calls struct {
	Tools    Tools
	Results  Results
	Registry Registry
	// Transfers start and undo transfers.
	Transfers *transfer.Calls
	// ExecEvent takes the report of a node about a command in the background.
	ExecEvent func(ctx context.Context, node protocol.NodeID, e protocol.NodeExecEvent) (protocol.Ack, error)
}

// Questions are what waits for the person, and where it is shown.
type Questions struct {
	Queue   Queue
	Display QuestionDisplay
}

// Records are what the gateway remembers of calls.
type Records struct {
	Journal Journal
	Audit   Audit
	// Usage reports what models used.
	Usage func(ctx context.Context, p protocol.UsageReportParams) (protocol.UsageReportResult, error)
}

// Programs are the programs that call tools: connected apps, and the commands that they have left
// running.
type Programs struct {
	Apps     *apps.Apps
	Catalog  Catalog
	Commands Commands
	// Verify returns the app that a token belongs to, for a request that apps may make.
	Verify func(r *http.Request, token string) (auth.Principal, error)
}

// Web is what the server does besides the protocol.
type Web struct {
	// Install serves the install scripts and programs for new machines; nil answers 404.
	Install http.Handler
	// Programs serves MCP, REST and their sign-in, and checks the caller's token itself; nil answers
	// 404.
	Programs http.Handler
	// Site serves the published services under their host names.
	Site *service.Site
	// Ready reports whether the gateway can do its work; /health says so. nil: it always can.
	Ready func() bool
	// CheckOrigin checks a request's Host and Origin.
	CheckOrigin func(r *http.Request) error
}

// Published are the published services, the links to them, and who visits them.
type Published struct {
	Services *service.Services
	Visits   *service.Visits
	Site     *service.Site
}

func (p Published) register(all methods) {
	handle(all, protocol.ServicesList, query(func(context.Context) (protocol.ServicesListResult, error) {
		return protocol.ServicesListResult{Services: p.Services.List(), Use: p.Site.Use()}, nil
	}))
	handle(all, protocol.ServiceVisits, plain(p.Site.Visitors))
	handle(all, protocol.ServiceSignOut, withAck(p.Site.SignOut))
	handle(all, protocol.ServiceLink, plain(func(ctx context.Context, in protocol.ServiceLinkParams) (protocol.ServiceLinkResult, error) {
		v, err := p.Services.Get(in.ID)
		if err != nil {
			return protocol.ServiceLinkResult{}, protocol.ErrNotFound.With(err.Error())
		}
		url, err := p.Visits.Link(ctx, v, in.Email)
		if f, ok := errors.AsType[*protocol.Fault](err); ok {
			err = protocol.ErrBadRequest.With(f.Message)
		}
		return protocol.ServiceLinkResult{URL: url}, err
	}))
	handle(all, protocol.ServiceTarget, plain(func(_ context.Context, in protocol.ServiceTargetParams) (protocol.ServiceTargetResult, error) {
		t, err := service.ParseTarget(in.Text, "")
		if err != nil {
			return protocol.ServiceTargetResult{}, protocol.ErrBadRequest.With(err.Error())
		}
		return protocol.ServiceTargetResult{Target: t.String()}, nil
	}))
	handle(all, protocol.ServiceClose, withAck(func(ctx context.Context, by string, in protocol.ServiceParams) error {
		err := p.Services.Close(ctx, by, in)
		if f, ok := errors.AsType[*protocol.Fault](err); ok {
			return protocol.ErrNotFound.With(f.Message)
		}
		return err
	}))
}

// Services are the parts of the gateway that the surface uses. Each group of methods gets its own.
type Services struct {
	Version string
	Bus     *event.Bus
	Status  func(ctx context.Context) protocol.Status
	Verify  func(ctx context.Context, token string) error // checks a token
	Web     Web
	// Connections are the open connections, for this server alone. It closes them.
	Connections *Connections

	Sessions     Sessions
	Calls        Calls
	Questions    Questions
	Rules        *approval.Rules
	Records      Records
	Config       Config
	Models       Models
	LocalModels  LocalModels
	Files        *workspace.Files
	Skills       *skills.Catalog
	Schedules    *cron.Scheduler
	Channels     *channel.Hub
	Transfers    *transfer.Engine
	Nodes        *nodes.Hub
	Devices      *pairing.Manager
	Provisioning *provision.Manager
	Servers      *servers.Manager
	Published    Published
	Programs     Programs
	Tunnels      *tunnel.Tunnels
	Forwards     *forward.Forwards
	Terminals    *terminal.Terminals
	Exposures    exposure.List
}

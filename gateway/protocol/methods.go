package protocol

// Empty is used for params and results without fields.
type Empty struct{}

// Method connects a method's name with the types of its params and its result, so that a mismatch
// between client and server does not compile.
type Method[P, R any] struct{ Name string }

// The methods of the protocol that this gateway serves.
var (
	Connect        = Method[ConnectParams, ConnectResult]{"connect"}
	ChatSend       = Method[ChatSendParams, ChatSendResult]{"chat.send"}
	ConfigGet      = Method[ConfigGetParams, ConfigGetResult]{"config.get"}
	ConfigSet      = Method[ConfigSetParams, ConfigSetResult]{"config.set"}
	ToolsList      = Method[Empty, ToolsListResult]{"tools.list"}
	InvokeTool     = Method[ToolInvokeParams, ToolInvokeResult]{"tool.invoke"}
	ReturnResult   = Method[ToolResultParams, Ack]{"tool.result"}
	RequestTool    = Method[ToolRequestParams, ToolRequestResult]{"tool.request"}
	ReportExec     = Method[NodeExecEvent, Ack]{"node.exec.event"}
	GetLogs        = Method[LogsGetParams, LogsGetResult]{"logs.get"}
	ReturnLogs     = Method[LogsResultParams, Ack]{"logs.result"}
	SessionsList   = Method[SessionsListParams, SessionsListResult]{"sessions.list"}
	SessionGet     = Method[SessionParams, SessionGetResult]{"session.get"}
	SessionGetStat = Method[SessionParams, SessionStats]{"session.stats"}
	SessionPatch   = Method[SessionPatchParams, OK]{"session.patch"}
	SessionReset   = Method[SessionParams, SessionResetResult]{"session.reset"}
	SessionHistory = Method[SessionParams, SessionHistoryResult]{"session.history"}
	SessionCompact = Method[SessionCompactParams, SessionCompactResult]{"session.compact"}
	SessionPreview = Method[SessionPreviewParams, SessionPreviewResult]{"session.preview"}

	WorkspaceList = Method[WorkspaceListParams, WorkspaceListResult]{"workspace.list"}
	// WorkspaceRead returns a [WorkspaceReadResult], or a [WorkspaceListResult] for a folder.
	WorkspaceRead   = Method[WorkspaceReadParams, any]{"workspace.read"}
	WorkspaceWrite  = Method[WorkspaceWriteParams, WorkspaceWriteResult]{"workspace.write"}
	WorkspaceDelete = Method[WorkspaceDeleteParams, WorkspaceDeleteResult]{"workspace.delete"}

	ChannelsList   = Method[Empty, ChannelsListResult]{"channels.list"}
	ChannelInbound = Method[ChannelInboundParams, ChannelInboundResult]{"channel.inbound"}
	ChannelStart   = Method[ChannelStartParams, ChannelOK]{"channel.start"}
	ChannelStop    = Method[ChannelParams, ChannelOK]{"channel.stop"}
	ChannelStatus  = Method[ChannelParams, ChannelStatusResult]{"channel.status"}
	ChannelLogin   = Method[ChannelLoginParams, ChannelLoginResult]{"channel.login"}
	ChannelLogout  = Method[ChannelParams, ChannelOK]{"channel.logout"}
	PairList       = Method[Empty, PairListResult]{"pair.list"}
	PairApprove    = Method[PairParams, PairApproveResult]{"pair.approve"}
	PairReject     = Method[PairParams, PairRejectResult]{"pair.reject"}

	SkillsStatus = Method[SkillsParams, SkillsStatusResult]{"skills.status"}
	SkillsUpdate = Method[SkillsParams, SkillsStatusResult]{"skills.update"}
)

// Extensions.
var (
	FeedSubscribe  = Method[Empty, FeedSnapshot]{"feed.subscribe"}
	ChatCancel     = Method[ChatCancelParams, ChatCancelResult]{"chat.cancel"}
	CallCancel     = Method[CallCancelParams, Ack]{"call.cancel"}
	SessionsSearch = Method[SessionsSearchParams, SessionsSearchResult]{"sessions.search"}
	SessionCreate  = Method[SessionCreateParams, SessionEntry]{"session.create"}
	SessionDelete  = Method[SessionParams, SessionDeleteResult]{"session.delete"}
	SessionRestore = Method[SessionParams, OK]{"session.restore"}
	MediaGet       = Method[MediaGetParams, MediaGetResult]{"media.get"}
	ApprovalList   = Method[Empty, ApprovalListResult]{"approval.list"}
	ApprovalAnswer = Method[ApprovalAnswerParams, ApprovalAnswerResult]{"approval.answer"}
	ApprovalAll    = Method[ApprovalAnswerAllParams, ApprovalAnswerAllResult]{"approval.answerAll"}
	ApprovalSnooze = Method[ApprovalSnoozeParams, OK]{"approval.snooze"}
	ApprovalShown  = Method[ApprovalShownParams, OK]{"approval.shown"}
	ApprovalUndo   = Method[ApprovalParams, ApprovalUndoResult]{"approval.undo"}
	AgentPause     = Method[PauseParams, Status]{"agent.pause"}
	NodesList      = Method[Empty, NodesListResult]{"nodes.list"}
	StatusGet      = Method[Empty, Status]{"status.get"}
	ReportProgress = Method[ToolProgress, Ack]{"tool.progress"}
	ModelProviders = Method[Empty, ProvidersResult]{"models.providers"}
	ModelsList     = Method[ModelsListParams, ModelsListResult]{"models.list"}
	ModelsTest     = Method[ModelsTestParams, ModelsTestResult]{"models.test"}
	ModelsDetect   = Method[Empty, ModelsDetectResult]{"models.detect"}
	JournalList    = Method[JournalListParams, JournalListResult]{"journal.list"}
	RulesList      = Method[Empty, RulesResult]{"rules.list"}
	ReportDelivery = Method[ChannelDeliveredParams, Ack]{"channel.delivered"}
	ConfigSchema   = Method[Empty, ConfigSchemaResult]{"config.schema"}
	SkillsEnable   = Method[SkillsEnableParams, OK]{"skills.enable"}
	RulePut        = Method[RulePutParams, Rule]{"rules.put"}
	RuleDelete     = Method[RuleParams, OK]{"rules.delete"}
	RuleRestore    = Method[RuleParams, OK]{"rules.restore"}
	RuleTry        = Method[RuleTryParams, RuleTryResult]{"rules.try"}
	RulesSave      = Method[Empty, RulesExport]{"rules.export"}
	RulesImport    = Method[RulesImportParams, RulesImportResult]{"rules.import"}
	AuditList      = Method[AuditListParams, AuditListResult]{"audit.list"}
	AuditVerify    = Method[Empty, AuditVerifyResult]{"audit.verify"}
)

// Scope is the permission that a method requires.
type Scope string

const (
	ScopeNone    Scope = "" // connect, and methods that concern only the caller
	ScopeRead    Scope = "read"
	ScopeChat    Scope = "chat"
	ScopeInvoke  Scope = "invoke"  // run tools directly
	ScopeApprove Scope = "approve" // answer approvals
	ScopeAdmin   Scope = "admin"   // configuration and keys
	ScopeNode    Scope = "node"    // methods of nodes
	ScopeChannel Scope = "channel" // methods of channels
)

// MethodInfo describes who may call a method.
type MethodInfo struct {
	Name  string
	Scope Scope
	// Modes are the roles that may call the method. A node may call node methods and tools.list
	// only.
	Modes     []Mode
	Extension bool
}

// Right returns the scope that a peer with the given mode needs for the method. A client can itself
// be one end of a transfer that it started. To report as such an end it needs the scope for
// starting transfers, not a node's.
func (m MethodInfo) Right(mode Mode) Scope {
	if m.Scope == ScopeNode && mode == ModeClient {
		return ScopeInvoke
	}
	return m.Scope
}

// Methods lists every method, in the order in which hello-ok lists them.
var Methods = []MethodInfo{
	{Connect.Name, ScopeNone, []Mode{ModeClient, ModeNode, ModeChannel}, false},
	{ToolsList.Name, ScopeRead, []Mode{ModeClient, ModeNode}, false},
	{GetLogs.Name, ScopeRead, []Mode{ModeClient}, false},
	{ChatSend.Name, ScopeChat, []Mode{ModeClient}, false},
	{ConfigGet.Name, ScopeRead, []Mode{ModeClient}, false},
	{ConfigSet.Name, ScopeAdmin, []Mode{ModeClient}, false},
	{SessionGet.Name, ScopeRead, []Mode{ModeClient}, false},
	{SessionPatch.Name, ScopeChat, []Mode{ModeClient}, false},
	{SessionGetStat.Name, ScopeRead, []Mode{ModeClient}, false},
	{SessionReset.Name, ScopeChat, []Mode{ModeClient}, false},
	{SessionHistory.Name, ScopeRead, []Mode{ModeClient}, false},
	{SessionCompact.Name, ScopeChat, []Mode{ModeClient}, false},
	{SessionPreview.Name, ScopeRead, []Mode{ModeClient}, false},
	{SessionsList.Name, ScopeRead, []Mode{ModeClient}, false},
	{InvokeTool.Name, ScopeInvoke, []Mode{ModeClient}, false},
	{RequestTool.Name, ScopeInvoke, []Mode{ModeClient}, false},
	{NodeForget.Name, ScopeAdmin, []Mode{ModeClient}, false},
	{ReturnResult.Name, ScopeNode, []Mode{ModeNode}, false},
	{ReportExec.Name, ScopeNode, []Mode{ModeNode}, false},
	{ReturnLogs.Name, ScopeNode, []Mode{ModeNode}, false},
	{CronStatusGet.Name, ScopeRead, []Mode{ModeClient}, false},
	{CronList.Name, ScopeRead, []Mode{ModeClient}, false},
	{CronAdd.Name, ScopeChat, []Mode{ModeClient}, false},
	{CronUpdate.Name, ScopeChat, []Mode{ModeClient}, false},
	{CronRemove.Name, ScopeChat, []Mode{ModeClient}, false},
	{CronRunNow.Name, ScopeChat, []Mode{ModeClient}, false},
	{CronRuns.Name, ScopeRead, []Mode{ModeClient}, false},
	{HeartbeatStatus.Name, ScopeRead, []Mode{ModeClient}, false},
	{HeartbeatStart.Name, ScopeChat, []Mode{ModeClient}, false},
	{HeartbeatTrigger.Name, ScopeChat, []Mode{ModeClient}, false},
	{ChannelsList.Name, ScopeRead, []Mode{ModeClient}, false},
	{ChannelInbound.Name, ScopeChannel, []Mode{ModeChannel}, false},
	{ChannelStart.Name, ScopeAdmin, []Mode{ModeClient}, false},
	{ChannelStop.Name, ScopeAdmin, []Mode{ModeClient}, false},
	{ChannelStatus.Name, ScopeRead, []Mode{ModeClient}, false},
	{ChannelLogin.Name, ScopeAdmin, []Mode{ModeClient}, false},
	{ChannelLogout.Name, ScopeAdmin, []Mode{ModeClient}, false},
	{ReportDelivery.Name, ScopeChannel, []Mode{ModeChannel}, true},
	{PairList.Name, ScopeRead, []Mode{ModeClient}, false},
	{PairApprove.Name, ScopeAdmin, []Mode{ModeClient}, false},
	{PairReject.Name, ScopeAdmin, []Mode{ModeClient}, false},
	{SkillsStatus.Name, ScopeRead, []Mode{ModeClient}, false},
	{SkillsUpdate.Name, ScopeRead, []Mode{ModeClient}, false},
	{SkillsEnable.Name, ScopeAdmin, []Mode{ModeClient}, true},
	{ReportProgress.Name, ScopeNode, []Mode{ModeNode}, true},
	{TransferMeta.Name, ScopeNode, []Mode{ModeNode, ModeClient}, false},
	{TransferAccept.Name, ScopeNode, []Mode{ModeNode, ModeClient}, false},
	{TransferComplete.Name, ScopeNode, []Mode{ModeNode, ModeClient}, false},
	{TransferFinish.Name, ScopeNode, []Mode{ModeNode, ModeClient}, false},
	{TransferStart.Name, ScopeInvoke, []Mode{ModeClient}, true},
	{TransferList.Name, ScopeRead, []Mode{ModeClient}, true},
	{TransferGet.Name, ScopeRead, []Mode{ModeClient}, true},
	{TransferPause.Name, ScopeInvoke, []Mode{ModeClient}, true},
	{TransferResume.Name, ScopeInvoke, []Mode{ModeClient}, true},
	{TransferUndo.Name, ScopeInvoke, []Mode{ModeClient}, true},
	{TransferCancel.Name, ScopeInvoke, []Mode{ModeClient}, true},
	{TransferRetry.Name, ScopeInvoke, []Mode{ModeClient}, true},
	{TransferForget.Name, ScopeInvoke, []Mode{ModeClient}, true},
	{WorkspaceList.Name, ScopeRead, []Mode{ModeClient}, false},
	{WorkspaceRead.Name, ScopeRead, []Mode{ModeClient}, false},
	{WorkspaceWrite.Name, ScopeAdmin, []Mode{ModeClient}, false},
	{WorkspaceDelete.Name, ScopeAdmin, []Mode{ModeClient}, false},
	{FilesList.Name, ScopeInvoke, []Mode{ModeClient}, true},
	{FilesChanges.Name, ScopeInvoke, []Mode{ModeClient}, true},
	{FilesDiff.Name, ScopeInvoke, []Mode{ModeClient}, true},
	{FilesRevert.Name, ScopeInvoke, []Mode{ModeClient}, true},
	{FilesUnwatch.Name, ScopeInvoke, []Mode{ModeClient}, true},
	{FilesReport.Name, ScopeNode, []Mode{ModeNode}, true},
	{FilesMake.Name, ScopeInvoke, []Mode{ModeClient}, true},
	{FilesMove.Name, ScopeInvoke, []Mode{ModeClient}, true},
	{FilesTrash.Name, ScopeInvoke, []Mode{ModeClient}, true},
	{FilesRestore.Name, ScopeInvoke, []Mode{ModeClient}, true},
	{ConfigSchema.Name, ScopeRead, []Mode{ModeClient}, true},
	{FeedSubscribe.Name, ScopeRead, []Mode{ModeClient}, true},
	{ChatCancel.Name, ScopeChat, []Mode{ModeClient}, true},
	{CallCancel.Name, ScopeChat, []Mode{ModeClient}, true},
	{SessionCreate.Name, ScopeChat, []Mode{ModeClient}, true},
	{SessionDelete.Name, ScopeChat, []Mode{ModeClient}, true},
	{SessionRestore.Name, ScopeChat, []Mode{ModeClient}, true},
	{SessionArchiveRestore.Name, ScopeChat, []Mode{ModeClient}, true},
	{MediaGet.Name, ScopeRead, []Mode{ModeClient}, true},
	{ApprovalList.Name, ScopeRead, []Mode{ModeClient}, true},
	{ApprovalAnswer.Name, ScopeApprove, []Mode{ModeClient}, true},
	{ApprovalAll.Name, ScopeApprove, []Mode{ModeClient}, true},
	{ApprovalSnooze.Name, ScopeApprove, []Mode{ModeClient}, true},
	{ApprovalShown.Name, ScopeApprove, []Mode{ModeClient}, true},
	{ApprovalUndo.Name, ScopeApprove, []Mode{ModeClient}, true},
	{AgentPause.Name, ScopeAdmin, []Mode{ModeClient}, true},
	{NodesList.Name, ScopeRead, []Mode{ModeClient}, true},
	{NodesUpdate.Name, ScopeAdmin, []Mode{ModeClient}, true},
	{DeviceList.Name, ScopeRead, []Mode{ModeClient}, true},
	{DeviceInviteTo.Name, ScopeAdmin, []Mode{ModeClient}, true},
	{DeviceUninvite.Name, ScopeAdmin, []Mode{ModeClient}, true},
	{DeviceApprove.Name, ScopeAdmin, []Mode{ModeClient}, true},
	{DeviceDeny.Name, ScopeAdmin, []Mode{ModeClient}, true},
	{DeviceUpdate.Name, ScopeAdmin, []Mode{ModeClient}, true},
	{DeviceRotate.Name, ScopeAdmin, []Mode{ModeClient}, true},
	{DeviceRevoke.Name, ScopeAdmin, []Mode{ModeClient}, true},
	{DeviceForget.Name, ScopeAdmin, []Mode{ModeClient}, true},
	{DeviceLeave.Name, ScopeNone, []Mode{ModeClient, ModeNode}, true},
	{StatusGet.Name, ScopeRead, []Mode{ModeClient}, true},
	{ModelProviders.Name, ScopeRead, []Mode{ModeClient}, true},
	{ModelsList.Name, ScopeRead, []Mode{ModeClient}, true},
	{ModelsTest.Name, ScopeAdmin, []Mode{ModeClient}, true},
	{ModelsDetect.Name, ScopeRead, []Mode{ModeClient}, true},
	{SessionsSearch.Name, ScopeRead, []Mode{ModeClient}, true},
	{SessionArchives.Name, ScopeRead, []Mode{ModeClient}, true},
	{SessionArchiveRead.Name, ScopeRead, []Mode{ModeClient}, true},
	{SessionUncompact.Name, ScopeChat, []Mode{ModeClient}, true},
	{JournalList.Name, ScopeRead, []Mode{ModeClient}, true},
	{RulesList.Name, ScopeRead, []Mode{ModeClient}, true},
	{RulePut.Name, ScopeApprove, []Mode{ModeClient}, true},
	{RuleDelete.Name, ScopeApprove, []Mode{ModeClient}, true},
	{RuleRestore.Name, ScopeApprove, []Mode{ModeClient}, true},
	{RuleTry.Name, ScopeRead, []Mode{ModeClient}, true},
	{RulesSave.Name, ScopeRead, []Mode{ModeClient}, true},
	{RulesImport.Name, ScopeApprove, []Mode{ModeClient}, true},
	{AuditList.Name, ScopeRead, []Mode{ModeClient}, true},
	{AuditVerify.Name, ScopeRead, []Mode{ModeClient}, true},
}

// Events that the gateway sends.
const (
	EventChat       = "chat"
	EventToolInvoke = "tool.invoke"
	EventLogsGet    = "logs.get"
	EventOutbound   = "channel.outbound"
	EventTyping     = "channel.typing"
	EventFeed       = "feed"        // extension: a numbered [Change]
	EventToolCancel = "tool.cancel" // extension
)

// Events lists every event, in the order in which hello-ok lists them.
var Events = []string{
	EventChat, EventToolInvoke, EventLogsGet, EventTransferSend, EventTransferStart, EventTransferReceive, EventTransferEnd,
	EventOutbound, EventTyping, EventFeed, EventToolCancel, EventTransferStop, EventFiles, EventFilesUnwatch,
}

// MethodByName finds a method by its name.
func MethodByName(name string) (MethodInfo, bool) {
	for _, m := range Methods {
		if m.Name == name {
			return m, true
		}
	}
	return MethodInfo{}, false
}

package protocol

import "slices"

// Empty is used for params and results without fields.
type Empty struct{}

// Method describes a method, with the types of its params and its result, so that a mismatch between
// client and server does not compile.
type Method[P, R any] struct {
	Name  string
	Scope Scope
	// Modes are the roles that may call it. A node may call node methods and tools.list only.
	Modes     []Mode
	Extension bool
}

// MethodInfo is a [Method] without its types: who may call it.
type MethodInfo Method[any, any]

// Values of Method.Modes and Method.Extension.
var (
	clients         = []Mode{ModeClient}
	nodes           = []Mode{ModeNode}
	channels        = []Mode{ModeChannel}
	clientsAndNodes = []Mode{ModeClient, ModeNode}
	transferEnds    = []Mode{ModeNode, ModeClient}
	everyone        = []Mode{ModeClient, ModeNode, ModeChannel}
)

const (
	gsv       = false // also a method of GSV
	extension = true
)

// The methods of the protocol that this gateway serves.
var (
	Connect        = Method[ConnectParams, ConnectResult]{"connect", ScopeNone, everyone, gsv}
	ChatSend       = Method[ChatSendParams, ChatSendResult]{"chat.send", ScopeChat, clients, gsv}
	ConfigGet      = Method[ConfigGetParams, ConfigGetResult]{"config.get", ScopeRead, clients, gsv}
	ConfigSet      = Method[ConfigSetParams, ConfigSetResult]{"config.set", ScopeAdmin, clients, gsv}
	ToolsList      = Method[Empty, ToolsListResult]{"tools.list", ScopeRead, clientsAndNodes, gsv}
	InvokeTool     = Method[ToolInvokeParams, ToolInvokeResult]{"tool.invoke", ScopeInvoke, clients, gsv}
	ReturnResult   = Method[ToolResultParams, Ack]{"tool.result", ScopeNode, nodes, gsv}
	RequestTool    = Method[ToolRequestParams, ToolRequestResult]{"tool.request", ScopeInvoke, clients, gsv}
	ReportExec     = Method[NodeExecEvent, Ack]{"node.exec.event", ScopeNode, nodes, gsv}
	GetLogs        = Method[LogsGetParams, LogsGetResult]{"logs.get", ScopeRead, clients, gsv}
	ReturnLogs     = Method[LogsResultParams, Ack]{"logs.result", ScopeNode, nodes, gsv}
	SessionsList   = Method[SessionsListParams, SessionsListResult]{"sessions.list", ScopeRead, clients, gsv}
	SessionGet     = Method[SessionParams, SessionGetResult]{"session.get", ScopeRead, clients, gsv}
	SessionGetStat = Method[SessionParams, SessionStats]{"session.stats", ScopeRead, clients, gsv}
	SessionPatch   = Method[SessionPatchParams, OK]{"session.patch", ScopeChat, clients, gsv}
	SessionReset   = Method[SessionParams, SessionResetResult]{"session.reset", ScopeChat, clients, gsv}
	SessionHistory = Method[SessionParams, SessionHistoryResult]{"session.history", ScopeRead, clients, gsv}
	SessionCompact = Method[SessionCompactParams, SessionCompactResult]{"session.compact", ScopeChat, clients, gsv}
	SessionPreview = Method[SessionPreviewParams, SessionPreviewResult]{"session.preview", ScopeRead, clients, gsv}

	WorkspaceList = Method[WorkspaceListParams, WorkspaceListResult]{"workspace.list", ScopeRead, clients, gsv}
	// WorkspaceRead returns a [WorkspaceReadResult], or a [WorkspaceListResult] for a folder.
	WorkspaceRead   = Method[WorkspaceReadParams, any]{"workspace.read", ScopeRead, clients, gsv}
	WorkspaceWrite  = Method[WorkspaceWriteParams, WorkspaceWriteResult]{"workspace.write", ScopeAdmin, clients, gsv}
	WorkspaceDelete = Method[WorkspaceDeleteParams, WorkspaceDeleteResult]{"workspace.delete", ScopeAdmin, clients, gsv}

	ChannelsList   = Method[Empty, ChannelsListResult]{"channels.list", ScopeRead, clients, gsv}
	ChannelInbound = Method[ChannelInboundParams, ChannelInboundResult]{"channel.inbound", ScopeChannel, channels, gsv}
	ChannelStart   = Method[ChannelStartParams, ChannelOK]{"channel.start", ScopeAdmin, clients, gsv}
	ChannelStop    = Method[ChannelParams, ChannelOK]{"channel.stop", ScopeAdmin, clients, gsv}
	ChannelStatus  = Method[ChannelParams, ChannelStatusResult]{"channel.status", ScopeRead, clients, gsv}
	ChannelLogin   = Method[ChannelLoginParams, ChannelLoginResult]{"channel.login", ScopeAdmin, clients, gsv}
	ChannelLogout  = Method[ChannelParams, ChannelOK]{"channel.logout", ScopeAdmin, clients, gsv}
	PairList       = Method[Empty, PairListResult]{"pair.list", ScopeRead, clients, gsv}
	PairApprove    = Method[PairParams, PairApproveResult]{"pair.approve", ScopeAdmin, clients, gsv}
	PairReject     = Method[PairParams, PairRejectResult]{"pair.reject", ScopeAdmin, clients, gsv}

	SkillsStatus = Method[SkillsParams, SkillsStatusResult]{"skills.status", ScopeRead, clients, gsv}
	SkillsUpdate = Method[SkillsParams, SkillsStatusResult]{"skills.update", ScopeRead, clients, gsv}
)

// Extensions.
var (
	FeedSubscribe  = Method[Empty, FeedSnapshot]{"feed.subscribe", ScopeRead, clients, extension}
	ChatCancel     = Method[ChatCancelParams, ChatCancelResult]{"chat.cancel", ScopeChat, clients, extension}
	CallCancel     = Method[CallCancelParams, Ack]{"call.cancel", ScopeChat, clients, extension}
	SessionsSearch = Method[SessionsSearchParams, SessionsSearchResult]{"sessions.search", ScopeRead, clients, extension}
	SessionCreate  = Method[SessionCreateParams, SessionEntry]{"session.create", ScopeChat, clients, extension}
	SessionDelete  = Method[SessionParams, SessionDeleteResult]{"session.delete", ScopeChat, clients, extension}
	SessionRestore = Method[SessionParams, OK]{"session.restore", ScopeChat, clients, extension}
	MediaGet       = Method[MediaGetParams, MediaGetResult]{"media.get", ScopeRead, clients, extension}
	QuestionList   = Method[Empty, QuestionListResult]{"question.list", ScopeRead, clients, extension}
	QuestionGet    = Method[QuestionParams, Question]{"question.get", ScopeRead, clients, extension}
	QuestionWatch  = Method[Empty, QuestionWatchResult]{"question.watch", ScopeRead, clients, extension}
	QuestionAnswer = Method[QuestionAnswerParams, QuestionAnswerResult]{"question.answer", ScopeApprove, clients, extension}
	QuestionAll    = Method[QuestionAnswerAllParams, QuestionAnswerAllResult]{"question.answerAll", ScopeApprove, clients, extension}
	QuestionSnooze = Method[QuestionSnoozeParams, OK]{"question.snooze", ScopeApprove, clients, extension}
	QuestionShown  = Method[QuestionShownParams, OK]{"question.shown", ScopeApprove, clients, extension}
	QuestionUndo   = Method[QuestionParams, QuestionUndoResult]{"question.undo", ScopeApprove, clients, extension}
	AgentPause     = Method[PauseParams, Status]{"agent.pause", ScopeAdmin, clients, extension}
	NodesList      = Method[Empty, NodesListResult]{"nodes.list", ScopeRead, clients, extension}
	StatusGet      = Method[Empty, Status]{"status.get", ScopeRead, clients, extension}
	ReportProgress = Method[ToolProgress, Ack]{"tool.progress", ScopeNode, nodes, extension}
	ModelProviders = Method[Empty, ProvidersResult]{"models.providers", ScopeRead, clients, extension}
	ModelsList     = Method[ModelsListParams, ModelsListResult]{"models.list", ScopeRead, clients, extension}
	ModelsTest     = Method[ModelsTestParams, ModelsTestResult]{"models.test", ScopeAdmin, clients, extension}
	ModelsDetect   = Method[Empty, ModelsDetectResult]{"models.detect", ScopeRead, clients, extension}
	ModelsLocal    = Method[Empty, LocalModelsResult]{"models.local", ScopeRead, clients, extension}
	ModelsPull     = Method[ModelPullParams, OK]{"models.pull", ScopeAdmin, clients, extension}
	ModelsPullStop = Method[ModelPullParams, OK]{"models.pullStop", ScopeAdmin, clients, extension}
	JournalList    = Method[JournalListParams, JournalListResult]{"journal.list", ScopeRead, clients, extension}
	RulesList      = Method[Empty, RulesResult]{"rules.list", ScopeRead, clients, extension}
	ReportDelivery = Method[ChannelDeliveredParams, Ack]{"channel.delivered", ScopeChannel, channels, extension}
	ConfigSchema   = Method[Empty, ConfigSchemaResult]{"config.schema", ScopeRead, clients, extension}
	SkillsEnable   = Method[SkillsEnableParams, OK]{"skills.enable", ScopeAdmin, clients, extension}
	RulePut        = Method[RulePutParams, Rule]{"rules.put", ScopeApprove, clients, extension}
	RuleDelete     = Method[RuleParams, OK]{"rules.delete", ScopeApprove, clients, extension}
	RuleRestore    = Method[RuleParams, OK]{"rules.restore", ScopeApprove, clients, extension}
	RuleTry        = Method[RuleTryParams, RuleTryResult]{"rules.try", ScopeRead, clients, extension}
	RulesSave      = Method[Empty, RulesExport]{"rules.export", ScopeRead, clients, extension}
	RulesImport    = Method[RulesImportParams, RulesImportResult]{"rules.import", ScopeApprove, clients, extension}
	AuditList      = Method[AuditListParams, AuditListResult]{"audit.list", ScopeRead, clients, extension}
	AuditVerify    = Method[Empty, AuditVerifyResult]{"audit.verify", ScopeRead, clients, extension}
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
	MethodInfo(Connect), MethodInfo(ToolsList), MethodInfo(GetLogs), MethodInfo(ChatSend), MethodInfo(ConfigGet), MethodInfo(ConfigSet),
	MethodInfo(SessionGet), MethodInfo(SessionPatch), MethodInfo(SessionGetStat), MethodInfo(SessionReset), MethodInfo(SessionHistory),
	MethodInfo(SessionCompact), MethodInfo(SessionPreview), MethodInfo(SessionsList), MethodInfo(InvokeTool), MethodInfo(RequestTool),
	MethodInfo(NodeForget), MethodInfo(ReturnResult), MethodInfo(ReportExec), MethodInfo(ReturnLogs), MethodInfo(CronStatusGet),
	MethodInfo(CronList), MethodInfo(CronAdd), MethodInfo(CronUpdate), MethodInfo(CronRemove), MethodInfo(CronRunNow), MethodInfo(CronRuns),
	MethodInfo(HeartbeatStatus), MethodInfo(HeartbeatStart), MethodInfo(HeartbeatTrigger), MethodInfo(ChannelsList),
	MethodInfo(ChannelInbound), MethodInfo(ChannelStart), MethodInfo(ChannelStop), MethodInfo(ChannelStatus), MethodInfo(ChannelLogin),
	MethodInfo(ChannelLogout), MethodInfo(ReportDelivery), MethodInfo(PairList), MethodInfo(PairApprove), MethodInfo(PairReject),
	MethodInfo(SkillsStatus), MethodInfo(SkillsUpdate), MethodInfo(SkillsEnable), MethodInfo(ReportProgress), MethodInfo(TransferMeta),
	MethodInfo(TransferAccept), MethodInfo(TransferComplete), MethodInfo(TransferFinish), MethodInfo(TransferStart),
	MethodInfo(TransferList), MethodInfo(TransferGet), MethodInfo(TransferPause), MethodInfo(TransferResume), MethodInfo(TransferUndo),
	MethodInfo(TransferCancel), MethodInfo(TransferRetry), MethodInfo(TransferForget), MethodInfo(WorkspaceList), MethodInfo(WorkspaceRead),
	MethodInfo(WorkspaceWrite), MethodInfo(WorkspaceDelete), MethodInfo(FilesList), MethodInfo(FilesFind), MethodInfo(FilesChanges), MethodInfo(FilesDiff),
	MethodInfo(FilesRevert), MethodInfo(FilesUnwatch), MethodInfo(FilesReport), MethodInfo(FilesMake), MethodInfo(FilesMove),
	MethodInfo(FilesRead), MethodInfo(FilesWrite),
	MethodInfo(FilesTrash), MethodInfo(FilesRestore), MethodInfo(ConfigSchema), MethodInfo(FeedSubscribe), MethodInfo(ChatCancel),
	MethodInfo(CallCancel), MethodInfo(SessionCreate), MethodInfo(SessionDelete), MethodInfo(SessionRestore),
	MethodInfo(SessionArchiveRestore), MethodInfo(MediaGet), MethodInfo(QuestionList), MethodInfo(QuestionGet), MethodInfo(QuestionWatch), MethodInfo(QuestionAnswer), MethodInfo(QuestionAll),
	MethodInfo(QuestionSnooze), MethodInfo(QuestionShown), MethodInfo(QuestionUndo), MethodInfo(AgentPause), MethodInfo(NodesList),
	MethodInfo(NodesUpdate), MethodInfo(DeviceList), MethodInfo(DeviceInviteTo), MethodInfo(DeviceUninvite),
	MethodInfo(DeviceUpdate), MethodInfo(DeviceRotate), MethodInfo(DeviceRevoke), MethodInfo(DeviceForget),
	MethodInfo(DeviceLeave), MethodInfo(StatusGet), MethodInfo(ModelProviders), MethodInfo(ModelsList), MethodInfo(ModelsTest),
	MethodInfo(ModelsDetect), MethodInfo(ModelsLocal), MethodInfo(ModelsPull), MethodInfo(ModelsPullStop),
	MethodInfo(SessionsSearch), MethodInfo(SessionArchives), MethodInfo(SessionArchiveRead),
	MethodInfo(SessionUncompact), MethodInfo(JournalList), MethodInfo(RulesList), MethodInfo(RulePut), MethodInfo(RuleDelete),
	MethodInfo(RuleRestore), MethodInfo(RuleTry), MethodInfo(RulesSave), MethodInfo(RulesImport), MethodInfo(AuditList),
	MethodInfo(AuditVerify), MethodInfo(UsageReport), MethodInfo(CronPreview), MethodInfo(ChatResend), MethodInfo(SessionFork), MethodInfo(MessageDelete),
	MethodInfo(AppsList), MethodInfo(AppUpdate), MethodInfo(AppRevoke), MethodInfo(AppStop), MethodInfo(TokenCreate), MethodInfo(CatalogList), MethodInfo(CatalogCall),
	MethodInfo(ServicesList), MethodInfo(ServiceLink), MethodInfo(ServiceClose), MethodInfo(ServiceTarget), MethodInfo(ServiceVisits), MethodInfo(ServiceSignOut),
	MethodInfo(ServersList), MethodInfo(ServerSet), MethodInfo(ServerRemove), MethodInfo(ServerRestart), MethodInfo(ServersParse), MethodInfo(ServersFind), MethodInfo(ServerLogs),
	MethodInfo(ServerSignInURL), MethodInfo(ServerItems), MethodInfo(ServerRead), MethodInfo(ForwardList), MethodInfo(ForwardClose), MethodInfo(ExposureList),
	MethodInfo(TerminalList), MethodInfo(TerminalClose), MethodInfo(ReportTerminals),
	MethodInfo(NetworksList), MethodInfo(NetworkCreate), MethodInfo(NetworkRename), MethodInfo(NetworkDelete), MethodInfo(NetworkMove),
	MethodInfo(ProvisionList), MethodInfo(ProvisionOfferOf), MethodInfo(ProvisionSettings),
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
	EventOutbound, EventTyping, EventFeed, EventToolCancel, EventTransferStop, EventFiles, EventFilesUnwatch, EventTunnelOpen,
}

// MethodByName finds a method by its name.
func MethodByName(name string) (MethodInfo, bool) {
	i := slices.IndexFunc(Methods, func(m MethodInfo) bool { return m.Name == name })
	if i < 0 {
		return MethodInfo{}, false
	}
	return Methods[i], true
}

package protocol

// MaxSnapshotSessions is the number of sessions in a snapshot of the feed.
const MaxSnapshotSessions = 500

// FeedSnapshot answers feed.subscribe with the current state. Numbered feed events follow from
// Seq+1 on (extension; docs/protocol.md#the-feed).
type FeedSnapshot struct {
	Seq       uint64         `json:"seq"`
	Status    Status         `json:"status"`
	Sessions  []SessionEntry `json:"sessions"`  // the newest MaxSnapshotSessions; sessions.list has the rest
	Questions []Question     `json:"questions"` // pending
	Nodes     []NodeInfo     `json:"nodes"`
	Networks  []Network      `json:"networks"`
	Runs      []RunInfo      `json:"runs"`                // in progress or queued
	Calls     []CallInfo     `json:"calls"`               // in progress
	Transfers []Transfer     `json:"transfers,omitempty"` // not finished
}

// Status is an overview of the gateway.
type Status struct {
	Version   string   `json:"version"`
	StartedAt int64    `json:"startedAt"`
	Paused    bool     `json:"paused"` // the agent starts nothing new
	Model     ModelRef `json:"model"`  // the default model
	Listen    string   `json:"listen,omitempty"`
	// Storage is the reason why nothing can be stored; empty when storage works.
	Storage string `json:"storage,omitempty"`
	// SecretStore is where tokens and keys are stored: "keychain", or the file's path.
	SecretStore string `json:"secretStore,omitempty"`
	// Missing lists settings whose secret is not in SecretStore, such as keys in a keychain that is
	// locked.
	Missing []string `json:"missing,omitempty"`
	// ServiceProblems say why addresses of published services do not work.
	ServiceProblems []string `json:"serviceProblems,omitempty"`
	Home            string   `json:"home,omitempty"` // data folder
	// MainSession is the chat that opens by default: the main one of the default agent, under its
	// configured key.
	MainSession SessionKey `json:"mainSession,omitempty"`
}

// PauseParams pauses or resumes the agent: running steps finish, and nothing new starts
// (extension).
type PauseParams struct {
	Paused bool `json:"paused"`
}

// Kinds of change.
const (
	ChangeSession         = "session"         // Session is new or changed
	ChangeSessionDeleted  = "sessionDeleted"  // the session SessionKey was deleted
	ChangeMessage         = "message"         // Message was stored in SessionKey
	ChangeHistory         = "history"         // all messages of SessionKey changed (reset): load them again
	ChangeRun             = "run"             // Run is new or changed
	ChangeDelta           = "delta"           // Delta continues Run.Text or Run.Thinking
	ChangeCall            = "call"            // Call is new or changed
	ChangeQuestion        = "question"        // Question is new or changed
	ChangeNode            = "node"            // Node is new or changed
	ChangeNodeForgotten   = "nodeForgotten"   // Node.ID was removed
	ChangeNetworks        = "networks"        // a network was created, renamed or deleted: call networks.list
	ChangeDevices         = "devices"         // devices, invitations or the network changed: call device.list
	ChangeStatus          = "status"          // Status changed
	ChangeTransfer        = "transfer"        // Transfer is new or changed
	ChangeTransferRemoved = "transferRemoved" // Transfer, of which only ID is set, was removed from the history
	ChangeConfig          = "config"          // Path of the configuration changed
	ChangeRules           = "rules"           // the rules or the permissions of chats changed: load them again
	ChangeSkills          = "skills"          // skills were added, changed or removed: call skills.status again
	ChangeFile            = "file"            // the file or folder Path, relative to the data folder, changed in an agent's workspace or the shared skills; empty: many changed
	ChangeChannels        = "channels"        // the channel Path connected or disconnected, or has a new unknown sender: call channel.status and pair.list
	ChangeSchedules       = "schedules"       // a job, one of its runs or a heartbeat changed: call cron.list, cron.runs and heartbeat.status
	ChangeApps            = "apps"            // a connected app or one of its commands changed: call apps.list
	ChangeServers         = "servers"         // an MCP server or its tools changed: call servers.list
	ChangePull            = "pull"            // Pull, the download of a model, is new or changed
	ChangeLocalModels     = "localModels"     // llama-server started or ended: call models.local
	ChangeServices        = "services"        // a service was published, changed, turned off or deleted: call services.list
	ChangeForwards        = "forwards"        // a forward was opened, used or closed: call forward.list
	ChangeTerminals       = "terminals"       // a terminal was opened, closed, viewed or ended: call terminal.list
	ChangeNotice          = "notice"          // Notice for the person
	ChangeResync          = "resync"          // changes were lost: subscribe again
	ChangeChat            = "chat"            // Chat is sent as a chat event, never in the feed
)

// Change is the payload of the feed event (extension). Kind determines which field is set. A change
// can be applied twice: every field is a complete new value, except Delta, which has its offset.
type Change struct {
	// Kind names the change. session, message, run, delta, call, question, node, transfer, pull,
	// status and notice set the field of that name (message with sessionKey). sessionDeleted and
	// history set sessionKey: it was deleted, or all its messages must be loaded again. nodeForgotten
	// sets node.id, transferRemoved transfer.id. config and file set path. devices, rules, skills,
	// channels (with path), schedules, apps, servers, localModels, services, forwards, terminals and
	// networks: load them again. resync: subscribe again.
	Kind       string        `json:"kind"`
	SessionKey SessionKey    `json:"sessionKey,omitempty"`
	Session    *SessionEntry `json:"session,omitempty"`
	Message    *Message      `json:"message,omitempty"`
	Run        *RunInfo      `json:"run,omitempty"`
	Delta      *Delta        `json:"delta,omitempty"`
	Call       *CallInfo     `json:"call,omitempty"`
	Question   *Question     `json:"question,omitempty"`
	Node       *NodeInfo     `json:"node,omitempty"`
	Transfer   *Transfer     `json:"transfer,omitempty"`
	Pull       *ModelPull    `json:"pull,omitempty"`
	Status     *Status       `json:"status,omitempty"`
	Path       string        `json:"path,omitempty"`
	Notice     *Notice       `json:"notice,omitempty"`
	Chat       *ChatEvent    `json:"-"`
}

// MayDrop reports whether the gateway may skip the change for a slow receiver: only progress that a
// later change repeats or completes.
func (c Change) MayDrop() bool {
	return c.Kind == ChangeDelta || c.transferProgress() || c.Kind == ChangePull && c.Pull != nil && c.Pull.State == PullRunning ||
		c.Kind == ChangeCall && c.Call != nil && c.Call.State == CallRunning && c.Call.Tail != "" ||
		c.Kind == ChangeChat && c.Chat != nil && c.Chat.State == ChatDelta
}

// Delta is the next piece of the text of a step in progress. Offset is the length in bytes of the
// text before it. A receiver that has more skips the bytes that it already has; a receiver that has
// less subscribes again.
type Delta struct {
	RunID    RunID  `json:"runId"`
	Step     int    `json:"step"`
	Thinking bool   `json:"thinking,omitempty"`
	Offset   int    `json:"offset"`
	Text     string `json:"text"`
}

// Notice is a message to the person outside of chats.
type Notice struct {
	Level string `json:"level"`           // info, warning or error
	Title string `json:"title,omitempty"` // the schedule's name (extension)
	Text  string `json:"text"`
	At    int64  `json:"at"`
	// SessionKey is the chat with more about it (extension).
	SessionKey SessionKey `json:"sessionKey,omitempty"`
}

package protocol

// FeedSnapshot answers feed.subscribe: the present state. Numbered feed events follow from Seq+1 on (extension).
type FeedSnapshot struct {
	Seq       uint64         `json:"seq"`
	Status    Status         `json:"status"`
	Sessions  []SessionEntry `json:"sessions"`
	Approvals []Approval     `json:"approvals"` // pending
	Nodes     []NodeInfo     `json:"nodes"`
	Runs      []RunInfo      `json:"runs"`                // not over
	Calls     []CallInfo     `json:"calls"`               // not over
	Transfers []Transfer     `json:"transfers,omitempty"` // not over
}

// Status is the gateway's state in one look.
type Status struct {
	Version   string   `json:"version"`
	StartedAt int64    `json:"startedAt"`
	Paused    bool     `json:"paused"` // the agent starts nothing new
	Model     ModelRef `json:"model"`  // the default model
	Listen    string   `json:"listen,omitempty"`
	// Storage is the reason why nothing can be stored, empty when all is well.
	Storage string `json:"storage,omitempty"`
	// SecretStore says where tokens and keys are: "keychain", or the file's path.
	SecretStore string `json:"secretStore,omitempty"`
	// Missing are settings that were set and that SecretStore does not have, such as keys in a keychain that is locked now.
	Missing []string `json:"missing,omitempty"`
	Home    string   `json:"home,omitempty"` // data folder
	// MainSession is the chat that opens where none was chosen: the default agent's main one, under the key that the configuration says.
	MainSession SessionKey `json:"mainSession,omitempty"`
}

// PauseParams pauses or resumes the agent: running steps end, nothing new starts (extension).
type PauseParams struct {
	Paused bool `json:"paused"`
}

// Kinds of change.
const (
	ChangeSession        = "session"        // Session is new or changed
	ChangeSessionDeleted = "sessionDeleted" // SessionKey
	ChangeMessage        = "message"        // Message was stored in SessionKey
	ChangeHistory        = "history"        // the messages of SessionKey changed as a whole (reset): load them again
	ChangeRun            = "run"            // Run is new or changed
	ChangeDelta          = "delta"          // Delta continues Run.Text or Run.Thinking
	ChangeCall           = "call"           // Call is new or changed
	ChangeApproval       = "approval"       // Approval is new or changed
	ChangeNode           = "node"           // Node is new or changed
	ChangeNodeForgotten  = "nodeForgotten"  // Node.ID is known no more
	ChangeDevices        = "devices"        // devices, requests or the network changed: device.list
	ChangeStatus         = "status"         // Status changed
	ChangeTransfer       = "transfer"       // Transfer is new or changed
	ChangeTransferGone   = "transferGone"   // Transfer, of which only the id is set, was removed from the history
	ChangeConfig         = "config"         // Path of the configuration changed
	ChangeRules          = "rules"          // the rules or the permissions of chats changed: list them again
	ChangeSkills         = "skills"         // skills were added, changed or removed: ask skills.status again
	ChangeFile           = "file"           // the file or folder Path, relative to the data folder, changed in an agent's workspace or the shared skills; empty is many
	ChangeChannels       = "channels"       // the channel Path is connected, is not, or a stranger wrote: ask channel.status and pair.list
	ChangeSchedules      = "schedules"      // a job, a run of one or a heartbeat changed: ask cron.list, cron.runs and heartbeat.status
	ChangeNotice         = "notice"         // Notice for the person
	ChangeResync         = "resync"         // events were lost: subscribe again
	ChangeChat           = "chat"           // Chat goes out as the seed's chat event, never in the feed
)

// Change is one step from one state to the next (extension, the feed event). Kind says which field is set. Applying a change
// twice does no harm: everything is a whole new value but Delta, which carries its offset.
type Change struct {
	Kind       string        `json:"kind"`
	SessionKey SessionKey    `json:"sessionKey,omitempty"`
	Session    *SessionEntry `json:"session,omitempty"`
	Message    *Message      `json:"message,omitempty"`
	Run        *RunInfo      `json:"run,omitempty"`
	Delta      *Delta        `json:"delta,omitempty"`
	Call       *CallInfo     `json:"call,omitempty"`
	Approval   *Approval     `json:"approval,omitempty"`
	Node       *NodeInfo     `json:"node,omitempty"`
	Transfer   *Transfer     `json:"transfer,omitempty"`
	Status     *Status       `json:"status,omitempty"`
	Path       string        `json:"path,omitempty"`
	Notice     *Notice       `json:"notice,omitempty"`
	Chat       *ChatEvent    `json:"-"`
}

// MayDrop reports whether a slow receiver may miss the change: only progress that a later change repeats or completes.
func (c Change) MayDrop() bool {
	return c.Kind == ChangeDelta || c.transferProgress() || c.Kind == ChangeCall && c.Call != nil && c.Call.State == CallRunning && c.Call.Tail != "" ||
		c.Kind == ChangeChat && c.Chat != nil && c.Chat.State == ChatDelta
}

// Delta is the next piece of a running step's text. Offset is the length in bytes of the text before it: a receiver that has
// more skips what it has, one that has less subscribes again.
type Delta struct {
	RunID    RunID  `json:"runId"`
	Step     int    `json:"step"`
	Thinking bool   `json:"thinking,omitempty"`
	Offset   int    `json:"offset"`
	Text     string `json:"text"`
}

// Notice is something the person should know, outside any chat.
type Notice struct {
	Level string `json:"level"` // info, warning or error
	Text  string `json:"text"`
	At    int64  `json:"at"`
}

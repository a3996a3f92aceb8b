package protocol

import (
	"encoding/json"
	"time"
)

// States of an approval.
const (
	QuestionPending    = "pending"
	QuestionAllowed    = "allowed"
	QuestionEdited     = "edited" // allowed, with the arguments in Edited
	QuestionDenied     = "denied"
	QuestionExpired    = "expired"
	QuestionCancelled  = "cancelled"  // with its run
	QuestionSuperseded = "superseded" // changed rules decided the call without the person
)

// Surfaces that can show an approval, in the order in which they are tried.
const (
	SurfaceWindow       = "window"
	SurfaceTerminal     = "terminal"
	SurfaceNotification = "notification"
	SurfaceChannel      = "channel"
)

// Decisions.
const (
	DecisionAllow = "allow"
	DecisionDeny  = "deny"
)

// Scopes of an allow decision.
const (
	ScopeOnce    = "once"
	ScopeSession = "session"
	ScopeFolder  = "folder" // this folder and below, on this machine
	ScopeMachine = "node"   // this machine
	ScopeAlways  = "always"
)

// Kinds of approval.
const (
	AskCall     = "call"     // may this tool call run?
	AskContinue = "continue" // the run reached its step limit: continue?
)

// Question is a question to the person and, later, its answer (extension;
// docs/protocol.md#questions). It has everything that the person must see. Hash covers exactly
// that, and the call is compared with it before it runs.
type Question struct {
	ID         QuestionID `json:"id"`
	Kind       string     `json:"kind"`  // call or continue
	State      string     `json:"state"` // pending, allowed, edited, denied, expired, cancelled or superseded
	SessionKey SessionKey `json:"sessionKey"`
	RunID      RunID      `json:"runId,omitempty"`
	CallID     CallID     `json:"callId,omitempty"`
	CreatedAt  int64      `json:"createdAt"`
	ExpiresAt  int64      `json:"expiresAt,omitempty"` // 0: never

	Node    NodeID          `json:"node,omitempty"`
	Host    *HostInfo       `json:"host,omitempty"`
	Tool    string          `json:"tool,omitempty"` // bare name
	Args    json.RawMessage `json:"args,omitempty"`
	Effect  Effect          `json:"effect,omitempty"` // read, write, exec, network; empty is unknown
	Preview *CallPreview    `json:"preview,omitempty"`
	// ServerTool describes the tool of an MCP server that the call uses; nil for other calls
	// (extension).
	ServerTool *ApprovalTool `json:"serverTool,omitempty"`

	AskedBy AskedBy `json:"askedBy"`
	Why     string  `json:"why"`               // reason for the question, one sentence
	Sandbox string  `json:"sandbox,omitempty"` // the restrictions that would be enforced, one line; states it when there are none
	// Files describes which of the person's file rules apply to the code that the call runs; empty
	// when the command itself names the files that it opens.
	Files   string   `json:"files,omitempty"`
	Choices []string `json:"choices"` // the scopes that an allow may have: once, session, folder, node, always
	// SessionRule describes for people what an allow for the session would cover.
	SessionRule string `json:"sessionRule,omitempty"`
	// Parts are the pieces of a command, each with the verdict of the rules.
	Parts []ApprovalPart `json:"parts,omitempty"`
	// Offers are the rules that an allow for a folder, a machine or always would save. It is empty
	// when the call can be allowed only once or for the session.
	Offers []RuleOffer `json:"offers,omitempty"`
	// Floor means that the question is asked whatever the rules say.
	Floor bool `json:"floor,omitempty"`
	// Chosen are the indexes of the offers that the answer saved as rules.
	Chosen []int `json:"chosen,omitempty"`
	// Until is the expiry of the saved rules in Unix milliseconds; 0 is never.
	Until int64 `json:"until,omitempty"`
	// Access are the indexes in Preview.Folders of the folders that the answer allowed.
	Access []int `json:"access,omitempty"`
	// Edited are the arguments with which the person replaced Args.
	Edited json.RawMessage `json:"edited,omitempty"`
	// Policy is the version of the rules that led to the question.
	Policy string `json:"policy,omitempty"`
	Hash   string `json:"hash"`

	// Shown reports whether a surface confirmed that it shows the question. SurfaceShown and
	// ShownAt describe the first that did.
	Shown        bool   `json:"shown,omitempty"`
	SurfaceShown string `json:"surfaceShown,omitempty"` // window, terminal, notification or channel
	ShownAt      int64  `json:"shownAt,omitempty"`
	// Unseen counts how often no surface confirmed the question in time. From 1 on, clients that
	// can notify the person outside a window should do so. At 2, the channels have been tried too.
	Unseen int `json:"unseen,omitempty"`

	// Later is the time until which the person snoozed the question, in Unix milliseconds; 0 if not
	// snoozed. A snoozed question still expires, and it can still be answered.
	Later int64 `json:"later,omitempty"`

	AnsweredAt int64  `json:"answeredAt,omitempty"`
	AnsweredBy string `json:"answeredBy,omitempty"`
	Scope      string `json:"scope,omitempty"`
	Reason     string `json:"reason,omitempty"`
}

// ApprovalPart is one piece of a command: a program with its arguments, a redirection, an
// assignment, or a finding.
type ApprovalPart struct {
	Kind    string   `json:"kind"`
	Text    string   `json:"text"`
	Argv    []string `json:"argv,omitempty"`
	Verdict string   `json:"verdict"` // allow, ask or deny
	Reason  string   `json:"reason"`
	Floor   bool     `json:"floor,omitempty"`
	// From and To delimit the part in the command, in bytes; To is 0 if it is not there literally.
	From int `json:"from,omitempty"`
	To   int `json:"to,omitempty"`
	// Risk says in plain words why the part is dangerous, such as "runs as administrator (sudo)"; empty
	// if it is not known to be.
	Risk string `json:"risk,omitempty"`
	// Starts are the programs that the part's program starts, such as "systemctl" for sudo. Started
	// means that the program of another part starts this one.
	Starts  string `json:"starts,omitempty"`
	Started bool   `json:"started,omitempty"`
	// NoNetwork means that the part uses the network, which the machine's sandbox blocks for the call.
	// Folders are the indexes in Preview.Folders of the folders that the part uses: the sandbox blocks
	// them unless the answer allows them.
	NoNetwork bool  `json:"noNetwork,omitempty"`
	Folders   []int `json:"folders,omitempty"`
	// Changes are the protected files that the part may change if the call is allowed; commands cannot
	// change others.
	Changes []string `json:"changes,omitempty"`
}

// ApprovalTool describes the called tool of an MCP server in the server's own words, which prove
// nothing.
type ApprovalTool struct {
	Server      ServerName `json:"server"`
	Name        string     `json:"name"` // as the server calls it, without the server
	Title       string     `json:"title,omitempty"`
	Description string     `json:"description,omitempty"`
	// Arguments are those of Args, in the same order.
	Arguments []ApprovalArgument `json:"arguments,omitempty"`
}

// ApprovalArgument is an argument of a call for people.
type ApprovalArgument struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"` // as the server describes it
	Value       string `json:"value"`                 // a text without quotes, other values as JSON
}

// RuleOffer is a rule that the person can save with the answer.
type RuleOffer struct {
	Policy json.RawMessage `json:"policy"`
	Words  string          `json:"words"`
	// As are the exact rules that an answer saves, by its scope: folder, node or always.
	As map[string]RuleOffer `json:"as,omitempty"`
}

// Kinds of AskedBy other than the person. With the first two, possibly nobody is present.
const (
	AskedBySchedule = "schedule" // a scheduled job or the heartbeat
	AskedByChannel  = "channel"  // a channel user who is not the owner
	AskedByApp      = "app"      // a connected app
	AskedByAgent    = "agent"    // the agent of another chat, which sent a message to this one
)

// AskedBy describes who caused a call.
type AskedBy struct {
	Kind  string `json:"kind"`            // chat, schedule, channel, agent, app, client
	Name  string `json:"name,omitempty"`  // such as the chat's title
	Model string `json:"model,omitempty"` // provider/id
}

// IsUnattended reports whether a run was started by a schedule or by somebody on a channel, so that
// nobody may be there to answer its approvals.
func (a AskedBy) IsUnattended() bool { return a.Kind == AskedBySchedule || a.Kind == AskedByChannel }

// Allowed reports whether the answer allows the call.
func (a Question) Allowed() bool { return a.State == QuestionAllowed || a.State == QuestionEdited }

// QuestionListResult lists pending approvals, oldest first.
type QuestionListResult struct {
	Questions []Question `json:"questions"`
}

// QuestionAnswerParams answers an approval. Hash must equal the approval's hash; otherwise the
// answer is rejected, because the person saw something else.
type QuestionAnswerParams struct {
	ID       QuestionID `json:"id"`
	Hash     string     `json:"hash"`
	Decision string     `json:"decision"`        // allow or deny
	Scope    string     `json:"scope,omitempty"` // once (default), session, folder, node or always
	Reason   string     `json:"reason,omitempty"`
	// Offers are the indexes of the offered rules to save, for a scope beyond the session; empty
	// selects the narrow ones.
	Offers []int `json:"offers,omitempty"`
	// Until is the expiry of those rules in Unix milliseconds; 0 is never.
	Until int64 `json:"until,omitempty"`
	// Access are the indexes in Preview.Folders of the folders to allow for this call only.
	Access []int `json:"access,omitempty"`
	// Args replace the call's arguments, and are judged again; only with an allow for once.
	Args json.RawMessage `json:"args,omitempty"`
}

// QuestionAnswerResult returns the answered approval; Won is false when another answer came first.
type QuestionAnswerResult struct {
	Won      bool     `json:"won"`
	Question Question `json:"question"`
}

// QuestionShownParams confirms that a person can see the question on a surface.
type QuestionShownParams struct {
	ID      QuestionID `json:"id"`
	Surface string     `json:"surface,omitempty"` // window (default), terminal, notification or channel
}

// QuestionParams selects an approval.
type QuestionParams struct {
	ID QuestionID `json:"id"`
}

// QuestionUndoResult reports how many of an answer's rules and grants were revoked.
type QuestionUndoResult struct {
	Rules  int `json:"rules"`
	Grants int `json:"grants"`
}

// MaxAnswers is the maximum number of approvals that one request may answer.
const MaxAnswers = 1000

// SameAs reports whether two pending approvals ask the same question: the same machine, tool,
// arguments, folder, diff and reason. Only approvals of calls can.
func (a Question) SameAs(b Question) bool {
	if a.ID == b.ID {
		return true
	}
	return a.Kind == AskCall && a.Kind == b.Kind && a.Node == b.Node && a.Tool == b.Tool && string(a.Args) == string(b.Args) &&
		a.Folder() == b.Folder() && a.Why == b.Why && a.diff() == b.diff()
}

// Folder returns the folder in which the call would run, or the machine's workspace, or "".
func (a Question) Folder() string {
	if a.Preview != nil && a.Preview.Folder != "" {
		return a.Preview.Folder
	}
	if a.Host != nil {
		return a.Host.Workspace
	}
	return ""
}

func (a Question) diff() string {
	if a.Preview != nil {
		return a.Preview.Diff
	}
	return ""
}

// ShownQuestion names an approval and the hash of its contents as shown to the person.
type ShownQuestion struct {
	ID   QuestionID `json:"id"`
	Hash string     `json:"hash"`
}

// QuestionAnswerAllParams gives several approvals the same answer, such as approvals that ask the
// same question. Each is answered separately, as by approval.answer, and its hash is compared.
type QuestionAnswerAllParams struct {
	Questions []ShownQuestion `json:"questions"`       // 1 to 1000
	Decision  string          `json:"decision"`        // allow or deny
	Scope     string          `json:"scope,omitempty"` // default once; rules are saved only with the first approval that this answer wins
	Reason    string          `json:"reason,omitempty"`
	Offers    []int           `json:"offers,omitempty"`
	Until     int64           `json:"until,omitempty"`
	Access    []int           `json:"access,omitempty"`
	// Args replace the arguments of every call; only with an allow for once.
	Args json.RawMessage `json:"args,omitempty"`
}

// QuestionOutcome is the result for one approval.
type QuestionOutcome struct {
	ID       QuestionID `json:"id"`
	Won      bool       `json:"won"`
	Question *Question  `json:"question,omitempty"` // after the answer; missing with Error
	Error    *Error     `json:"error,omitempty"`    // why this approval was not answered; it does not affect the others
}

// QuestionAnswerAllResult has one outcome for each approval, in the order of the request.
type QuestionAnswerAllResult struct {
	Outcomes []QuestionOutcome `json:"outcomes"`
}

// Won counts the approvals that this answer decided.
func (r QuestionAnswerAllResult) Won() (n int) {
	for _, o := range r.Outcomes {
		if o.Won {
			n++
		}
	}
	return n
}

// MaxSnooze is the longest time for which an approval can be snoozed at once, in milliseconds.
const MaxSnooze = 24 * 60 * 60 * 1000

// SnoozeFor is the default length of a snooze; opening the question ends it earlier.
const SnoozeFor = 10 * time.Minute

// QuestionSnoozeParams hides pending approvals in all windows for a time in milliseconds, 1 to
// MaxSnooze; 0 shows them again. Approvals that were answered in the meantime are skipped.
type QuestionSnoozeParams struct {
	IDs []QuestionID `json:"ids"`
	For int64        `json:"for,omitempty"`
}

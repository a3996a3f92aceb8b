package protocol

import "encoding/json"

// Approval states.
const (
	ApprovalPending    = "pending"
	ApprovalAllowed    = "allowed"
	ApprovalEdited     = "edited" // allowed, with the arguments in Edited
	ApprovalDenied     = "denied"
	ApprovalExpired    = "expired"
	ApprovalCancelled  = "cancelled"  // with its run
	ApprovalSuperseded = "superseded" // the rules changed meanwhile and decide it without the person
)

// Surfaces on which a question can be shown, in the order in which they are tried.
const (
	SurfaceWindow       = "window"
	SurfaceTerminal     = "terminal"
	SurfaceNotification = "notification"
	SurfaceChannel      = "channel"
)

// Answers to a question.
const (
	DecisionAllow = "allow"
	DecisionDeny  = "deny"
)

// Scopes of an allow.
const (
	ScopeOnce    = "once"
	ScopeSession = "session"
	ScopeFolder  = "folder" // this folder and below, on this machine
	ScopeMachine = "node"   // this machine
	ScopeAlways  = "always"
)

// Kinds of question.
const (
	AskCall     = "call"     // may this tool call run?
	AskContinue = "continue" // the run reached its step limit: go on?
)

// Approval is a question to the person and, later, its answer (extension). It carries everything the person must see; Hash is over
// exactly that, and what runs is compared with it.
type Approval struct {
	ID         ApprovalID `json:"id"`
	Kind       string     `json:"kind"`
	State      string     `json:"state"`
	SessionKey SessionKey `json:"sessionKey"`
	RunID      RunID      `json:"runId,omitempty"`
	CallID     CallID     `json:"callId,omitempty"`
	CreatedAt  int64      `json:"createdAt"`
	ExpiresAt  int64      `json:"expiresAt,omitempty"` // 0 never

	Node    NodeID          `json:"node,omitempty"`
	Host    *HostInfo       `json:"host,omitempty"`
	Tool    string          `json:"tool,omitempty"` // bare name
	Args    json.RawMessage `json:"args,omitempty"`
	Effect  Effect          `json:"effect,omitempty"`
	Preview *CallPreview    `json:"preview,omitempty"`

	AskedBy AskedBy `json:"askedBy"`
	Why     string  `json:"why"`               // why it is asked, one sentence
	Sandbox string  `json:"sandbox,omitempty"` // what would be enforced, one line; says so when nothing is
	// Files says which of the person's rules about files hold for the code that the call runs; empty where its words tell which files it opens.
	Files   string   `json:"files,omitempty"`
	Choices []string `json:"choices"` // scopes that an allow may have
	// SessionRule says what an allow for the session would let through, in words.
	SessionRule string `json:"sessionRule,omitempty"`
	// Parts are the pieces of a command with what the rules say of each.
	Parts []ApprovalPart `json:"parts,omitempty"`
	// Offers are the rules that an allow for a folder, a machine or always would make; empty when only once, or the chat, can be allowed.
	Offers []RuleOffer `json:"offers,omitempty"`
	// Floor says that it is asked about whatever the rules say.
	Floor bool `json:"floor,omitempty"`
	// Chosen are the offers, by their place, that the answer made rules of.
	Chosen []int `json:"chosen,omitempty"`
	// Until is when the rules that the answer made end, in Unix milliseconds; 0 is never.
	Until int64 `json:"until,omitempty"`
	// Access are the folders that the answer opened for the call, by their place in Preview.Folders.
	Access []int `json:"access,omitempty"`
	// Edited are the arguments that the person put in the place of Args.
	Edited json.RawMessage `json:"edited,omitempty"`
	// Policy is the version of the rules that led to the question.
	Policy string `json:"policy,omitempty"`
	Hash   string `json:"hash"`

	// Shown says that some surface acknowledged that it shows the question; SurfaceShown and ShownAt are the first that did.
	Shown        bool   `json:"shown,omitempty"`
	SurfaceShown string `json:"surfaceShown,omitempty"`
	ShownAt      int64  `json:"shownAt,omitempty"`
	// Unseen counts how often nobody acknowledged it in time. From 1 on it waits unseen: who can notify the person outside a window does so.
	// At 2 the channels were tried too.
	Unseen int `json:"unseen,omitempty"`

	// Later is until when the person put the question off, in Unix milliseconds; 0 is not. Its time runs on, and it can be answered all the same.
	Later int64 `json:"later,omitempty"`

	AnsweredAt int64  `json:"answeredAt,omitempty"`
	AnsweredBy string `json:"answeredBy,omitempty"`
	Scope      string `json:"scope,omitempty"`
	Reason     string `json:"reason,omitempty"`
}

// ApprovalPart is one piece of a command: a program with its words, a redirect, an assignment, or something that was found.
type ApprovalPart struct {
	Kind    string   `json:"kind"`
	Text    string   `json:"text"`
	Argv    []string `json:"argv,omitempty"`
	Verdict string   `json:"verdict"`
	Reason  string   `json:"reason"`
	Floor   bool     `json:"floor,omitempty"`
}

// RuleOffer is a rule that may be made at a question.
type RuleOffer struct {
	Policy json.RawMessage `json:"policy"`
	Words  string          `json:"words"`
	// As are the very rules that an answer makes of it, by the answer's scope: folder, node or always.
	As map[string]RuleOffer `json:"as,omitempty"`
}

// Kinds of AskedBy that are not the person. For the first two nobody need be there.
const (
	AskedBySchedule = "schedule" // a job, or the heartbeat
	AskedByChannel  = "channel"  // somebody who wrote on a channel and is not the person
	AskedByAgent    = "agent"    // the agent of another chat, which wrote into this one
)

// AskedBy says who caused a call.
type AskedBy struct {
	Kind  string `json:"kind"`            // chat, schedule, channel, agent, mcp, rest, client
	Name  string `json:"name,omitempty"`  // such as the chat's title
	Model string `json:"model,omitempty"` // provider/id
}

// Allowed reports whether the answer lets the call run.
func (a Approval) Allowed() bool { return a.State == ApprovalAllowed || a.State == ApprovalEdited }

// ApprovalListResult lists open questions, oldest first.
type ApprovalListResult struct {
	Approvals []Approval `json:"approvals"`
}

// ApprovalAnswerParams answers a question. Hash must be the question's: an answer to something else than what was shown is
// refused.
type ApprovalAnswerParams struct {
	ID       ApprovalID `json:"id"`
	Hash     string     `json:"hash"`
	Decision string     `json:"decision"`
	Scope    string     `json:"scope,omitempty"` // default once
	Reason   string     `json:"reason,omitempty"`
	// Offers are the places of the offered rules to make, for a scope beyond the chat; empty takes the narrow ones.
	Offers []int `json:"offers,omitempty"`
	// Until is when those rules end, in Unix milliseconds; 0 is never.
	Until int64 `json:"until,omitempty"`
	// Access are the places in Preview.Folders of the folders to open for this call, and only for it.
	Access []int `json:"access,omitempty"`
	// Args are other arguments that the person wants the call to have; only with an allow for once. The call is checked anew with them.
	Args json.RawMessage `json:"args,omitempty"`
}

// ApprovalAnswerResult says how the question ended; Won is false when another answer came first.
type ApprovalAnswerResult struct {
	Won      bool     `json:"won"`
	Approval Approval `json:"approval"`
}

// ApprovalShownParams acknowledges that a question is in view. Surface is where; default window.
type ApprovalShownParams struct {
	ID      ApprovalID `json:"id"`
	Surface string     `json:"surface,omitempty"`
}

// ApprovalParams names a question.
type ApprovalParams struct {
	ID ApprovalID `json:"id"`
}

// ApprovalUndoResult says how much of what an answer gave was taken back.
type ApprovalUndoResult struct {
	Rules  int `json:"rules"`
	Grants int `json:"grants"`
}

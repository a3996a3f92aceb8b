package protocol

import (
	"encoding/json"
	"slices"
	"time"
)

// States of a question.
const (
	QuestionPending    = "pending"
	QuestionAllowed    = "allowed"
	QuestionEdited     = "edited" // allowed, with the arguments in Edited
	QuestionDenied     = "denied"
	QuestionExpired    = "expired"
	QuestionCancelled  = "cancelled"  // with its run or whoever asked, or dismissed
	QuestionSuperseded = "superseded" // changed rules decided the call without the person
)

// Surfaces that can show a question, in the order in which they are tried.
const (
	SurfaceWindow       = "window"
	SurfaceTerminal     = "terminal"
	SurfaceNotification = "notification"
	SurfaceChannel      = "channel"
)

// MaxUnseen is how often a question without a confirmation is tried elsewhere: windows confirm by
// themselves, at 1 everyone who can notify the person does so, at 2 the channels are tried.
const MaxUnseen = 2

// Decisions.
const (
	DecisionAllow = "allow"
	DecisionDeny  = "deny"
	// DecisionDismiss closes a question of kind input without a yes or no.
	DecisionDismiss = "dismiss"
)

// Scopes of an allow decision.
const (
	ScopeOnce    = "once"
	ScopeSession = "session"
	ScopeFolder  = "folder" // this folder and below, on this machine
	ScopeMachine = "node"   // this machine
	ScopeAlways  = "always"
)

// Before reports whether the person should see a question before another one: not those that they
// snoozed, then those that expire, the soonest first, because somebody waits in front of them, and
// then the oldest.
func (a Question) Before(b Question) bool {
	if (a.Later == 0) != (b.Later == 0) {
		return a.Later == 0
	}
	if a.ExpiresAt != b.ExpiresAt {
		return b.ExpiresAt == 0 || a.ExpiresAt != 0 && a.ExpiresAt < b.ExpiresAt
	}
	return a.CreatedAt < b.CreatedAt
}

// SortQuestions sorts questions as [Question.Before] says.
func SortQuestions(list []Question) {
	slices.SortStableFunc(list, func(a, b Question) int {
		switch {
		case a.Before(b):
			return -1
		case b.Before(a):
			return 1
		}
		return 0
	})
}

// Question is anything that waits for the person and, later, its answer (extension;
// docs/protocol.md#questions). It has everything that the person must see. Hash covers exactly
// that; a call is compared with it before it runs.
type Question struct {
	ID         QuestionID `json:"id"`
	Kind       string     `json:"kind"`  // call, type, keep, continue, pair, widen, app, input, tools, sender or visit
	State      string     `json:"state"` // pending, allowed, edited, denied, expired, cancelled or superseded
	SessionKey SessionKey `json:"sessionKey"`
	RunID      RunID      `json:"runId,omitempty"`
	CallID     CallID     `json:"callId,omitempty"`
	CreatedAt  int64      `json:"createdAt"`
	ExpiresAt  int64      `json:"expiresAt,omitempty"` // 0: never

	// The subject, unless it is a call.
	Pairing *PairingSubject `json:"pairing,omitempty"`
	App     *AppSubject     `json:"app,omitempty"`
	Input   *InputSubject   `json:"input,omitempty"`
	Tools   *ToolsSubject   `json:"tools,omitempty"`
	Sender  *SenderSubject  `json:"sender,omitempty"`
	Visit   *VisitSubject   `json:"visit,omitempty"`

	Node    NodeID          `json:"node,omitempty"`
	Host    *HostInfo       `json:"host,omitempty"`
	Tool    string          `json:"tool,omitempty"` // bare name
	Args    json.RawMessage `json:"args,omitempty"`
	Effect  Effect          `json:"effect,omitempty"` // read, write, exec, network; empty is unknown
	Preview *CallPreview    `json:"preview,omitempty"`
	// ServerTool describes the tool of an MCP server that the call uses; nil for other calls
	// (extension).
	ServerTool *QuestionTool `json:"serverTool,omitempty"`

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
	Parts []QuestionPart `json:"parts,omitempty"`
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
	// can notify the person outside a window should do so. At 2 (MaxUnseen), the channels are tried,
	// too.
	Unseen int `json:"unseen,omitempty"`

	// Later is the time until which the person snoozed the question, in Unix milliseconds; 0 if not
	// snoozed. A snoozed question still expires, and it can still be answered.
	Later int64 `json:"later,omitempty"`

	AnsweredAt int64  `json:"answeredAt,omitempty"`
	AnsweredBy string `json:"answeredBy,omitempty"`
	Scope      string `json:"scope,omitempty"`
	Reason     string `json:"reason,omitempty"`
}

// Allowed reports whether the answer allows the call.
func (a Question) Allowed() bool { return a.State == QuestionAllowed || a.State == QuestionEdited }

// QuestionListResult lists the pending questions, those that the person should answer first at the
// beginning.
type QuestionListResult struct {
	Questions []Question `json:"questions"`
}

// QuestionWatchResult answers question.watch, a subscription to questions only: feed events with
// changes of kind question, numbered from Seq+1 on, follow instead of those of feed.subscribe.
type QuestionWatchResult struct {
	Seq       uint64     `json:"seq"`
	Questions []Question `json:"questions"`
}

// QuestionAnswerParams answers a question. Hash must equal the question's hash; otherwise the answer
// is rejected, because the person saw something else.
type QuestionAnswerParams struct {
	ID       QuestionID `json:"id"`
	Hash     string     `json:"hash"`
	Decision string     `json:"decision"`        // allow or deny; also dismiss for kind input
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
	// Name is the new name of a device that is paired; empty: its own name.
	Name string `json:"name,omitempty"`
	// Scopes are what an app gets, of the scopes that it asked for; empty: all of them. Nodes and
	// Networks are the machines that it may use; both empty: all.
	Scopes   []Scope     `json:"scopes,omitempty"`
	Nodes    []NodeID    `json:"nodes,omitempty"`
	Networks []NetworkID `json:"networks,omitempty"`
	// Tools are the names of the changed tools to accept; empty: all that the question has. A denial
	// turns all of them off.
	Tools []string `json:"tools,omitempty"`
	// Values are the values of the fields of a question of kind input, by name.
	Values map[string]any `json:"values,omitempty"`
	// For is how long a question of kind visit is allowed: hour (default), day or always.
	For string `json:"for,omitempty"`
}

// QuestionAnswerResult returns the answered question. Won is false when another answer came first,
// or when the question was closed before: then the question says how and by whom.
type QuestionAnswerResult struct {
	Won      bool     `json:"won"`
	Question Question `json:"question"`
}

// QuestionShownParams confirms that a person can see the question on a surface.
type QuestionShownParams struct {
	ID      QuestionID `json:"id"`
	Surface string     `json:"surface,omitempty"` // window (default), terminal, notification or channel
}

// QuestionParams selects a question.
type QuestionParams struct {
	ID QuestionID `json:"id"`
}

// QuestionUndoResult reports how many of an answer's rules and grants were revoked.
type QuestionUndoResult struct {
	Rules  int `json:"rules"`
	Grants int `json:"grants"`
}

// MaxAnswers is the maximum number of questions that one request may answer.
const MaxAnswers = 1000

// ShownQuestion names a question and the hash of its contents as shown to the person.
type ShownQuestion struct {
	ID   QuestionID `json:"id"`
	Hash string     `json:"hash"`
}

// QuestionAnswerAllParams gives several questions about calls the same answer, such as those that
// ask the same. Each is answered separately, as by question.answer, and its hash is compared.
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

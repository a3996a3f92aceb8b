package tool

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
)

// Executor runs calls on nodes. gateway/nodes implements it.
type Executor interface {
	// Preview describes what a call would do; ok is false if the node does not support previews.
	Preview(ctx context.Context, id protocol.NodeID, inv protocol.ToolInvoke) (preview protocol.CallPreview, ok bool, err error)
	// Call runs a call and waits for its result. A tool's failure is a *[Failure];
	// protocol.ErrUnavailable means that the node disconnected, and the outcome is unknown. When
	// ctx ends, Call returns its cause with the result so far, if the node reports one.
	Call(ctx context.Context, id protocol.NodeID, inv protocol.ToolInvoke, progress func(protocol.ToolProgress)) (json.RawMessage, error)
	// Rejoin is Call for a call that an earlier start of the gateway made.
	Rejoin(ctx context.Context, id protocol.NodeID, call protocol.CallID, progress func(protocol.ToolProgress)) (json.RawMessage, error)
}

// Policy decides which calls are allowed, denied, or need an approval. gateway/approval implements
// it with the person's rules, and gateway/policy decides.
type Policy interface {
	Decide(ctx context.Context, q policy.Request) policy.Decision
	// Evaluate is Decide without counting the use of a rule.
	Evaluate(q policy.Request) policy.Decision
	// Version changes with every change of the rules.
	Version() string
	// Offer adds the rules to an approval that "always" would save.
	Offer(a *protocol.Question, d policy.Decision) error
}

// ErrSuspended is the cause of a context that ends because the gateway stops: approvals then stay
// pending for the next start.
var ErrSuspended = errors.New("the gateway is stopping")

// Approver asks the person. *question.Queue implements it.
type Approver interface {
	// AskCall asks about a call and waits until the question is closed. The answer saves the rules
	// that the person chose, or the permission for the chat. An app with too many questions gets
	// protocol.ErrTooMany.
	AskCall(ctx context.Context, q protocol.Question, a Asking) (protocol.Question, error)
	// Review closes the pending questions for which decided returns true.
	Review(ctx context.Context, decided func(protocol.Question) bool) error
	// Withdraw closes a question that is no longer needed, if it is still pending.
	Withdraw(ctx context.Context, id protocol.QuestionID) error
}

// Journal records calls. gateway/journal implements it.
type Journal interface {
	// Start stores a new call, or the new state of an open one. A call must be stored before it
	// runs.
	Start(ctx context.Context, r *Record) error
	// Finish stores the end of an open call. It returns false if the call had ended before.
	Finish(ctx context.Context, r *Record) (bool, error)
	// Correct stores the outcome of a call whose outcome was unknown. For any other call it returns
	// false.
	Correct(ctx context.Context, r *Record) (bool, error)
	// Find returns a call, or protocol.ErrNotFound.
	Find(ctx context.Context, id protocol.CallID) (Record, error)
	// Open returns the calls that have not ended.
	Open(ctx context.Context) ([]Record, error)
}

// Steps records what passed after calls. *store.Calls implements it.
type Steps interface {
	// Continue changes what is recorded after a call, which may have ended.
	Continue(ctx context.Context, id protocol.CallID, add func(protocol.Continuation) protocol.Continuation) error
}

// Permissions are what a chat or an app may do without a question. approval.Permissions implements
// it.
type Permissions interface {
	// Of returns the approval mode of a chat, and what the person has allowed there.
	Of(ctx context.Context, key protocol.SessionKey) (protocol.ApprovalMode, []policy.SessionGrant, error)
}

// Grant is a permission for a chat or an app that an answer can save. Its machine is that of the
// question.
type Grant struct {
	Session protocol.SessionKey
	Tool    string
	Match   string // the calls that it allows, in the form that package policy compares
	Words   string // the same for people
}

// Asking are the conditions of a question about a call.
type Asking struct {
	App     protocol.AppID // that asks; empty for anybody else
	Expires time.Duration  // after this time; 0: never
	Grants  []Grant        // what an allow for the chat saves; empty when that is not offered
	// Store stores the call with the ID of the question, before the question is stored. Opened is
	// called once the person can answer.
	Store  func() error
	Opened func()
}

// Record is a call as the journal stores it, with the decision about it.
type Record struct {
	Entry
	Decision  policy.Decision
	DecidedBy string          // a person, a rule or the default; empty before the decision
	Resumed   bool            // see [Call]; not stored
	Of        protocol.CallID // see [Call]; not stored
}

// Entry is what is stored of a call. The journal converts it to its row, which has the same fields.
type Entry struct {
	Info           protocol.CallInfo
	AskedBy        protocol.AskedBy
	Principal      string
	App            protocol.AppID // that called; empty for anybody else
	IdempotencyKey string
	Idempotent     bool
	// from 1; incremented by each start of the gateway that resumes a call which had not started
	Attempt      int
	ResultJSON   json.RawMessage
	Hash         string // of the preview
	CreatedAt    int64
	Iteration    int   // the model step of its run, from 1; 0 outside runs
	Seq          int64 // number on its node, in the order of storing; set by the store
	InputSHA256  string
	InputBytes   int
	OutputSHA256 string
	OutputBytes  int
	Truncated    bool // ResultJSON is only a part of the result
	// Process is the ID of the command that the call has left running on its node, or empty.
	Process string
	// Continued counts what passed after the call. [Steps] and the end of a transfer alone change it.
	Continued protocol.Continuation
}

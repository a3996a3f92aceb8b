package protocol

import (
	"encoding/json"
	"time"
)

// MaxAnswers is the maximum number of approvals that one request may answer.
const MaxAnswers = 1000

// SameAs reports whether two pending approvals ask the same question: the same machine, tool,
// arguments, folder, diff and reason. Only approvals of calls can.
func (a Approval) SameAs(b Approval) bool {
	if a.ID == b.ID {
		return true
	}
	return a.Kind == AskCall && a.Kind == b.Kind && a.Node == b.Node && a.Tool == b.Tool && string(a.Args) == string(b.Args) &&
		a.Folder() == b.Folder() && a.Why == b.Why && a.diff() == b.diff()
}

// Folder returns the folder in which the call would run: its own, or the machine's workspace; empty
// when neither is known.
func (a Approval) Folder() string {
	if a.Preview != nil && a.Preview.Folder != "" {
		return a.Preview.Folder
	}
	if a.Host != nil {
		return a.Host.Workspace
	}
	return ""
}

func (a Approval) diff() string {
	if a.Preview != nil {
		return a.Preview.Diff
	}
	return ""
}

// ShownQuestion names an approval and the hash of its contents as shown to the person.
type ShownQuestion struct {
	ID   ApprovalID `json:"id"`
	Hash string     `json:"hash"`
}

// ApprovalAnswerAllParams gives several approvals the same answer, such as approvals that ask the
// same question. Each is answered separately, as by approval.answer, and its hash is compared.
type ApprovalAnswerAllParams struct {
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

// ApprovalOutcome is the result for one approval.
type ApprovalOutcome struct {
	ID       ApprovalID `json:"id"`
	Won      bool       `json:"won"`
	Approval *Approval  `json:"approval,omitempty"` // after the answer; missing with Error
	Error    *Error     `json:"error,omitempty"`    // why this approval was not answered; it does not affect the others
}

// ApprovalAnswerAllResult has one outcome for each approval, in the order of the request.
type ApprovalAnswerAllResult struct {
	Outcomes []ApprovalOutcome `json:"outcomes"`
}

// Won counts the approvals that this answer decided.
func (r ApprovalAnswerAllResult) Won() (n int) {
	for _, o := range r.Outcomes {
		if o.Won {
			n++
		}
	}
	return n
}

// MaxSnooze is the longest time for which an approval can be snoozed at once, in milliseconds.
const MaxSnooze = 24 * 60 * 60 * 1000

// SnoozeFor is the default length of a snooze. The question returns earlier when the person opens
// it.
const SnoozeFor = 10 * time.Minute

// ApprovalSnoozeParams hides pending approvals in all windows for a time in milliseconds, 1 to
// MaxSnooze; 0 shows them again. Approvals that were answered in the meantime are skipped.
type ApprovalSnoozeParams struct {
	IDs []ApprovalID `json:"ids"`
	For int64        `json:"for,omitempty"`
}

package protocol

import (
	"encoding/json"
	"time"
)

// MaxAnswers is how many questions one call may answer.
const MaxAnswers = 1000

// SameAs reports whether two open questions ask exactly the same: the same machine, tool, arguments, folder, change and reason. Only calls can.
func (a Approval) SameAs(b Approval) bool {
	if a.ID == b.ID {
		return true
	}
	return a.Kind == AskCall && a.Kind == b.Kind && a.Node == b.Node && a.Tool == b.Tool && string(a.Args) == string(b.Args) &&
		a.Folder() == b.Folder() && a.Why == b.Why && a.diff() == b.diff()
}

// Folder is where the call would run: its own folder, or the machine's workspace; empty when neither is known.
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

// ShownQuestion names a question and what of it was shown.
type ShownQuestion struct {
	ID   ApprovalID `json:"id"`
	Hash string     `json:"hash"`
}

// ApprovalAnswerAllParams gives several questions the same answer, such as those that ask exactly the same. Each is answered by itself, as by
// approval.answer, and compared with what was shown of it.
type ApprovalAnswerAllParams struct {
	Questions []ShownQuestion `json:"questions"` // 1 to MaxAnswers
	Decision  string          `json:"decision"`
	Scope     string          `json:"scope,omitempty"` // default once; what makes a rule makes it once, at the first question that is won
	Reason    string          `json:"reason,omitempty"`
	Offers    []int           `json:"offers,omitempty"`
	Until     int64           `json:"until,omitempty"`
	Access    []int           `json:"access,omitempty"`
	// Args are other arguments that each of the calls shall have; only with an allow for once.
	Args json.RawMessage `json:"args,omitempty"`
}

// ApprovalOutcome says what an answer did to one question.
type ApprovalOutcome struct {
	ID       ApprovalID `json:"id"`
	Won      bool       `json:"won"`
	Approval *Approval  `json:"approval,omitempty"` // as it ended; nil with Error
	Error    *Error     `json:"error,omitempty"`    // why this one was not answered; the others were
}

// ApprovalAnswerAllResult has an outcome for each question, in the order of the call.
type ApprovalAnswerAllResult struct {
	Outcomes []ApprovalOutcome `json:"outcomes"`
}

// Won counts the questions that this answer ended.
func (r ApprovalAnswerAllResult) Won() (n int) {
	for _, o := range r.Outcomes {
		if o.Won {
			n++
		}
	}
	return n
}

// MaxSnooze is how long a question can be put off at once, in milliseconds.
const MaxSnooze = 24 * 60 * 60 * 1000

// SnoozeFor is how long *Not now* puts a question off where nothing else is said. It comes back earlier when the person opens it.
const SnoozeFor = 10 * time.Minute

// ApprovalSnoozeParams puts open questions off in all windows for a while, in milliseconds from 1 to MaxSnooze; 0 brings them back. Questions that have
// ended meanwhile are left out.
type ApprovalSnoozeParams struct {
	IDs []ApprovalID `json:"ids"`
	For int64        `json:"for,omitempty"`
}

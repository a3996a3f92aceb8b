package tool

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
)

// maxReason is the maximum length of a person's reason in the journal and the audit log.
const maxReason = 200

// applyAnswer continues with the answer of the person, or ends the call with it.
func (a *activeCall) applyAnswer(ctx context.Context, answer protocol.Question) error {
	r := &a.entry.record
	r.DecidedBy = answer.AnsweredBy
	r.Decision = policy.Decision{Verdict: policy.Deny, Reason: "the question was " + answer.State}
	switch answer.State {
	case protocol.QuestionAllowed, protocol.QuestionEdited:
		r.Decision = policy.Decision{Verdict: policy.Allow, Reason: answer.State + " " + answer.Scope}
	case protocol.QuestionDenied:
		text := protocol.DeniedByPerson
		if answer.Reason != "" {
			text += protocol.DenialReason + answer.Reason
			r.Decision.Reason += ": " + format.Line(answer.Reason, maxReason)
		}
		return a.entry.end(ctx, protocol.CallDenied, nil, text)
	case protocol.QuestionExpired:
		call := a.subject.call
		return a.entry.end(ctx, protocol.CallDenied, nil, expiredText(call.AskedBy, a.asker.limit(call), answer))
	default:
		return a.entry.stop(ctx, nil)
	}
	// The approved call must be the one that is about to run.
	if answer.Hash != r.Hash {
		return a.entry.end(ctx, protocol.CallDenied, nil, "The answer was for a different call. Nothing was run.")
	}
	a.permit.folders = openedFolders(answer)
	if answer.State == protocol.QuestionEdited {
		return a.applyEdit(ctx, answer)
	}
	// A rule may have been saved at the moment of the answer. One of the answer has counted this use.
	if err := a.updateJudgement(a.judge.evaluate(ctx, a.subject)); err != nil {
		return err
	}
	if a.judgement.Verdict == policy.Deny {
		return a.decide(ctx)
	}
	return nil
}

// expiredText tells the model that nobody has answered.
func expiredText(by protocol.AskedBy, limit time.Duration, answer protocol.Question) string {
	text := fmt.Sprintf(protocol.NobodyAnswered+" the question within %s, so the call was not run.", format.Duration(limit))
	if answer.Reason != "" {
		text = protocol.NobodyAnswered + " the previous question, so the person was not asked about this call, and it was not run."
	}
	if by.IsUnattended() {
		return text + " Probably nobody is there: do not request it again now. Continue without it, or finish and say what was not done."
	}
	return text + " The call was not denied: you may request it again."
}

// openedFolders returns the folders that an answer opened.
func openedFolders(answer protocol.Question) (list []protocol.FolderAccess) {
	for _, i := range answer.Access {
		if answer.Preview != nil && i >= 0 && i < len(answer.Preview.Folders) {
			list = append(list, answer.Preview.Folders[i])
		}
	}
	return list
}

// applyEdit replaces the arguments with those of the person. The call becomes a direct action of
// the person: it is validated and stopped by a deny, but needs no further approval.
func (a *activeCall) applyEdit(ctx context.Context, answer protocol.Question) error {
	r := &a.entry.record
	refuse := func(text string) error {
		return a.entry.end(ctx, protocol.CallFailed, nil, protocol.ChangedCallFailed+text)
	}
	a.subject.call.Args = answer.Edited
	if err := a.subject.validate(); err != nil {
		return refuse(err.Error())
	}
	r.Info.Args, r.Info.Effect, r.Info.Edited = a.subject.call.Args, a.subject.target.Spec.Effect, true
	r.InputSHA256, r.InputBytes = "", 0 // the journal computes them again
	a.permit.isEdited = true
	problem, err := a.inspect(ctx)
	if p := a.subject.preview; p != nil {
		problem = p.Problem // of credentials too: the person wrote this call
		r.Info.Partial = partialChange(answer.Preview, p)
	}
	switch {
	case err != nil:
		return err
	case problem != "":
		return refuse(problem)
	}
	if err := a.updateJudgement(a.judge.decide(ctx, a.subject)); err != nil {
		return err
	}
	if a.judgement.Verdict == policy.Deny {
		return refuse(a.judgement.Reason)
	}
	r.Hash, err = a.subject.hash(a.permit.version)
	a.permit.hash = r.Hash
	return err
}

// partialChange compares the change that the person allowed with the proposed one. It returns nil
// unless the person left out some of its parts and changed none.
func partialChange(proposed, allowed *protocol.CallPreview) *protocol.PartialChange {
	if proposed == nil {
		return nil
	}
	all, some := changedLines(proposed.Diff), changedLines(allowed.Diff)
	if len(some) == 0 || len(some) >= len(all) {
		return nil
	}
	left := all
	for _, part := range some {
		i := slices.Index(left, part)
		if i < 0 {
			return nil
		}
		left = left[i+1:]
	}
	return &protocol.PartialChange{Allowed: len(some), Total: len(all)}
}

// changedLines returns the added and removed lines of each hunk of a unified diff.
func changedLines(diff string) (hunks []string) {
	for line := range strings.Lines(diff) {
		switch n := len(hunks); {
		case strings.HasPrefix(line, "@@"):
			hunks = append(hunks, "")
		case n > 0 && (line[0] == '+' || line[0] == '-'):
			hunks[n-1] += line
		}
	}
	return hunks
}

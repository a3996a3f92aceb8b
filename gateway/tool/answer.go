package tool

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
)

// maxReason is the maximum length of a person's reason in the journal and the audit log.
const maxReason = 200

// applyAnswer continues with the answer of the person, or ends the call with it.
func (a *activeCall) applyAnswer(ctx context.Context, answer protocol.Question) error {
	a.record.DecidedBy = answer.AnsweredBy
	a.record.Decision = policy.Decision{Verdict: policy.Deny, Reason: "the question was " + answer.State}
	switch answer.State {
	case protocol.QuestionAllowed, protocol.QuestionEdited:
		a.record.Decision = policy.Decision{Verdict: policy.Allow, Reason: answer.State + " " + answer.Scope}
	case protocol.QuestionDenied:
		text := protocol.DeniedByPerson
		if answer.Reason != "" {
			text += protocol.DenialReason + answer.Reason
			a.record.Decision.Reason += ": " + format.Line(answer.Reason, maxReason)
		}
		return a.end(ctx, protocol.CallDenied, nil, text)
	case protocol.QuestionExpired:
		return a.end(ctx, protocol.CallDenied, nil, expiredText(a.call.AskedBy, a.Config().Approvals.Limit(a.call.AskedBy), answer))
	default:
		return a.finishStopped(ctx, nil)
	}
	// The approved call must be the one that is about to run.
	if answer.Hash != a.record.Hash {
		return a.end(ctx, protocol.CallDenied, nil, "The answer was for a different call. Nothing was run.")
	}
	a.folders = openedFolders(answer)
	if answer.State == protocol.QuestionEdited {
		return a.applyEdit(ctx, answer)
	}
	// A rule may have been saved at the moment of the answer.
	d, err := a.decision(ctx)
	switch {
	case err != nil:
		return err
	case d.Verdict == policy.Deny:
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
	refuse := func(text string) error {
		return a.end(ctx, protocol.CallFailed, nil, protocol.ChangedCallFailed+text)
	}
	spec := &a.target.Spec
	args, err := toolkit.Arguments(spec.InputSchema, answer.Edited)
	if err != nil {
		return refuse(err.Error())
	}
	a.call.Args, a.record.Info.Args, a.record.Info.Edited = args, args, true
	a.record.InputSHA256, a.record.InputBytes = "", 0 // the journal computes them again
	if spec.EffectOf != nil {
		spec.Effect = spec.EffectOf(args)
		a.record.Info.Effect = spec.Effect
	}
	problem, err := a.updatePreview(ctx)
	if p := a.record.Info.Preview; p != nil {
		problem = p.Problem // of credentials too: the person wrote this call
		a.record.Info.Partial = partialChange(answer.Preview, p)
	}
	switch {
	case err != nil:
		return err
	case problem != "":
		return refuse(problem)
	}
	d, err := a.decision(ctx)
	if err != nil {
		return err
	}
	if d.Verdict == policy.Deny {
		return refuse(d.Reason)
	}
	a.record.Hash, err = protocol.CallHash(protocol.AskCall, a.target.Node, spec.Name, args, a.record.Info.Preview, a.version)
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

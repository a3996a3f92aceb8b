package tool

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/policy"
	"fairlead/gateway/protocol"
)

// Plan is the person's answer to one question about the calls of a batch. Each of the calls is
// judged again when it runs with [Call.Plan]. One that differs by then from what the person saw
// has a question of its own.
type Plan struct {
	answer  protocol.Question
	hashes  map[string]bool         // of what the person saw of each call
	folders []protocol.FolderAccess // that the person saw
}

// maxPlanDiff bounds the text of the changes that one question shows, in bytes. Calls beyond it
// have questions of their own.
const maxPlanDiff = 256 << 10

// Plan asks the person one question about those calls of a batch that write files and need an
// answer. It returns nil if there are fewer than two; an error if the person denied them, after
// which the batch must not run. They are recorded then. A call that always needs an answer, touches
// credentials, or cannot be previewed has a question of its own when it runs.
func (p *Pipeline) Plan(ctx context.Context, calls []Call) (*Plan, error) {
	var asked []*activeCall
	size := 0
	for _, c := range calls {
		a, err := p.planned(ctx, c)
		if err != nil {
			return nil, err
		}
		if a == nil || size+len(a.subject.preview.Diff) > maxPlanDiff {
			continue
		}
		size += len(a.subject.preview.Diff)
		asked = append(asked, a)
	}
	if len(asked) < 2 {
		return nil, nil
	}
	plan, err := p.askPlan(ctx, asked)
	if err != nil || plan.answer.Allowed() {
		return plan, err
	}
	for _, a := range asked { // so that the journal has them
		c := a.subject.call
		c.Plan = plan
		if _, failure := Outcome(p.Run(ctx, c)); err == nil {
			err = failure
		}
	}
	return nil, err
}

// planned returns a call of a batch that the person can be asked about together with others; nil if
// it is not one. An error means that ctx has ended.
func (p *Pipeline) planned(ctx context.Context, c Call) (*activeCall, error) {
	if c.Direct {
		return nil, nil
	}
	a := p.newCall(c, Record{})
	a.judge.isAgain = true // it is judged when it runs
	s := &a.subject
	var err error
	s.target, err = p.Registry.Lookup(c.Tool)
	if authorize(c, s.target, err) != nil || s.validate() != nil {
		return nil, nil // it fails when it runs
	}
	problem, _, err := s.look(ctx)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil || problem != "" || s.preview == nil || s.preview.Problem != "" || s.target.Spec.Effect != protocol.EffectWrite:
		return nil, nil
	case s.preview.Secret != "" || s.preview.Personal || slices.ContainsFunc(s.preview.Folders, func(f protocol.FolderAccess) bool { return f.Warning != "" }):
		return nil, nil
	}
	if err := a.updateJudgement(ctx); err != nil {
		return nil, err
	}
	if a.judgement.Verdict != policy.Ask || a.judgement.Floor {
		return nil, nil
	}
	return a, nil
}

// askPlan asks about calls together.
func (p *Pipeline) askPlan(ctx context.Context, asked []*activeCall) (*Plan, error) {
	first := asked[0]
	batch := first.subject.call
	batch.ID = protocol.NewCallID()
	ctx, release, err := p.calls.add(ctx, batch.ID)
	if err != nil {
		return nil, err
	}
	defer release()
	q, err := planQuestion(asked, p.Policy.Version())
	if err != nil {
		return nil, err
	}
	q.ID, q.CallID = protocol.QuestionID(protocol.NewID()), batch.ID
	plan := &Plan{hashes: make(map[string]bool), folders: q.Preview.Folders}
	for _, a := range asked {
		hash, err := a.subject.planHash(q.Policy)
		if err != nil {
			return nil, err
		}
		plan.hashes[hash] = true
	}
	plan.answer, err = first.asker.ask(ctx, batch, q, func() error { return nil })
	switch {
	case err != nil:
		return nil, err
	case plan.answer.State == protocol.QuestionCancelled:
		return nil, protocol.NewFault(protocol.FaultCanceled, "the batch was cancelled")
	}
	return plan, nil
}

// planQuestion returns the question about calls of one machine, with their changes joined.
func planQuestion(asked []*activeCall, version string) (q question, err error) {
	s := asked[0].subject
	preview := protocol.CallPreview{}
	var files []string
	var diffs strings.Builder
	for _, a := range asked {
		p := a.subject.preview
		files = append(files, describeChange(a.subject))
		if diffs.WriteString(p.Diff); p.Diff != "" && !strings.HasSuffix(p.Diff, "\n") {
			diffs.WriteByte('\n')
		}
		preview.Added, preview.Removed = preview.Added+p.Added, preview.Removed+p.Removed
		preview.Outside = preview.Outside || p.Outside
		for _, f := range p.Folders {
			if !slices.Contains(preview.Folders, f) {
				preview.Folders = append(preview.Folders, f)
			}
		}
		q.requests = append(q.requests, a.judgement.request)
	}
	preview.Diff = diffs.String()
	q.Question = protocol.Question{
		Kind: protocol.AskCall, State: protocol.QuestionPending, SessionKey: s.call.Session, RunID: s.call.Run, Node: s.target.Node,
		Tool: protocol.BatchTool, Effect: protocol.EffectWrite, Preview: &preview, AskedBy: s.call.AskedBy, Why: asked[0].judgement.Reason,
		Choices: []string{protocol.ScopeOnce}, Policy: version,
	}
	q.Args, err = protocol.Marshal(protocol.BatchArgs{Files: strings.Join(files, "\n")})
	s.target.Label(&q.Question)
	return q, err
}

// describeChange says in one line what a call does to a file, with the size and the checksum of
// content that its change does not show.
func describeChange(s subject) string {
	p := s.preview
	verb := "Write"
	switch s.target.Spec.Name {
	case "Edit":
		verb = "Edit"
	case "fs_delete":
		verb = "Delete"
	case "fs_mkdir":
		verb = "Create folder"
	}
	text := verb + " " + format.Line(p.Path, 0)
	if c := p.Content; c != nil {
		return fmt.Sprintf("%s (%s, %s, SHA-256 %s)", text, format.Size(c.Bytes), c.Type, c.SHA256)
	}
	if p.Diff != "" {
		text += fmt.Sprintf(" (+%d −%d)", p.Added, p.Removed)
	}
	return text
}

// planHash is [subject.hash] without the folders, which may exist by the time when the call runs.
func (s subject) planHash(version string) (string, error) {
	p := *s.preview
	p.Folders = nil
	s.preview = &p
	return s.hash(version)
}

// answerTo returns the person's answer to a call of the plan, as if it had been asked about alone;
// ok is false if the person saw something else.
func (p *Plan) answerTo(s subject) (answer protocol.Question, ok bool) {
	if p == nil || s.preview == nil || p.answer.State == protocol.QuestionEdited || p.answer.State == protocol.QuestionSuperseded {
		return answer, false
	}
	hash, err := s.planHash(p.answer.Policy)
	if err != nil || !p.hashes[hash] {
		return answer, false
	}
	for _, f := range s.preview.Folders {
		isIn := func(shown protocol.FolderAccess) bool {
			return f.Warning == "" && (shown.Write || !f.Write) && (shown.Path == f.Path || isBelow(f.Path, shown.Path))
		}
		if !slices.ContainsFunc(p.folders, isIn) {
			return answer, false
		}
	}
	return p.answer, true
}

// isBelow reports whether an absolute path of any system is below a folder.
func isBelow(file, folder string) bool {
	separator := "/"
	if !strings.HasPrefix(folder, "/") {
		separator = `\`
	}
	return strings.HasPrefix(file, strings.TrimSuffix(folder, separator)+separator)
}

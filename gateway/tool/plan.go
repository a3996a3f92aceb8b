package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
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
	floors  map[string]bool         // by the hash of what the person saw of a call: it needs an answer always
	folders []protocol.FolderAccess // that the person saw
}

// Plan asks the person one question about those calls of a batch that change files and need an
// answer. It returns nil if there are fewer than two; an error if the person denied them, after
// which the batch must not run. They are recorded then. A call that cannot be previewed has a
// question of its own when it runs, and so has the content of a download, which is not known before.
func (p *Pipeline) Plan(ctx context.Context, calls []Call) (*Plan, error) {
	var asked []*activeCall
	for _, c := range calls {
		a, err := p.planned(ctx, c)
		if err != nil {
			return nil, err
		}
		if a != nil {
			asked = append(asked, a)
		}
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
	s := &a.subject
	var err error
	s.target, err = p.Registry.Lookup(c.Tool)
	if authorize(c, s.target, err) != nil || s.validate() != nil {
		return nil, nil // it fails when it runs
	}
	problem, _, err := s.inspect(ctx)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil || problem != "" || s.preview == nil || s.preview.Problem != "":
		return nil, nil
	}
	if err := a.updateJudgement(a.judge.evaluate(ctx, a.subject)); err != nil || a.judgement.Verdict != policy.Ask {
		return nil, err
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
	q, err := first.asker.aboutAll(asked)
	if err != nil {
		return nil, err
	}
	q.ID, q.CallID = protocol.QuestionID(protocol.NewID()), batch.ID
	plan := &Plan{floors: make(map[string]bool), folders: q.Preview.Folders}
	for _, a := range asked {
		hash, err := a.subject.planHash(q.Policy)
		if err != nil {
			return nil, err
		}
		plan.floors[hash] = a.judgement.Floor
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

// aboutAll returns the question about calls of one machine, with their changes joined. It offers what
// every question about one of them would.
func (k asker) aboutAll(asked []*activeCall) (q question, err error) {
	s := asked[0].subject
	q.Question = protocol.Question{
		Kind: protocol.AskCall, State: protocol.QuestionPending, SessionKey: s.call.Session, RunID: s.call.Run, Node: s.target.Node, Tool: protocol.BatchTool,
		Effect: protocol.EffectWrite, Preview: new(protocol.CallPreview), AskedBy: s.call.AskedBy, Why: asked[0].judgement.Reason, Choices: []string{protocol.ScopeOnce}, Policy: k.policy.Version(),
	}
	var changes, granted []string
	for _, a := range asked {
		one, err := k.about(a.subject, a.judgement, "")
		if err != nil {
			return q, err
		}
		changes = append(changes, describeChange(a.subject))
		q.requests, q.grants, q.Parts = append(q.requests, one.requests...), append(q.grants, one.grants...), append(q.Parts, one.Parts...)
		if one.Floor && !q.Floor {
			q.Floor, q.Why = true, one.Why // the strictest
		}
		if one.Effect != protocol.EffectWrite {
			q.Effect = one.Effect
		}
		granted = append(granted, one.SessionRule)
		joinPreview(q.Preview, a.subject.preview)
	}
	if len(q.grants) == len(asked) {
		q.Choices, q.SessionRule = append(q.Choices, protocol.ScopeSession), strings.Join(granted, "; ")
	} else {
		q.grants = nil
	}
	q.Args, err = protocol.Marshal(protocol.BatchArgs{Files: strings.Join(changes, "\n")})
	s.target.Label(&q.Question)
	return q, err
}

// joinPreview adds what one more call would do.
func joinPreview(all, p *protocol.CallPreview) {
	if all.Diff += p.Diff; p.Diff != "" && !strings.HasSuffix(p.Diff, "\n") {
		all.Diff += "\n"
	}
	all.Added, all.Removed = all.Added+p.Added, all.Removed+p.Removed
	all.Outside, all.Network, all.Truncated = all.Outside || p.Outside, all.Network || p.Network, all.Truncated || p.Truncated
	if !strings.Contains(all.Secret, p.Secret) {
		all.Secret = strings.TrimPrefix(all.Secret+", "+p.Secret, ", ")
	}
	all.Changes = append(all.Changes, p.Changes...)
	for _, f := range p.Folders {
		if !slices.Contains(all.Folders, f) {
			all.Folders = append(all.Folders, f)
		}
	}
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
	case protocol.FetchTool:
		return describeDownload(s)
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

// describeDownload is describeChange for a download.
func describeDownload(s subject) string {
	var in struct {
		URL     string            `json:"url"`
		Headers map[string]string `json:"headers"`
		SHA256  string            `json:"expected_sha256"`
	}
	json.Unmarshal(s.call.Args, &in) // they are valid
	text := "Download " + format.Line(in.URL, 0) + " to " + format.Line(s.preview.Path, 0)
	for _, name := range slices.Sorted(maps.Keys(in.Headers)) {
		text += fmt.Sprintf(", with %s: %s", format.Line(name, 0), format.Line(in.Headers[name], 0))
	}
	if in.SHA256 != "" {
		text += " (SHA-256 " + format.Line(in.SHA256, 0) + ")"
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
func (p *Plan) answerTo(s subject, j judgement) (answer protocol.Question, ok bool) {
	if p == nil || s.preview == nil || p.answer.State == protocol.QuestionEdited || p.answer.State == protocol.QuestionSuperseded {
		return answer, false
	}
	hash, err := s.planHash(p.answer.Policy)
	isFloor, wasShown := p.floors[hash]
	if err != nil || !wasShown || j.Floor && !isFloor {
		return answer, false
	}
	for _, f := range s.preview.Folders {
		isIn := func(shown protocol.FolderAccess) bool {
			return (f.Warning == "" || f.Warning == shown.Warning) && (shown.Write || !f.Write) && (shown.Path == f.Path || isBelow(f.Path, shown.Path))
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

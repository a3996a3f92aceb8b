package servers

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/peer/wake"
	"fairlead/gateway/protocol"
	"fairlead/gateway/question"
)

// review asks the person about tools of a server that have changed since they were accepted, or
// that are new. Its goroutine is run.
type review struct {
	name protocol.ServerName
	m    *Manager
	wake wake.Signal // the tools, or which are on, may have changed
	// present returns the server's tools, and the names of those that are off.
	present func() (tools []remoteTool, off []string)

	// Only run uses these: the open question, and what it is about.
	asked protocol.QuestionID
	about string
}

// run keeps one question open as long as there are changed tools that are on. It blocks until ctx
// ends, and withdraws the question if stopped has ended, too: then the server is no longer wanted.
func (r *review) run(ctx, stopped context.Context) {
	defer func() {
		if stopped.Err() != nil { // not at the end of the gateway
			r.withdraw()
		}
	}()
	pause := retryMin
	for {
		var again <-chan time.Time
		if changed, id := r.changedTools(); id != r.about {
			r.withdraw()
			if len(changed) == 0 || r.ask(ctx, changed) {
				r.about, pause = id, retryMin
			} else {
				again = time.After(pause)
				pause = min(pause*2, retryMax)
			}
		}
		select {
		case <-r.wake:
		case <-again:
		case <-ctx.Done():
			return
		}
	}
}

func (r *review) withdraw() {
	if r.asked == "" {
		return
	}
	if err := r.m.o.Questions.Withdraw(context.Background(), r.asked); err != nil {
		slog.Error("Withdrawing the question about changed tools failed", "server", r.name, "question", r.asked, "err", err)
	}
	r.asked, r.about = "", ""
}

// changedTools returns the tools that the agent does not get before the person accepts them, and
// what identifies their present form.
func (r *review) changedTools() (list []remoteTool, id string) {
	accepted := r.m.accepted.of(r.name)
	tools, off := r.present()
	for _, t := range tools {
		if accepted[t.name].Hash != t.hash && !slices.Contains(off, t.name) {
			list = append(list, t)
			id += t.name + "\n" + t.hash + "\n"
		}
	}
	return list, id
}

// ask opens the question whether the agent may use tools, in the form that they have now. It
// reports whether that was possible: it fails on a full disk, and while too many questions of the
// server wait.
func (r *review) ask(ctx context.Context, changed []remoteTool) bool {
	accepted := r.m.accepted.of(r.name)
	subject := &protocol.ToolsSubject{Server: r.name}
	for _, t := range changed {
		subject.Tools = append(subject.Tools, t.describe(protocol.ServerSpec{}, accepted))
	}
	q, err := r.m.o.Questions.Open(ctx, protocol.Question{
		Kind: protocol.AskTools, AskedBy: protocol.AskedBy{Kind: protocol.AskedByServer, Name: string(r.name)}, Tools: subject,
	}, question.Terms{Limit: limitOf(r.name), Apply: func(ctx context.Context, who auth.Principal, q *protocol.Question, p protocol.QuestionAnswerParams) error {
		return r.answer(ctx, who, *q, changed, p)
	}})
	if err != nil {
		slog.Error("The question about changed tools could not be opened", "server", r.name, "err", err)
		return false
	}
	r.asked = q.ID
	return true
}

// answer accepts the tools that the person chose, or turns all of them off.
func (r *review) answer(ctx context.Context, who auth.Principal, q protocol.Question, changed []remoteTool, p protocol.QuestionAnswerParams) error {
	if p.Decision == protocol.DecisionDeny {
		return r.turnOff(ctx, who, q, changed)
	}
	for _, name := range p.Tools {
		if !slices.ContainsFunc(changed, func(t remoteTool) bool { return t.name == name }) {
			return protocol.ErrNotFound.With(fmt.Sprintf("the question is not about a tool %.60q of the server %s", name, r.name))
		}
	}
	if len(p.Tools) > 0 {
		changed = slices.DeleteFunc(slices.Clone(changed), func(t remoteTool) bool { return !slices.Contains(p.Tools, t.name) })
	}
	if err := r.m.audit(ctx, who, q, "accepted "+namesOf(changed)+" of", r.name); err != nil {
		return err
	}
	if err := r.m.accepted.add(ctx, r.name, changed); err != nil {
		return err
	}
	r.m.publish()
	r.wake.Send()
	return nil
}

// turnOff turns tools off, as the person can in the settings of the server.
func (r *review) turnOff(ctx context.Context, who auth.Principal, q protocol.Question, tools []remoteTool) error {
	_, off := r.present()
	off = slices.Clone(off)
	for _, t := range tools {
		if !slices.Contains(off, t.name) {
			off = append(off, t.name)
		}
	}
	raw, err := protocol.Marshal(off)
	if err != nil {
		return err
	}
	if err := r.m.audit(ctx, who, q, "turned off "+namesOf(tools)+" of", r.name); err != nil {
		return err
	}
	if err := r.m.o.Config.Set(ctx, settingOf(r.name)+".disabledTools", raw); err != nil {
		return err
	}
	r.m.Reload()
	return nil
}

// limitOf returns the limit of the questions of a server, and about it.
func limitOf(name protocol.ServerName) question.Limit {
	return question.Limit{Asker: "the server " + string(name)}
}

func namesOf(tools []remoteTool) string {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.name
	}
	return strings.Join(names, ", ")
}

// audit records the answer to a question of a server, or about it.
func (m *Manager) audit(ctx context.Context, who auth.Principal, q protocol.Question, did string, name protocol.ServerName) error {
	return m.o.Audit.Append(ctx, question.AuditLine(who, q, protocol.AuditServer, did+" the server "+string(name)))
}

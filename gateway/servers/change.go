package servers

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
	"fairlead/gateway/question"
)

// askAboutTools keeps one question open about the tools that have changed since the person accepted
// them, or that are new, as long as there are some that are on. It blocks until ctx ends.
func (s *server) askAboutTools(ctx context.Context) {
	var asked protocol.Question
	about := ""
	defer func() {
		if s.stopped.Err() != nil { // not at the end of the gateway
			s.withdraw(asked.ID)
		}
	}()
	for {
		changed, id := s.changedTools()
		if id != about {
			s.withdraw(asked.ID)
			asked, about = protocol.Question{}, id
			if len(changed) > 0 {
				asked = s.askAbout(ctx, changed)
			}
		}
		select {
		case <-s.review:
		case <-ctx.Done():
			return
		}
	}
}

func (s *server) withdraw(id protocol.QuestionID) {
	if id == "" {
		return
	}
	if err := s.m.o.Questions.Withdraw(context.Background(), id); err != nil {
		slog.Error("Withdrawing the question about changed tools failed", "server", s.name, "question", id, "err", err)
	}
}

// changedTools returns the tools that the agent does not get before the person accepts them, and
// what identifies their present form.
func (s *server) changedTools() (list []remoteTool, id string) {
	accepted := s.m.accepted.of(s.name)
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.tools {
		if accepted[t.name].Hash != t.hash && !slices.Contains(s.spec.DisabledTools, t.name) {
			list = append(list, t)
			id += t.name + "\n" + t.hash + "\n"
		}
	}
	return list, id
}

// askAbout opens the question whether the agent may use tools, in the form that they have now.
func (s *server) askAbout(ctx context.Context, changed []remoteTool) protocol.Question {
	accepted, spec := s.m.accepted.of(s.name), s.settings()
	subject := &protocol.ToolsSubject{Server: s.name}
	for _, t := range changed {
		subject.Tools = append(subject.Tools, t.describe(spec, accepted))
	}
	q, err := s.m.o.Questions.Open(ctx, protocol.Question{
		Kind: protocol.AskTools, AskedBy: protocol.AskedBy{Kind: protocol.AskedByServer, Name: string(s.name)}, Tools: subject,
	}, question.Terms{Apply: func(ctx context.Context, who auth.Principal, _ *protocol.Question, p protocol.QuestionAnswerParams) error {
		return s.answer(ctx, who, changed, p)
	}})
	if err != nil && ctx.Err() == nil {
		slog.Error("The question about changed tools could not be opened", "server", s.name, "err", err)
	}
	return q
}

// answer accepts the tools that the person chose, or turns all of them off.
func (s *server) answer(ctx context.Context, who auth.Principal, changed []remoteTool, p protocol.QuestionAnswerParams) error {
	switch p.Decision {
	case protocol.DecisionDismiss:
		return protocol.ErrBadRequest.With("changed tools are accepted or turned off; until then, the agent does not get them")
	case protocol.DecisionDeny:
		return s.turnOff(ctx, who, changed)
	}
	for _, name := range p.Tools {
		if !slices.ContainsFunc(changed, func(t remoteTool) bool { return t.name == name }) {
			return protocol.ErrNotFound.With(fmt.Sprintf("the question is not about a tool %.60q of the server %s", name, s.name))
		}
	}
	if len(p.Tools) > 0 {
		changed = slices.DeleteFunc(slices.Clone(changed), func(t remoteTool) bool { return !slices.Contains(p.Tools, t.name) })
	}
	if err := s.audit(ctx, who, "accepted "+namesOf(changed)+" of", "allowed"); err != nil {
		return err
	}
	if err := s.m.accepted.add(ctx, s.name, changed); err != nil {
		return err
	}
	s.m.publish()
	s.review.send()
	return nil
}

// turnOff turns tools off, as the person can in the settings of the server.
func (s *server) turnOff(ctx context.Context, who auth.Principal, tools []remoteTool) error {
	off := slices.Clone(s.settings().DisabledTools)
	for _, t := range tools {
		if !slices.Contains(off, t.name) {
			off = append(off, t.name)
		}
	}
	raw, err := protocol.Marshal(off)
	if err != nil {
		return err
	}
	if err := s.audit(ctx, who, "turned off "+namesOf(tools)+" of", "denied"); err != nil {
		return err
	}
	if err := s.m.o.Config.Set(ctx, settingOf(s.name)+".disabledTools", raw); err != nil {
		return err
	}
	s.m.Reload()
	return nil
}

func namesOf(tools []remoteTool) string {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.name
	}
	return strings.Join(names, ", ")
}

// audit records the answer to a question of the server, or about it.
func (s *server) audit(ctx context.Context, who auth.Principal, did, verdict string) error {
	return s.m.o.Audit.Append(ctx, protocol.AuditEntry{
		At: time.Now().UnixMilli(), Kind: protocol.AuditServer, By: who.String(), What: did + " the server " + string(s.name), Verdict: verdict,
	})
}

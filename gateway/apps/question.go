package apps

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/gateway/question"
)

// Limits of the questions whether an app may connect.
const (
	// questionTime is short: the person who connects an app has its browser page open.
	questionTime = 2 * time.Minute
	// maxQuestions bounds the questions that wait at the same time: anybody who reaches the gateway
	// can ask one.
	maxQuestions = 3
	// questionBurst is the number of questions at once, and questionEvery the time between further ones:
	// a person who refuses one must not get the next one at once, without end.
	questionBurst = 10
	questionEvery = time.Minute
)

// codeLetters are the letters of a code, without those that look like others.
const codeLetters = "ABCDEFGHKMNPRTWXY346789"

// Decision is the person's answer to the question whether an app may connect.
type Decision struct {
	Allowed bool
	App     protocol.App     // that was connected
	Scopes  []protocol.Scope // that this sign-in gets; the app may have more from others
}

// Ask asks the person whether an app may connect. The answer comes from decision, which is closed
// without one when nobody answers in time. The question is withdrawn when ctx ends.
func (a *Apps) Ask(ctx context.Context, c protocol.AppSubject) (asked protocol.Question, decision <-chan Decision, err error) {
	for _, s := range c.Scopes {
		if !slices.Contains(protocol.AppScopes, s) {
			return asked, nil, protocol.ErrBadRequest.With(fmt.Sprintf("unknown scope %q", s))
		}
	}
	c.Name = cmp.Or(format.Line(c.Name, maxName), "Unnamed app")
	if app, ok := a.access.signedIn(c.ClientID); ok {
		c.Connected, c.Nodes, c.Networks = true, app.Nodes, app.Networks
	}
	open, err := a.questions.Pending(ctx)
	if err != nil {
		return asked, nil, err
	}
	c.Code = newCode(open)
	decided := make(chan Decision, 1)
	var allowed Decision
	asked, err = a.questions.Open(ctx, protocol.Question{
		Kind: protocol.AskApp, AskedBy: protocol.AskedBy{Kind: protocol.AskedByApp, Name: c.Name}, App: &c,
	}, question.Terms{
		Expires: questionTime, Limit: question.Limit{Asker: "apps to connect", Open: maxQuestions, Burst: questionBurst, Every: questionEvery},
		Apply: func(ctx context.Context, who auth.Principal, q *protocol.Question, p protocol.QuestionAnswerParams) (err error) {
			allowed, err = a.decide(ctx, who, *q, p)
			return err
		},
		Ended: func(q protocol.Question) {
			if q.Allowed() || q.State == protocol.QuestionDenied {
				decided <- allowed
			}
			close(decided)
		},
	})
	if err != nil {
		return asked, nil, err
	}
	crash.WhenDone(ctx, func() {
		if err := a.questions.Withdraw(context.WithoutCancel(ctx), asked.ID); err != nil {
			slog.Error("Withdrawing the question of an app failed", "question", asked.ID, "err", err)
		}
	})
	return asked, decided, nil
}

// newCode returns a code that none of the open questions shows.
func newCode(open []protocol.Question) string {
	for {
		var b [4]byte
		rand.Read(b[:])
		for i := range b {
			b[i] = codeLetters[int(b[i])%len(codeLetters)]
		}
		code := string(b[:])
		if !slices.ContainsFunc(open, func(q protocol.Question) bool { return q.App != nil && q.App.Code == code }) {
			return code
		}
	}
}

// decide carries out an answer: it connects the app, or records that it was refused.
func (a *Apps) decide(ctx context.Context, who auth.Principal, q protocol.Question, p protocol.QuestionAnswerParams) (Decision, error) {
	c := *q.App
	if p.Decision != protocol.DecisionAllow {
		app := protocol.App{Name: c.Name, ID: protocol.AppID(c.ClientID)}
		return Decision{}, a.access.store.Apply(ctx, auditOnly(question.AuditLine(who, q, protocol.AuditApp, "refused "+nameOf(app))))
	}
	to := protocol.MachineLimit{Nodes: p.Nodes, Networks: p.Networks}
	if err := a.checkLimit(to, protocol.MachineLimit{Nodes: c.Nodes, Networks: c.Networks}); err != nil {
		return Decision{}, err
	}
	if len(p.Scopes) == 0 {
		p.Scopes = c.Scopes
	}
	for _, s := range p.Scopes {
		if !slices.Contains(c.Scopes, s) {
			return Decision{}, protocol.ErrBadRequest.With(fmt.Sprintf("the app did not ask for %q", s))
		}
	}
	app, err := a.grant(ctx, c, p.Scopes, to, func(app protocol.App) protocol.AuditEntry {
		return question.AuditLine(who, q, protocol.AuditApp, "connected "+nameOf(app))
	})
	return Decision{Allowed: err == nil, App: app, Scopes: distinct(p.Scopes)}, err
}

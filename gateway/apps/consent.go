package apps

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/display"
	"fairlead/gateway/protocol"
)

// Limits of consents.
const (
	// consentTime is short: the person who connects an app has its browser page open.
	consentTime = 2 * time.Minute
	// maxConsents bounds the questions that wait at the same time: anybody who reaches the gateway
	// can ask one.
	maxConsents = 3
	// consentBurst is the number of questions at once, and consentEvery the time between further ones:
	// a person who refuses one must not get the next one at once, without end.
	consentBurst = 10
	consentEvery = time.Minute
)

// codeLetters are the letters of a consent's code, without those that look like others.
const codeLetters = "ABCDEFGHKMNPRTWXY346789"

// Decision is the person's answer to a consent.
type Decision struct {
	Allowed bool
	App     protocol.App     // that was connected
	Scopes  []protocol.Scope // that this sign-in gets; the app may have more from others
}

// consents are the questions whether an app may connect. They are not stored: the browser that asks
// cannot go on after a restart either.
type consents struct {
	changed func()
	rate    *rate.Limiter

	mu     sync.Mutex // guards the fields below
	all    []*consent
	closed bool
}

type consent struct {
	protocol.Consent
	timer    *time.Timer
	decision chan Decision // capacity 1; closed after the answer or the end
	claimed  bool          // an answer is being stored
	late     bool          // its time ended meanwhile
	over     bool
}

// Ask asks the person whether an app may connect. The answer comes from decision, which is closed
// without one when nobody answers in time. The request is withdrawn when ctx ends.
func (a *Apps) Ask(ctx context.Context, c protocol.Consent) (asked protocol.Consent, decision <-chan Decision, err error) {
	for _, s := range c.Scopes {
		if !slices.Contains(protocol.AppScopes, s) {
			return c, nil, protocol.ErrBadRequest.With(fmt.Sprintf("unknown scope %q", s))
		}
	}
	c.Name = cmp.Or(display.Line(c.Name, maxName), "Unnamed app")
	if app, ok := a.signedIn(c.ClientID); ok {
		c.Connected, c.Nodes = true, app.Nodes
	}
	p := &a.pending
	p.mu.Lock()
	if p.closed || len(p.all) >= maxConsents || !p.rate.Allow() {
		p.mu.Unlock()
		return c, nil, protocol.ErrUnavailable.With("other apps wait for an answer, or many have asked: answer them, or try again in a few minutes")
	}
	now := time.Now()
	c.ID, c.CreatedAt, c.ExpiresAt = protocol.NewID(), now.UnixMilli(), now.Add(consentTime).UnixMilli()
	for c.Code == "" || slices.ContainsFunc(p.all, func(o *consent) bool { return o.Code == c.Code }) {
		c.Code = newCode()
	}
	q := &consent{Consent: c, decision: make(chan Decision, 1)}
	q.timer = crash.AfterFunc(consentTime, func() { p.end(q) })
	p.all = append(p.all, q)
	p.mu.Unlock()
	p.changed()
	crash.WhenDone(ctx, func() { p.end(q) })
	return c, q.decision, nil
}

func newCode() string {
	var b [4]byte
	rand.Read(b[:])
	for i := range b {
		b[i] = codeLetters[int(b[i])%len(codeLetters)]
	}
	return string(b[:])
}

func (p *consents) list() []protocol.Consent {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := []protocol.Consent{}
	for _, q := range p.all {
		list = append(list, q.Consent)
	}
	return list
}

// claim returns the consent with an ID, or without an ID the one with a code, for an answer that ends
// it with finish. It returns nil if neither is waiting.
func (p *consents) claim(id, code string) *consent {
	p.mu.Lock()
	defer p.mu.Unlock()
	i := slices.IndexFunc(p.all, func(q *consent) bool {
		return !q.claimed && (id != "" && q.ID == id || id == "" && code != "" && strings.EqualFold(q.Code, strings.TrimSpace(code)))
	})
	if i < 0 {
		return nil
	}
	p.all[i].claimed = true
	return p.all[i]
}

// finish ends a claimed consent with a decision; nil if its answer could not be stored: then it waits
// again, if there is time left.
func (p *consents) finish(q *consent, d *Decision) {
	p.mu.Lock()
	q.claimed = false
	if isOver := d != nil || q.late; isOver {
		p.removeLocked(slices.Index(p.all, q))
		if d != nil {
			q.decision <- *d
		}
		close(q.decision)
	}
	p.mu.Unlock()
	p.changed()
}

func (p *consents) removeLocked(i int) {
	q := p.all[i]
	p.all = slices.Delete(p.all, i, i+1)
	q.over = true
	q.timer.Stop()
}

// end ends a consent without an answer.
func (p *consents) end(q *consent) {
	p.mu.Lock()
	q.late = true
	over := q.over || q.claimed
	if !over {
		p.removeLocked(slices.Index(p.all, q))
		close(q.decision)
	}
	p.mu.Unlock()
	if !over {
		p.changed()
	}
}

func (p *consents) close() {
	p.mu.Lock()
	p.closed = true
	all := slices.Clone(p.all)
	p.mu.Unlock()
	for _, q := range all {
		p.end(q)
	}
}

// Answer answers a consent. The first answer counts.
func (a *Apps) Answer(ctx context.Context, by string, in protocol.ConsentAnswerParams) (protocol.OK, error) {
	if in.ID == "" && strings.TrimSpace(in.Code) == "" {
		return protocol.OK{}, protocol.ErrBadRequest.With("id or code required")
	}
	scopes := in.Scopes
	for _, c := range a.pending.list() {
		if in.Allow && (in.ID == c.ID || in.ID == "" && strings.EqualFold(strings.TrimSpace(in.Code), c.Code)) {
			if err := a.o.checkMachines(in.Nodes, c.Nodes); err != nil {
				return protocol.OK{}, err
			}
			if len(scopes) == 0 {
				scopes = c.Scopes
			}
			for _, s := range scopes {
				if !slices.Contains(c.Scopes, s) {
					return protocol.OK{}, protocol.ErrBadRequest.With(fmt.Sprintf("the app did not ask for %q", s))
				}
			}
		}
	}
	q := a.pending.claim(in.ID, in.Code)
	if q == nil {
		return protocol.OK{}, protocol.ErrNotFound.With("no app waits for this answer: it was answered already, or took too long. Connect the app again")
	}
	var decision *Decision
	defer func() { a.pending.finish(q, decision) }()
	if !in.Allow {
		app := protocol.App{Name: q.Name, ID: protocol.AppID(q.ClientID)}
		if err := a.o.Store.Apply(ctx, auditOnly(audit(by, "refused", "denied", app))); err != nil {
			return protocol.OK{}, err
		}
		decision = &Decision{}
		return protocol.OK{OK: true}, nil
	}
	app, err := a.grant(ctx, by, q.Consent, scopes, in.Nodes)
	if err != nil {
		return protocol.OK{}, err
	}
	decision = &Decision{Allowed: true, App: app, Scopes: distinct(scopes)}
	return protocol.OK{OK: true}, nil
}

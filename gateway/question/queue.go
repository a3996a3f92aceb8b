// Package question holds everything that waits for the person: a call, a device that wants to pair,
// a machine that offers more, an app that wants to connect, input for an MCP server, changed tools
// of one, an unknown sender on a channel, somebody who wants to visit a published app. A kind of
// question has one file for its answers here, or passes [Terms.Apply].
//
// A question is a database row. It stays pending until exactly one thing closes it: an answer (the
// first one wins, from whichever window), its expiry, or the end of whoever asked. The question of
// a run survives a restart: its run asks again under the same ID. What a question shows is hashed,
// and an answer must carry that hash. See docs/protocol.md#questions.
//
// An unattended run (of a schedule, or of a stranger on a channel) waits for one question only.
// After one of its questions has expired, its later ones expire immediately.
package question

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/event"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
	"fairlead/gateway/tool"
)

// Store saves questions. Change changes a pending question in one transaction.
type Store interface {
	Put(ctx context.Context, q protocol.Question, grants []store.Grant, replies ...store.Outbound) error
	Change(ctx context.Context, id protocol.QuestionID, change func(*protocol.Question) bool, rules ...store.RuleChange) (q protocol.Question, changed bool, err error)
	Get(ctx context.Context, id protocol.QuestionID) (protocol.Question, error)
	Pending(ctx context.Context) ([]protocol.Question, error)
	Unanswered(ctx context.Context, run protocol.RunID) (bool, error)
}

// Rules saves what the answers to calls allow beyond the call.
type Rules interface {
	// SaveOffers passes the rules that an answer chose to put, which stores them together with the
	// answer, or with a permission for its chat, and reports whether it did.
	SaveOffers(by string, q protocol.Question, put func(store.RuleChange) (bool, error)) error
}

// Queue holds the questions. It is safe for concurrent use.
type Queue struct {
	Display *Display

	store Store
	rules Rules

	open    openQuestions
	showing crash.Group // the attempts to show questions
}

// Apply carries out an answer before it is stored: it pairs the device, or connects the app, and
// stores the [AuditLine] of the answer with that, unless the queue does (answerLine). It may complete
// the question's subject. After an error the question stays pending.
type Apply func(ctx context.Context, who auth.Principal, q *protocol.Question, p protocol.QuestionAnswerParams) error

// Terms are the conditions of a question. All fields may be empty.
type Terms struct {
	Expires time.Duration // after this time; 0: never
	Limit   Limit
	Grants  []store.Grant // what an allow for the chat of a call saves
	Apply   Apply         // of every kind except calls
	// Replies are messages to whoever asks on a channel, stored together with the question.
	Replies []store.Outbound
	// Store stores the call that asks the question. It is called before the question is stored, and
	// only for one within the limits.
	Store func() error
	// Opened is called once the question is stored and published, not if it was answered before or
	// expires at once; see expireUnattended.
	Opened func()
	// Ended is called once when the question is closed in any way.
	Ended func(protocol.Question)
}

// New returns a queue. An answer saves the rules that it chose in rules.
func New(s Store, rules Rules, bus *event.Bus) *Queue {
	display := &Display{store: s, bus: bus, snoozed: make(map[protocol.QuestionID]*time.Timer)}
	return &Queue{Display: display, store: s, rules: rules, open: openQuestions{byID: make(map[protocol.QuestionID]*openQuestion), rates: make(rates)}}
}

// Ask is [Queue.AskFor] for a run that asks whether to continue.
func (s *Queue) Ask(ctx context.Context, q protocol.Question, limit time.Duration, onOpen func()) (protocol.Question, error) {
	return s.AskFor(ctx, q, Terms{Expires: limit, Opened: onOpen})
}

// AskCall is [Queue.AskFor] for a call.
func (s *Queue) AskCall(ctx context.Context, q protocol.Question, c tool.Asking) (protocol.Question, error) {
	t := Terms{Expires: c.Expires, Store: c.Store, Opened: c.Opened}
	if c.App != "" {
		t.Limit.Asker = "the app " + string(c.App)
	}
	for _, g := range c.Grants {
		t.Grants = append(t.Grants, store.Grant{ID: protocol.NewID(), Session: g.Session, Node: q.Node, Tool: g.Tool, Match: g.Match, Words: g.Words, From: q.ID})
	}
	return s.AskFor(ctx, q, t)
}

// AskFor asks a question and waits until it is closed in any way; see the result's State. A preset
// ID resumes a question of an earlier start: its time starts anew, and if it has been answered
// meanwhile, AskFor returns that answer at once. When ctx ends, the question is cancelled, unless
// the cause is [tool.ErrSuspended]; then it stays pending and the error is ctx's cause.
func (s *Queue) AskFor(ctx context.Context, q protocol.Question, t Terms) (protocol.Question, error) {
	q, a, err := s.begin(ctx, q, t)
	if err != nil || q.State != protocol.QuestionPending {
		return q, err
	}
	defer s.remove(q.ID)
	select {
	case end := <-a.answers:
		return end, nil
	case <-ctx.Done():
		cause := context.Cause(ctx)
		if errors.Is(cause, tool.ErrSuspended) {
			return q, cause
		}
		by := "its run"
		if !q.IsOfCall() {
			by = "whoever asked"
		}
		return s.end(context.WithoutCancel(ctx), q, protocol.QuestionCancelled, by)
	}
}

// Open asks a question without waiting for its answer; see [Terms.Ended].
func (s *Queue) Open(ctx context.Context, q protocol.Question, t Terms) (protocol.Question, error) {
	q, _, err := s.begin(ctx, q, t)
	return q, err
}

// begin opens a question. The result is closed if an earlier start's question with its ID was
// answered, or if it expires at once.
func (s *Queue) begin(ctx context.Context, q protocol.Question, t Terms) (protocol.Question, *openQuestion, error) {
	q, a, err := s.add(ctx, q, t)
	if err != nil || q.State != protocol.QuestionPending {
		return q, nil, err
	}
	if t.Expires > 0 {
		s.open.expireAfter(q.ID, a, t.Expires, func() { s.expire(q, a) })
	}
	if t.Opened != nil {
		t.Opened()
	}
	return q, a, nil
}

// expire closes a question whose time has passed. If that cannot be stored, it tries again.
func (s *Queue) expire(q protocol.Question, a *openQuestion) {
	_, err := s.end(context.Background(), q, protocol.QuestionExpired, answeredByNobody)
	if err == nil {
		return
	}
	slog.Error("Closing an expired question failed", "question", q.ID, "err", err)
	s.open.expireAfter(q.ID, a, retryAfter, func() { s.expire(q, a) })
}

// add stores and publishes a question. The result is closed if an earlier start's question with its
// ID was answered, or if it expires at once.
func (s *Queue) add(ctx context.Context, q protocol.Question, t Terms) (protocol.Question, *openQuestion, error) {
	now := time.Now()
	q.ID = cmp.Or(q.ID, protocol.QuestionID(protocol.NewID()))
	q.State = protocol.QuestionPending
	q.CreatedAt = cmp.Or(q.CreatedAt, now.UnixMilli())
	if t.Expires > 0 {
		q.ExpiresAt = now.Add(t.Expires).UnixMilli()
	}
	var err error
	if q.Hash, err = hashOf(q); err != nil {
		return q, nil, err
	}
	a, watch := newOpenQuestion(ctx, t)
	if err := s.open.add(q.ID, a, now); err != nil { // before the row is read: from here on an answer reaches us
		a.seen()
		return q, nil, err
	}
	if q, err = s.save(ctx, q, t); err != nil || q.State != protocol.QuestionPending {
		s.remove(q.ID)
		return q, nil, err
	}
	if q.Later > 0 {
		s.Display.scheduleEnd(q.ID, q.Later)
	}
	s.Display.publish(q)
	s.showing.Go(func() { s.Display.escalate(watch, q.ID) })
	return q, a, nil
}

// save stores a new question, or the one of an earlier start again. One that is closed already is
// returned as it is.
func (s *Queue) save(ctx context.Context, q protocol.Question, t Terms) (protocol.Question, error) {
	if t.Store != nil {
		if err := t.Store(); err != nil {
			return q, err
		}
	}
	old, err := s.store.Get(ctx, q.ID)
	switch {
	case err != nil:
		if gone, err := s.expireUnattended(ctx, &q); gone || err != nil {
			return q, err
		}
	case old.State != protocol.QuestionPending:
		return old, nil
	case old.Later > time.Now().UnixMilli():
		q.Later = old.Later // a restart does not shorten a snooze
	}
	return q, s.store.Put(ctx, q, t.Grants, t.Replies...)
}

// remove forgets a question of this start, which stays as it is in the store.
func (s *Queue) remove(id protocol.QuestionID) {
	s.open.remove(id)
	s.Display.forget(id)
}

// Get returns a question, also a closed one, or protocol.ErrNotFound.
func (s *Queue) Get(ctx context.Context, id protocol.QuestionID) (protocol.Question, error) {
	return s.store.Get(ctx, id)
}

// Pending returns the pending questions in the order in which the person should answer them, see
// [protocol.Question.Before].
func (s *Queue) Pending(ctx context.Context) ([]protocol.Question, error) {
	list, err := s.store.Pending(ctx)
	protocol.SortQuestions(list)
	return list, err
}

// Close stops the timers of the open questions. Nobody may wait in AskFor any longer.
func (s *Queue) Close() {
	s.open.close()
	s.Display.close()
	s.showing.Wait()
}

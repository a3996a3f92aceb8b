package approval

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
)

// Store keeps questions and grants. *store.Store is one.
type Store interface {
	PutApproval(context.Context, protocol.Approval) error
	CloseApproval(context.Context, protocol.Approval) (won bool, err error)
	Approval(context.Context, protocol.ApprovalID) (protocol.Approval, error)
	PendingApprovals(context.Context) ([]protocol.Approval, error)
	PutGrant(context.Context, store.Grant) error
	Grants(context.Context, protocol.SessionKey) ([]store.Grant, error)
}

// Publisher announces changes. *event.Bus is one.
type Publisher interface{ Publish(protocol.Change) }

// Gate asks questions and takes answers. It is safe for use by many goroutines.
type Gate struct {
	store   Store
	bus     Publisher
	timeout func() time.Duration

	mu      sync.Mutex // guards waiters
	waiters map[protocol.ApprovalID]chan protocol.Approval
}

// New makes a gate. timeout says how long a question that is asked now may stay unanswered; 0 is for ever.
func New(store Store, bus Publisher, timeout func() time.Duration) *Gate {
	return &Gate{store: store, bus: bus, timeout: timeout, waiters: make(map[protocol.ApprovalID]chan protocol.Approval)}
}

// Ask puts a to the person and blocks until it has ended; the result's State says how. Missing ID, Kind, Choices, Hash and times are filled in.
// An ID that is known already is the same question again, after a restart: the stored row holds, with a new limit of time, and an
// answer that came meanwhile is returned at once.
//
// When ctx ends the question is closed as cancelled, or stays open when the gateway stops, and the context's cause is returned.
func (g *Gate) Ask(ctx context.Context, a protocol.Approval) (protocol.Approval, error) {
	a, over, err := g.open(ctx, a)
	if err != nil || over {
		return a, err
	}
	ch := make(chan protocol.Approval, 1)
	g.mu.Lock()
	g.waiters[a.ID] = ch
	g.mu.Unlock()
	defer func() {
		g.mu.Lock()
		delete(g.waiters, a.ID)
		g.mu.Unlock()
	}()
	if err := g.store.PutApproval(ctx, a); err != nil {
		return a, fmt.Errorf("ask: %w", err)
	}
	g.publish(a)

	var expiry <-chan time.Time
	if a.ExpiresAt > 0 {
		t := time.NewTimer(time.Until(time.UnixMilli(a.ExpiresAt)))
		defer t.Stop()
		expiry = t.C
	}
	select {
	case a = <-ch:
		return a, nil
	case <-expiry:
		return g.end(context.WithoutCancel(ctx), a, protocol.ApprovalExpired)
	case <-ctx.Done():
	}
	cause := context.Cause(ctx)
	if errors.Is(cause, protocol.ErrUnavailable) {
		return a, cause
	}
	a, err = g.end(context.WithoutCancel(ctx), a, protocol.ApprovalCancelled)
	if err != nil {
		slog.Warn("Question stays open although nobody waits for it", "approval", a.ID, "err", err)
	}
	return a, cause
}

// open fills in a new question, or finds the stored one. over reports that it had an end already.
func (g *Gate) open(ctx context.Context, a protocol.Approval) (_ protocol.Approval, over bool, err error) {
	now := time.Now()
	if a.ID != "" {
		old, err := g.store.Approval(ctx, a.ID)
		switch {
		case err == nil && old.State != protocol.ApprovalPending:
			return old, true, nil
		case err == nil:
			a = old
			a.ExpiresAt = 0
		case !errors.Is(err, protocol.ErrNotFound):
			return a, false, fmt.Errorf("ask: %w", err)
		}
	} else {
		a.ID = protocol.ApprovalID(protocol.NewID())
	}
	if a.Kind == "" {
		a.Kind = protocol.AskCall
	}
	a.State = protocol.ApprovalPending
	if a.CreatedAt == 0 {
		a.CreatedAt = now.UnixMilli()
	}
	if d := g.timeout(); a.ExpiresAt == 0 && d > 0 {
		a.ExpiresAt = now.Add(d).UnixMilli()
	}
	if len(a.Choices) == 0 {
		a.Choices = []string{protocol.ScopeOnce}
	}
	if a.Hash == "" {
		a.Hash = Hash(a)
	}
	return a, false, nil
}

// Answer decides a question on behalf of by. Only the first answer counts: a later one gets Won false and how the question had
// ended. An answer that does not carry the question's hash is refused with protocol.ErrConflict.
func (g *Gate) Answer(ctx context.Context, by string, p protocol.ApprovalAnswerParams) (protocol.ApprovalAnswerResult, error) {
	a, err := g.store.Approval(ctx, p.ID)
	if err != nil {
		return protocol.ApprovalAnswerResult{}, err
	}
	if p.Hash == "" {
		return protocol.ApprovalAnswerResult{}, protocol.ErrBadRequest.With("an answer must carry the hash of the question it is about")
	}
	if p.Hash != a.Hash {
		return protocol.ApprovalAnswerResult{}, protocol.ErrConflict.With("the answer is about something else than what is asked now: look at the question again")
	}
	if a.State != protocol.ApprovalPending {
		return protocol.ApprovalAnswerResult{Approval: a}, nil
	}
	a.AnsweredAt, a.AnsweredBy, a.Reason = time.Now().UnixMilli(), by, p.Reason
	switch p.Decision {
	case protocol.DecisionDeny:
		a.State = protocol.ApprovalDenied
	case protocol.DecisionAllow:
		a.State, a.Scope = protocol.ApprovalAllowed, p.Scope
		if a.Scope == "" {
			a.Scope = protocol.ScopeOnce
		}
		if !slices.Contains(a.Choices, a.Scope) {
			return protocol.ApprovalAnswerResult{}, protocol.ErrBadRequest.With(fmt.Sprintf("this question cannot be allowed for %q, only for %q", a.Scope, a.Choices))
		}
	default:
		return protocol.ApprovalAnswerResult{}, protocol.ErrBadRequest.With(fmt.Sprintf("the decision must be %q or %q, not %q", protocol.DecisionAllow, protocol.DecisionDeny, p.Decision))
	}
	won, a, err := g.resolve(ctx, a)
	return protocol.ApprovalAnswerResult{Won: won, Approval: a}, err
}

// resolve is the one way a question ends. The store decides who was first; only the winner leaves a grant and wakes the waiter.
// The result is how the question ended, whoever ended it.
func (g *Gate) resolve(ctx context.Context, a protocol.Approval) (won bool, _ protocol.Approval, err error) {
	won, err = g.store.CloseApproval(ctx, a)
	if err != nil {
		return false, a, err
	}
	if !won {
		a, err = g.store.Approval(ctx, a.ID)
		return false, a, err
	}
	if a.State == protocol.ApprovalAllowed && a.Scope == protocol.ScopeSession {
		err := g.store.PutGrant(ctx, store.Grant{ID: protocol.NewID(), Session: a.SessionKey, Node: a.Node, Tool: a.Tool, Match: Match(a),
			Words: a.SessionRule, CreatedAt: a.AnsweredAt, From: a.ID})
		if err != nil {
			// The answer itself is stored and holds for this call; the next one is simply asked again.
			slog.Warn("Grant not stored", "approval", a.ID, "err", err)
		}
	}
	g.mu.Lock()
	ch := g.waiters[a.ID]
	delete(g.waiters, a.ID)
	g.mu.Unlock()
	if ch != nil {
		ch <- a // has room: there is one winner
	}
	g.publish(a)
	return true, a, nil
}

// end closes a question that nobody answered, or returns the answer that was quicker.
func (g *Gate) end(ctx context.Context, a protocol.Approval, state string) (protocol.Approval, error) {
	a.State, a.AnsweredAt = state, time.Now().UnixMilli()
	_, a, err := g.resolve(ctx, a)
	return a, err
}

// Cancel closes a pending question that has no run any more. Closing one that has ended does nothing.
func (g *Gate) Cancel(ctx context.Context, id protocol.ApprovalID) error {
	a, err := g.store.Approval(ctx, id)
	if err != nil || a.State != protocol.ApprovalPending {
		return err
	}
	_, err = g.end(ctx, a, protocol.ApprovalCancelled)
	return err
}

// Shown records that some window shows the question.
func (g *Gate) Shown(ctx context.Context, id protocol.ApprovalID) error {
	a, err := g.store.Approval(ctx, id)
	if err != nil || a.Shown || a.State != protocol.ApprovalPending {
		return err
	}
	a.Shown = true
	if err := g.store.PutApproval(ctx, a); err != nil {
		return err
	}
	// It may have been answered in between; then the answer was published and this must not undo it.
	if a, err = g.store.Approval(ctx, id); err != nil || a.State != protocol.ApprovalPending {
		return err
	}
	g.publish(a)
	return nil
}

// Pending returns the open questions, oldest first.
func (g *Gate) Pending(ctx context.Context) ([]protocol.Approval, error) {
	return g.store.PendingApprovals(ctx)
}

// Granted reports whether the person allowed what a asks for the rest of its session.
func (g *Gate) Granted(ctx context.Context, a protocol.Approval) (bool, error) {
	if a.SessionKey == "" {
		return false, nil
	}
	list, err := g.store.Grants(ctx, a.SessionKey)
	if err != nil {
		return false, err
	}
	match := Match(a)
	return slices.ContainsFunc(list, func(s store.Grant) bool {
		return s.Node == a.Node && s.Tool == a.Tool && s.Match == match
	}), nil
}

func (g *Gate) publish(a protocol.Approval) {
	g.bus.Publish(protocol.Change{Kind: protocol.ChangeApproval, SessionKey: a.SessionKey, Approval: &a})
}

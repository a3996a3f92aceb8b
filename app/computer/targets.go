package computer

import (
	"context"
	"time"

	"fairlead/app/feed"
)

// TargetQuestion asks whether a gateway may reach an address from this computer.
type TargetQuestion struct {
	Target  string // host:port
	Gateway string // name of the remote gateway; empty for the one of this computer
	Until   time.Time
	answer  chan bool
}

// Answer answers the question; further answers are ignored.
func (q *TargetQuestion) Answer(allow bool) {
	select {
	case q.answer <- allow:
	default:
	}
}

// Targets asks the person about addresses, one after the other. Only this computer answers: the
// gateway may be another person's. It is safe for concurrent use.
type Targets struct {
	// Question is the one that is asked now; nil for none.
	Question *feed.Value[*TargetQuestion]

	asking chan struct{} // held by the question that is asked
}

func newTargets() *Targets {
	return &Targets{Question: feed.NewValue[*TargetQuestion](nil), asking: make(chan struct{}, 1)}
}

// For returns the function that asks for the node of a gateway. It fails with the cause of its
// context if nobody answers in time.
func (t *Targets) For(gateway string) func(ctx context.Context, target string) (bool, error) {
	return func(ctx context.Context, target string) (bool, error) {
		select {
		case t.asking <- struct{}{}:
			defer func() { <-t.asking }()
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
		q := &TargetQuestion{Target: target, Gateway: gateway, answer: make(chan bool, 1)}
		q.Until, _ = ctx.Deadline()
		t.Question.Update(func(now **TargetQuestion) { *now = q })
		defer t.Question.Update(func(now **TargetQuestion) { *now = nil })
		select {
		case allow := <-q.answer:
			return allow, nil
		case <-ctx.Done():
			return false, context.Cause(ctx)
		}
	}
}

package question

import (
	"context"
	"sync"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
)

// openQuestions are the questions of this start that are not closed, and the paces of who asks. It is
// safe for concurrent use.
type openQuestions struct {
	mu    sync.Mutex // guards the fields below, and the timers of the questions
	byID  map[protocol.QuestionID]*openQuestion
	rates rates
}

// openQuestion is a question of this start that is not closed.
type openQuestion struct {
	Terms
	answers chan protocol.Question // capacity 1
	expiry  *time.Timer            // nil: never; guarded by the lock of openQuestions
	seen    func()                 // ends the attempts to show it

	// closing has room for the one who answers or closes the question, including what the answer
	// does and the write to the store: a second answer learns which was first.
	closing chan struct{}
}

// newOpenQuestion returns an open question, and a context that ends when it is closed.
func newOpenQuestion(ctx context.Context, t Terms) (*openQuestion, context.Context) {
	ctx, seen := context.WithCancel(context.WithoutCancel(ctx))
	return &openQuestion{Terms: t, answers: make(chan protocol.Question, 1), closing: make(chan struct{}, 1), seen: seen}, ctx
}

// stop ends the timer of a question and the attempts to show it. The caller holds the lock of
// openQuestions.
func (a *openQuestion) stop() {
	a.seen()
	if a.expiry != nil {
		a.expiry.Stop()
	}
}

// add adds a question, unless its asker is over the limit.
func (o *openQuestions) add(id protocol.QuestionID, a *openQuestion, now time.Time) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	waiting := 0
	for _, other := range o.byID {
		if other.Limit.Asker == a.Limit.Asker {
			waiting++
		}
	}
	if err := a.Limit.check(waiting, o.rates, now); err != nil {
		return err
	}
	o.byID[id] = a
	return nil
}

// expireAfter calls expire after a time, unless the question is closed before.
func (o *openQuestions) expireAfter(id protocol.QuestionID, a *openQuestion, after time.Duration, expire func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.byID[id] == a {
		a.expiry = crash.AfterFunc(after, expire)
	}
}

// find returns an open question, or nil.
func (o *openQuestions) find(id protocol.QuestionID) *openQuestion {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.byID[id]
}

// lock waits for an answer that is being carried out, and delays others until unlock.
func (o *openQuestions) lock(id protocol.QuestionID) (unlock func()) {
	a := o.find(id)
	if a == nil {
		return func() {}
	}
	a.closing <- struct{}{}
	return func() { <-a.closing }
}

// remove forgets a question.
func (o *openQuestions) remove(id protocol.QuestionID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if a := o.byID[id]; a != nil {
		a.stop()
	}
	delete(o.byID, id)
}

// close stops the timers of all questions, and forgets them.
func (o *openQuestions) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, a := range o.byID {
		a.stop()
	}
	clear(o.byID)
}

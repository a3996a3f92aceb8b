package question

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
	"fairlead/gateway/question/questiontest"
	"fairlead/gateway/store"
	"fairlead/gateway/tool"
)

// kinds has a question of every kind.
var kinds = map[string]protocol.Question{
	protocol.AskCall: {Tool: "Bash", Args: json.RawMessage(`{"command":"ls"}`), Choices: []string{protocol.ScopeOnce}},
	protocol.AskType: {
		Tool: "Process", Args: json.RawMessage(`{"text":"y"}`), Choices: []string{protocol.ScopeOnce},
		Preview: &protocol.CallPreview{Input: &protocol.CommandInput{Command: "ssh box"}},
	},
	protocol.AskKeep:     {Tool: protocol.KeepTool, Args: json.RawMessage(`{"id":"k"}`), Choices: []string{protocol.ScopeOnce}},
	protocol.AskContinue: {RunID: "run", Why: "it made 50 steps", Choices: []string{protocol.ScopeOnce}},
	protocol.AskPair:     {Pairing: &protocol.PairingSubject{Device: protocol.Device{Name: "phone"}}},
	protocol.AskWiden:    {Pairing: &protocol.PairingSubject{Device: protocol.Device{Name: "box"}, Wider: []string{"commands"}}},
	protocol.AskApp:      {App: &protocol.AppSubject{Name: "Editor", Code: "ABCD"}},
	protocol.AskInput:    {Input: &protocol.InputSubject{Server: "files", Message: "Which size?"}},
	protocol.AskTools:    {Tools: &protocol.ToolsSubject{Server: "files", Tools: []protocol.ServerTool{{Name: "echo"}}}},
	protocol.AskSender:   {Sender: &protocol.SenderSubject{PendingPair: protocol.PendingPair{Channel: "xmpp", SenderID: "ann@town.test"}}},
	protocol.AskVisit:    {Visit: &protocol.VisitSubject{Service: "svc_1", Title: "Wiki", Email: "ann@town.test"}},
}

// waitingQuestion is a question of a kind that was asked, and how it ended.
type waitingQuestion struct {
	*Queue
	q     protocol.Question
	ended chan protocol.Question // by the asker
	gone  context.CancelCauseFunc
}

// start asks a question that expires after ten minutes, on behalf of an asker.
func start(t *testing.T, s *Queue, q protocol.Question) waitingQuestion {
	t.Helper()
	ctx, gone := context.WithCancelCause(t.Context())
	a := waitingQuestion{Queue: s, ended: make(chan protocol.Question, 1), gone: gone}
	opened := make(chan struct{})
	go func() {
		end, err := s.AskFor(ctx, q, Terms{
			Expires: 10 * time.Minute, Opened: func() { close(opened) },
			Apply: func(context.Context, auth.Principal, *protocol.Question, protocol.QuestionAnswerParams) error {
				return nil
			},
		})
		if err != nil && !errors.Is(err, tool.ErrSuspended) {
			t.Errorf("got %v; want no error or error ErrSuspended", err)
		}
		a.ended <- end
	}()
	<-opened
	list, err := s.Pending(t.Context())
	if err != nil || len(list) != 1 {
		t.Fatalf("pending: got %d questions, %v, want one", len(list), err)
	}
	a.q = list[0]
	return a
}

func (a waitingQuestion) answer(t *testing.T, name, decision string) protocol.QuestionAnswerResult {
	t.Helper()
	r, err := a.Answer(t.Context(), auth.Owner(name), protocol.QuestionAnswerParams{ID: a.q.ID, Hash: a.q.Hash, Decision: decision})
	if err != nil {
		t.Error(err)
	}
	return r
}

// TestEveryKindIsOneQuestion compares what happens to a question of each kind: all are the same.
func TestEveryKindIsOneQuestion(t *testing.T) {
	for kind, q := range kinds {
		q.Kind = kind
		for name, end := range map[string]func(*testing.T, waitingQuestion) (state, by string){
			"two answers": func(t *testing.T, a waitingQuestion) (string, string) {
				first, second := a.answer(t, "first", protocol.DecisionAllow), a.answer(t, "second", protocol.DecisionDeny)
				if !first.Won || second.Won || second.Question.AnsweredBy != "owner first" {
					t.Errorf("got %+v and %+v, want the first to win and the second to learn that", first, second)
				}
				return protocol.QuestionAllowed, "owner first"
			},
			"expiry":  func(*testing.T, waitingQuestion) (string, string) { return protocol.QuestionExpired, "nobody" },
			"no hash": noHash,
			"snooze": func(t *testing.T, a waitingQuestion) (string, string) {
				if err := a.Display.Snooze(t.Context(), protocol.QuestionSnoozeParams{IDs: []protocol.QuestionID{a.q.ID}, For: 60_000}); err != nil {
					t.Error(err)
				}
				return protocol.QuestionExpired, "nobody" // at its time
			},
			"dismissed": func(t *testing.T, a waitingQuestion) (string, string) {
				p := protocol.QuestionAnswerParams{ID: a.q.ID, Hash: a.q.Hash, Decision: protocol.DecisionDismiss}
				r, err := a.Answer(t.Context(), auth.Owner("w"), p)
				if isInput := a.q.Kind == protocol.AskInput; r.Won != isInput || errors.Is(err, protocol.ErrBadRequest) == isInput {
					t.Errorf("got %+v, %v, want that only an input can be dismissed", r, err)
				}
				if r.Won {
					return protocol.QuestionCancelled, "owner w"
				}
				return protocol.QuestionExpired, "nobody" // it stays open until its time
			},
			"the asker goes": func(_ *testing.T, a waitingQuestion) (string, string) {
				a.gone(errors.New("stopped"))
				by := "whoever asked"
				if a.q.IsOfCall() {
					by = "its run"
				}
				return protocol.QuestionCancelled, by
			},
			"withdrawn": func(t *testing.T, a waitingQuestion) (string, string) {
				if err := a.Withdraw(t.Context(), a.q.ID); err != nil {
					t.Error(err)
				}
				by := "whoever asked"
				if a.q.IsOfCall() {
					by = "its call"
				}
				return protocol.QuestionCancelled, by
			},
		} {
			t.Run(kind+"/"+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newQueue(t)
					sub := s.Display.bus.Subscribe()
					defer sub.Close()
					a := start(t, s, q)
					defer a.gone(nil)
					state, by := end(t, a)
					if got := <-a.ended; got.State != state || got.AnsweredBy != by {
						t.Errorf("the asker gets %s by %s, want %s by %s", got.State, got.AnsweredBy, state, by)
					}
					if got := lastPublished(t, sub); got.ID != a.q.ID || got.State != state {
						t.Errorf("the feed ends with %s, want %s", got.State, state)
					}
					if list, err := s.Pending(t.Context()); err != nil || len(list) != 0 {
						t.Errorf("pending: got %d, %v, want none", len(list), err)
					}
				})
			})
		}
	}
}

// noHash answers without having seen the question, which has no effect, and then denies it.
func noHash(t *testing.T, a waitingQuestion) (state, by string) {
	_, err := a.Answer(t.Context(), auth.Owner("blind"), protocol.QuestionAnswerParams{ID: a.q.ID, Decision: protocol.DecisionAllow})
	if !errors.Is(err, protocol.ErrConflict) {
		t.Errorf("an answer without the hash: got %v, want %v", err, protocol.ErrConflict)
	}
	a.answer(t, "w", protocol.DecisionDeny)
	return protocol.QuestionDenied, "owner w"
}

// lastPublished returns the last state of the question that was published.
func lastPublished(t *testing.T, sub *event.Subscription) protocol.Question {
	t.Helper()
	for {
		c, err := sub.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if c.Kind == protocol.ChangeQuestion && c.Question.State != protocol.QuestionPending {
			return *c.Question
		}
	}
}

// TestEveryKindSurvivesARestart stops the gateway while questions of all kinds are open. They stay
// in the store; those whose asker does not come back are cancelled, in every kind alike.
func TestEveryKindSurvivesARestart(t *testing.T) {
	for kind, q := range kinds {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q.Kind = kind
				rows := questiontest.NewStore()
				a := start(t, newQueueOn(t, rows), q)
				a.gone(tool.ErrSuspended)
				<-a.ended
				a.Close()

				s := newQueueOn(t, rows)
				again := start(t, s, a.q) // with the same ID
				if again.q.ID != a.q.ID || again.q.Hash != a.q.Hash {
					t.Errorf("after the restart: got %s %s, want %s %s", again.q.ID, again.q.Hash, a.q.ID, a.q.Hash)
				}
				if r := again.answer(t, "w", protocol.DecisionAllow); !r.Won || (<-again.ended).State != protocol.QuestionAllowed {
					t.Errorf("got %+v, want the answer to reach the asker", r)
				}

				orphan := a.q
				orphan.ID = "orphan"
				if err := rows.Put(t.Context(), orphan, nil); err != nil {
					t.Fatal(err)
				}
				if err := s.CancelOrphans(t.Context(), time.Now().Add(time.Minute), func(protocol.RunID) bool { return false }); err != nil {
					t.Fatal(err)
				}
				want, by := protocol.QuestionCancelled, "a restart"
				if orphan.Kind == protocol.AskSender || orphan.Kind == protocol.AskVisit || orphan.Tool == protocol.KeepTool { // who asks returns
					want, by = protocol.QuestionPending, ""
				}
				if got, err := s.Get(t.Context(), "orphan"); err != nil || got.State != want || got.AnsweredBy != by {
					t.Errorf("an orphan: got %s by %s, %v, want %s by %s", got.State, got.AnsweredBy, err, want, by)
				}
			})
		})
	}
}

// TestEveryKindIsShownElsewhere asks without waiting, as for an app that wants to connect, and
// waits, as for a call: windows learn of both that nobody has seen them.
func TestEveryKindIsShownElsewhere(t *testing.T) {
	for kind, q := range kinds {
		t.Run(kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q.Kind = kind
				s := newQueue(t)
				q, err := s.Open(t.Context(), q, Terms{Expires: time.Minute})
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(ShownWithin * 3)
				synctest.Wait()
				if q, err = s.Get(t.Context(), q.ID); err != nil || q.Unseen != protocol.MaxUnseen {
					t.Errorf("unseen: got %d, %v, want %d", q.Unseen, err, protocol.MaxUnseen)
				}
			})
		})
	}
}

// TestLimitCountsAllKinds has an asker whose questions are of all kinds.
func TestLimitCountsAllKinds(t *testing.T) {
	s := newQueue(t)
	terms := Terms{Limit: Limit{Asker: "the server files"}}
	var first protocol.Question
	for i := range maxOpen {
		for kind, q := range kinds { // in any order
			q.Kind, q.ID = kind, protocol.QuestionID(fmt.Sprint("q", i))
			if _, err := s.Open(t.Context(), q, terms); err != nil {
				t.Fatalf("question %d: %v", i, err)
			}
			first = q
			break
		}
	}
	for kind, q := range kinds {
		q.Kind = kind
		_, err := s.Open(t.Context(), q, terms)
		e := protocol.AsError(err)
		if !errors.Is(err, protocol.ErrTooMany) || !e.Retryable || string(e.Details) != `{"retry_after_ms":5000}` {
			t.Errorf("one more of kind %s: got %v with %s, want %v with the time to try again", kind, err, e.Details, protocol.ErrTooMany)
		}
		if _, err := s.Open(t.Context(), q, Terms{Limit: Limit{Asker: "another"}}); err != nil {
			t.Errorf("another asker: %v", err)
		}
	}
	if err := s.Withdraw(t.Context(), first.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Open(t.Context(), pairing("phone"), terms); err != nil {
		t.Errorf("after one of them was closed: %v", err)
	}
}

// TestExpiryIsTriedAgain fails to store that a question has expired.
func TestExpiryIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows := &failingStore{Store: questiontest.NewStore()}
		s := newQueueOn(t, rows)
		ended := make(chan protocol.Question, 1)
		_, err := s.Open(t.Context(), pairing("phone"), Terms{Expires: time.Minute, Ended: func(q protocol.Question) { ended <- q }})
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		time.Sleep(3 * ShownWithin) // after the attempts to show it
		rows.failures.Store(3)
		if end := <-ended; end.State != protocol.QuestionExpired || time.Since(began) != time.Minute+3*retryAfter {
			t.Errorf("got %s after %s, want it to expire after three attempts", end.State, time.Since(began))
		}
	})
}

// failingStore fails to change questions some times.
type failingStore struct {
	*questiontest.Store
	failures atomic.Int32
}

func (s *failingStore) Change(ctx context.Context, id protocol.QuestionID, change func(*protocol.Question) bool, rules ...store.RuleChange) (protocol.Question, bool, error) {
	if s.failures.Add(-1) >= 0 {
		return protocol.Question{}, false, protocol.ErrStorage
	}
	return s.Store.Change(ctx, id, change, rules...)
}

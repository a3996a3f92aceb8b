package question

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
	"fairlead/gateway/question/questiontest"
)

func pairing(name string) protocol.Question {
	return protocol.Question{Kind: protocol.AskPair, Pairing: &protocol.PairingSubject{Device: protocol.Device{Name: name}}}
}

func newQueue(t *testing.T) *Queue { return newQueueOn(t, questiontest.NewStore()) }

// newQueueOn returns a queue that is closed at the end of the test.
func newQueueOn(t *testing.T, s Store) *Queue {
	q := New(s, nil, new(event.Bus))
	t.Cleanup(q.Close)
	return q
}

func allowAnswer(q protocol.Question) protocol.QuestionAnswerParams {
	return protocol.QuestionAnswerParams{ID: q.ID, Hash: q.Hash, Decision: protocol.DecisionAllow}
}

// TestSecondAnswerLearnsWhoWasFirst answers while another answer is being carried out.
func TestSecondAnswerLearnsWhoWasFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newQueue(t)
		applied := 0
		var ended []protocol.Question
		q, err := s.Open(t.Context(), pairing("phone"), Terms{
			Expires: time.Minute,
			Apply: func(_ context.Context, _ auth.Principal, q *protocol.Question, _ protocol.QuestionAnswerParams) error {
				applied++
				time.Sleep(2 * time.Minute) // past the question's end: what has begun counts
				q.Pairing = &protocol.PairingSubject{Device: protocol.Device{ID: "d", Name: "phone"}}
				return nil
			},
			Ended: func(q protocol.Question) { ended = append(ended, q) },
		})
		if err != nil {
			t.Fatal(err)
		}
		results := make(chan protocol.QuestionAnswerResult, 2)
		for i, name := range []string{"first", "second"} {
			go func() {
				time.Sleep(time.Duration(i) * time.Second)
				r, err := s.Answer(t.Context(), auth.Owner(name), allowAnswer(q))
				if err != nil {
					t.Error(err)
				}
				results <- r
			}()
		}
		won := 0
		for range 2 {
			r := <-results
			if r.Won {
				won++
			}
			if r.Question.AnsweredBy != "owner first" || r.Question.State != protocol.QuestionAllowed || r.Question.Pairing.Device.ID != "d" {
				t.Errorf("got %+v, want the first answer", r.Question)
			}
		}
		synctest.Wait()
		if won != 1 || applied != 1 || len(ended) != 1 || ended[0].State != protocol.QuestionAllowed {
			t.Errorf("got %d winners, %d times carried out, ends %+v; want one each", won, applied, ended)
		}
	})
}

func TestFailedAnswerLeavesTheQuestionOpen(t *testing.T) {
	s := newQueue(t)
	fail := true
	q, err := s.Open(t.Context(), pairing("phone"), Terms{Apply: func(context.Context, auth.Principal, *protocol.Question, protocol.QuestionAnswerParams) error {
		if fail {
			return protocol.ErrStorage
		}
		return nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Answer(t.Context(), auth.Owner("w"), allowAnswer(q)); !errors.Is(err, protocol.ErrStorage) {
		t.Errorf("got %v, want %v", err, protocol.ErrStorage)
	}
	fail = false
	if r, err := s.Answer(t.Context(), auth.Owner("w"), allowAnswer(q)); err != nil || !r.Won {
		t.Errorf("the second try: got %+v, %v; want it to win", r, err)
	}
}

func TestKindsNeedTheirScope(t *testing.T) {
	s := newQueue(t)
	helper := auth.Device(protocol.Device{Role: protocol.RoleClient, Scopes: []protocol.Scope{protocol.ScopeApprove}})
	for kind, want := range map[string]error{protocol.AskPair: protocol.ErrForbidden, protocol.AskWiden: protocol.ErrForbidden, protocol.AskApp: protocol.ErrForbidden, protocol.AskInput: nil} {
		q, err := s.Open(t.Context(), protocol.Question{Kind: kind}, Terms{Apply: func(context.Context, auth.Principal, *protocol.Question, protocol.QuestionAnswerParams) error {
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Answer(t.Context(), helper, allowAnswer(q)); !errors.Is(err, want) {
			t.Errorf("%s: got %v, want %v", kind, err, want)
		}
	}
}

func TestQuestionWithoutAskerHasNoAnswer(t *testing.T) {
	rows := questiontest.NewStore()
	before := newQueueOn(t, rows)
	q, err := before.Open(t.Context(), pairing("phone"), Terms{})
	if err != nil {
		t.Fatal(err)
	}
	s := newQueueOn(t, rows) // after a restart
	if _, err := s.Answer(t.Context(), auth.Owner("w"), allowAnswer(q)); !errors.Is(err, protocol.ErrNotFound) {
		t.Errorf("got %v, want %v", err, protocol.ErrNotFound)
	}
	if err := s.CancelOrphans(t.Context(), time.Now().Add(time.Minute), func(protocol.RunID) bool { return false }); err != nil {
		t.Fatal(err)
	}
	if q, err := s.Get(t.Context(), q.ID); err != nil || q.State != protocol.QuestionCancelled {
		t.Errorf("got %s, %v; want it cancelled", q.State, err)
	}
}

func TestAskersAreLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newQueue(t)
		ask := func(asker string) (protocol.Question, error) {
			return s.Open(t.Context(), pairing("phone"), Terms{
				Limit: Limit{Asker: asker, Open: 2, Burst: 3, Every: time.Minute},
				Apply: func(context.Context, auth.Principal, *protocol.Question, protocol.QuestionAnswerParams) error {
					return nil
				},
			})
		}
		refused := 0
		for range 240 {
			if _, err := ask("an app"); errors.Is(err, protocol.ErrTooMany) {
				refused++
			}
		}
		if refused != 238 {
			t.Errorf("got %d refusals of 240 questions, want 238", refused)
		}
		q, err := ask("another app")
		if err != nil {
			t.Fatalf("another asker: %v", err)
		}
		for i := 0; ; i++ {
			if _, err := s.Answer(t.Context(), auth.Owner("w"), allowAnswer(q)); err != nil {
				t.Fatal(err)
			}
			if q, err = ask("another app"); err != nil {
				if e := protocol.AsError(err); i != 2 || e.Code != protocol.ErrTooMany.Code || len(e.Details) == 0 {
					t.Errorf("question %d in a row: got %v with the details %s, want the fourth refused", i+2, err, e.Details)
				}
				break
			}
		}
		time.Sleep(time.Minute)
		if _, err := ask("another app"); err != nil {
			t.Errorf("a minute later: %v", err)
		}
	})
}

func TestQuestionsWithADeadlineComeFirst(t *testing.T) {
	s := newQueue(t)
	for i, q := range []protocol.Question{
		{ID: "old", CreatedAt: 1}, {ID: "snoozed", CreatedAt: 1, ExpiresAt: 5, Later: 9}, {ID: "late", CreatedAt: 1, ExpiresAt: 20}, {ID: "soon", CreatedAt: 2, ExpiresAt: 10}, {ID: "new", CreatedAt: 2},
	} {
		q.State = protocol.QuestionPending
		if err := s.store.Put(t.Context(), q, nil); err != nil {
			t.Fatal(i, err)
		}
	}
	list, err := s.Pending(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, q := range list {
		got += fmt.Sprint(q.ID, " ")
	}
	if want := "soon late old new snoozed "; got != want {
		t.Errorf("order: got %s, want %s", got, want)
	}
}

func TestDeviceThatRunsNothingCannotChangeACall(t *testing.T) {
	for args, needs := range map[string]bool{"": false, `{"command":"id"}`: true} {
		for scope, has := range map[protocol.Scope]bool{protocol.ScopeInvoke: true, protocol.ScopeRead: false} {
			s := newQueue(t)
			q := question()
			q.ID, q.State, q.Hash = "q", protocol.QuestionPending, "h"
			if err := s.store.Put(t.Context(), q, nil); err != nil {
				t.Fatal(err)
			}
			phone := auth.Device(protocol.Device{Role: protocol.RoleClient, Scopes: []protocol.Scope{protocol.ScopeApprove, scope}})
			p := allowAnswer(q)
			p.Args = json.RawMessage(args)
			if _, err := s.Answer(t.Context(), phone, p); errors.Is(err, protocol.ErrForbidden) != (needs && !has) {
				t.Errorf("arguments %q and the right to %s: got %v, want ErrForbidden: %v", args, scope, err, needs && !has)
			}
		}
	}
}

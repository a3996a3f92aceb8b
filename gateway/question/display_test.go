package question

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/auth"
	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
	"fairlead/gateway/question/questiontest"
	"fairlead/gateway/tool"
)

func TestPostponedQuestionReturns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := questiontest.NewStore()
		g := New(s, nil, new(event.Bus))
		sub := g.Display.bus.Subscribe()
		defer sub.Close()
		ctx, cancel := context.WithCancel(t.Context())
		q := question()
		q.ID = "q"
		done := make(chan protocol.Question, 1)
		go func() {
			a, _ := g.Ask(ctx, q, 0, nil)
			done <- a
		}()
		pending(t, g, sub)
		g.Display.Shown(ctx, protocol.QuestionShownParams{ID: "q"})
		later := func() int64 {
			synctest.Wait()
			a, err := s.Get(t.Context(), "q")
			if err != nil {
				t.Fatal(err)
			}
			return a.Later
		}
		snooze := func(d time.Duration) {
			t.Helper()
			if err := g.Display.Snooze(ctx, protocol.QuestionSnoozeParams{IDs: []protocol.QuestionID{"q"}, For: d.Milliseconds()}); err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now()
		snooze(time.Minute)
		if got := later(); got != began.Add(time.Minute).UnixMilli() {
			t.Errorf("put off until %v, want a minute", time.UnixMilli(got))
		}
		time.Sleep(30 * time.Second)
		snooze(time.Minute) // again: the first time no longer counts
		time.Sleep(45 * time.Second)
		if later() == 0 {
			t.Error("it came back at the time that was said first")
		}
		time.Sleep(20 * time.Second)
		if later() != 0 {
			t.Error("it did not come back")
		}
		snooze(time.Hour)
		snooze(0)
		if later() != 0 {
			t.Error("it was not brought back")
		}
		snooze(time.Hour)
		if r, err := g.Answer(ctx, auth.Owner("w"), protocol.QuestionAnswerParams{ID: "q", Hash: mustHash(t, q), Decision: protocol.DecisionDeny}); err != nil || !r.Won || r.Question.Later != 0 {
			t.Errorf("a question that is put off can be answered: %+v %v", r, err)
		}
		<-done
		if err := g.Display.Snooze(ctx, protocol.QuestionSnoozeParams{IDs: []protocol.QuestionID{"q"}, For: 1000}); err != nil {
			t.Errorf("one that has ended: %v", err)
		}
		cancel()
		synctest.Wait()
	})
}

func TestPostponedQuestionSurvivesARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := questiontest.NewStore()
		q := question()
		q.ID, q.State, q.Later = "q", protocol.QuestionPending, time.Now().Add(time.Minute).UnixMilli()
		if err := s.Put(t.Context(), q, nil); err != nil {
			t.Fatal(err)
		}
		g := New(s, nil, new(event.Bus))
		ctx, cancel := context.WithCancelCause(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			again := question()
			again.ID = "q"
			g.Ask(ctx, again, 0, nil)
		}()
		synctest.Wait()
		if a, _ := s.Get(t.Context(), "q"); a.Later != q.Later {
			t.Errorf("put off until %d, not %d", a.Later, q.Later)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if a, _ := s.Get(t.Context(), "q"); a.Later != 0 {
			t.Error("it did not come back")
		}
		cancel(tool.ErrSuspended)
		<-done
	})
}

func TestInvalidSnoozeIsRefused(t *testing.T) {
	g := New(questiontest.NewStore(), nil, new(event.Bus))
	for _, p := range []protocol.QuestionSnoozeParams{{}, {IDs: []protocol.QuestionID{"q"}, For: -1}, {IDs: []protocol.QuestionID{"q"}, For: protocol.MaxSnooze + 1}} {
		if err := g.Display.Snooze(t.Context(), p); !errors.Is(err, protocol.ErrBadRequest) {
			t.Errorf("%+v: got %v; want the error protocol.ErrBadRequest", p, err)
		}
	}
}

func mustHash(t *testing.T, q protocol.Question) string {
	t.Helper()
	h, err := hashOf(q)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

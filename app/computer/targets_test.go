package computer

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

func TestTargetsAreAskedAboutOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		targets := newTargets()
		answers := make(chan bool, 2)
		for _, target := range []string{"db.lan:5432", "nas.lan:80"} {
			go func() {
				allow, err := targets.For("Anna")(t.Context(), target)
				if err != nil {
					t.Error(err)
				}
				answers <- allow
			}()
			synctest.Wait()
		}
		first := targets.Question.Get()
		if first == nil || first.Target != "db.lan:5432" || first.Gateway != "Anna" {
			t.Fatalf("asks %+v, want the first target", first)
		}
		first.Answer(true)
		first.Answer(false)
		synctest.Wait()
		if got := <-answers; !got {
			t.Error("the first answer: got no, want yes")
		}
		second := targets.Question.Get()
		if second == nil || second.Target != "nas.lan:80" {
			t.Fatalf("asks %+v, want the second target", second)
		}
		second.Answer(false)
		if got := <-answers; got {
			t.Error("the second answer: got yes, want no")
		}
		synctest.Wait()
		if q := targets.Question.Get(); q != nil {
			t.Errorf("asks %+v, want nothing", q)
		}
	})
}

func TestATargetWithoutAnAnswerIsNotAllowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		targets := newTargets()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		allow, err := targets.For("")(ctx, "db.lan:5432")
		if allow || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, %v; want no answer in time", allow, err)
		}
		if q := targets.Question.Get(); q != nil {
			t.Errorf("asks %+v, want nothing", q)
		}
	})
}

package wake

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestSignalsBeforeTheFirstReceiptAreOne(t *testing.T) {
	s := New()
	s.Send()
	s.Send()
	<-s
	select {
	case <-s:
		t.Error("got a second signal, want one")
	default:
	}
	s.Send()
	<-s
}

func TestEveryCallsUntilItsContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute+time.Second)
		defer cancel()
		calls := 0
		Every(ctx, time.Minute, func() { calls++ })
		if calls != 3 {
			t.Errorf("got %d calls in three minutes, want 3", calls)
		}
	})
}

package crash

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestWorkersCloseWaitsAndNothingStartsAfterwards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reason := errors.New("shutdown")
		w := NewWorkers()
		var mu sync.Mutex // guards ended
		var ended []string
		end := func(what string) {
			mu.Lock()
			defer mu.Unlock()
			ended = append(ended, what)
		}
		isStarted := w.Start(func() {
			<-w.Context().Done()
			w.Go(func() {
				time.Sleep(time.Hour)
				end("started during Close")
			})
			time.Sleep(time.Minute)
			end("worker")
		})
		if !isStarted || !w.Begin() {
			t.Fatal("Start and Begin: got false before Stop, want true")
		}
		AfterFunc(2*time.Hour, func() {
			end("counted work")
			w.Done()
		})
		w.Close(reason)
		if got := len(ended); got != 3 || ended[0] != "worker" {
			t.Errorf("ended before Close returned: got %q, want all three, the worker first", ended)
		}
		if got := context.Cause(w.Context()); got != reason {
			t.Errorf("cause: got %v, want %v", got, reason)
		}
		if w.Begin() || w.Start(func() { t.Error("a goroutine started after Close") }) {
			t.Error("Start and Begin: got true after Close, want false")
		}
	})
}

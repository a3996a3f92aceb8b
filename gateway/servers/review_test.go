package servers

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"fairlead/gateway/event"
	"fairlead/gateway/peer/wake"
	"fairlead/gateway/protocol"
	"fairlead/gateway/question"
	"fairlead/gateway/question/questiontest"
	"fairlead/gateway/store"
)

// fullStore fails to store some questions, as on a full disk.
type fullStore struct {
	*questiontest.Store
	failures int
}

func (s *fullStore) Put(ctx context.Context, q protocol.Question, grants []store.Grant, replies ...store.Outbound) error {
	if s.failures > 0 {
		s.failures--
		return protocol.ErrStorage
	}
	return s.Store.Put(ctx, q, grants, replies...)
}

// startReview starts the review of a server with a tool that the person has not accepted.
func startReview(t *testing.T, questions *question.Queue) {
	m := &Manager{o: Options{Questions: questions}}
	r := review{name: "srv", m: m, wake: wake.New(), present: func() ([]remoteTool, []string) { return []remoteTool{{name: "echo", hash: "new"}}, nil }}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.run(ctx, t.Context())
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		questions.Close()
	})
}

func pendingCount(t *testing.T, questions *question.Queue) int {
	t.Helper()
	synctest.Wait()
	list, err := questions.Pending(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

// TestChangedToolsNeedAQuestionAfterAFullDisk fails to store the question three times. The server
// reports no further change.
func TestChangedToolsNeedAQuestionAfterAFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rows := &fullStore{questiontest.NewStore(), 3}
		questions := question.New(rows, nil, new(event.Bus))
		startReview(t, questions)
		if n := pendingCount(t, questions); n != 0 {
			t.Errorf("on a full disk: got %d questions, want none", n)
		}
		time.Sleep(7 * retryMin) // three pauses, each twice as long as the one before
		if n := pendingCount(t, questions); n != 1 || rows.failures != 0 {
			t.Errorf("after three attempts: got %d questions, %d failures left, want one question", n, rows.failures)
		}
		time.Sleep(retryMax)
		if n := pendingCount(t, questions); n != 1 {
			t.Errorf("later: got %d questions, want the same one", n)
		}
	})
}

// TestServerCannotHideItsChangedTools has as many questions of a server open as it may have. Once
// one is closed, the question about its tools opens.
func TestServerCannotHideItsChangedTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		questions := question.New(questiontest.NewStore(), nil, new(event.Bus))
		var last protocol.Question
		open := 0
		for ; ; open++ {
			q, err := questions.Open(t.Context(), protocol.Question{Kind: protocol.AskInput}, question.Terms{Limit: limitOf("srv")})
			if err != nil {
				break
			}
			last = q
		}
		startReview(t, questions)
		if n := pendingCount(t, questions); n != open {
			t.Errorf("at the limit: got %d questions, want %d", n, open)
		}
		if err := questions.Withdraw(t.Context(), last.ID); err != nil {
			t.Fatal(err)
		}
		time.Sleep(retryMin)
		if n := pendingCount(t, questions); n != open {
			t.Errorf("after one was closed: got %d questions, want %d", n, open)
		}
	})
}

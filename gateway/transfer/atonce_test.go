package transfer_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
	"fairlead/gateway/store"
	"fairlead/gateway/transfer"
)

// stuckStore is a database whose next writes do not return, before or after they have taken effect,
// until the test allows it.
type stuckStore struct {
	*store.Transfers
	isWritten bool          // stuck after the write
	writing   chan struct{} // receives when a write is stuck
	proceed   chan struct{}
}

func (s *stuckStore) Put(ctx context.Context, t store.Transfer, changes ...store.CallChange) (err error) {
	if s.isWritten {
		err = s.Transfers.Put(ctx, t, changes...)
	}
	select {
	case s.writing <- struct{}{}:
		<-s.proceed
	case <-s.proceed:
	}
	if !s.isWritten {
		err = s.Transfers.Put(ctx, t, changes...)
	}
	return err
}

// openStuckEngine returns an engine with a transfer in a state, and its store, whose writes are
// stuck.
func openStuckEngine(t *testing.T, state string, isWritten bool) (*transfer.Engine, *stuckStore) {
	t.Helper()
	st, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "x.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { st.Close() })
	row := store.Transfer{Transfer: protocol.Transfer{ID: "x", State: state, Sources: []string{"a:x"}, Destination: "b:y", From: "a", To: "b", CreatedAt: 1}}
	if row.Over() {
		row.EndedAt = 2
	}
	if err := st.Transfers.Put(t.Context(), row); err != nil {
		t.Fatal(err)
	}
	s := &stuckStore{Transfers: st.Transfers, isWritten: isWritten, writing: make(chan struct{}), proceed: make(chan struct{})}
	e := reopen(t, s)
	return e, s
}

func reopen(t *testing.T, s transfer.Store) *transfer.Engine {
	t.Helper()
	e := transfer.New(transfer.Options{Store: s, Bus: new(event.Bus), Authorizer: anyCaller{}, Machines: noNodes{}})
	if err := e.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

// clientRequests are the requests of clients that change a state.
var clientRequests = map[string]func(context.Context, *transfer.Engine) (protocol.Transfer, error){
	"pause": func(ctx context.Context, e *transfer.Engine) (protocol.Transfer, error) {
		return e.Pause(ctx, protocol.TransferParams{ID: "x"})
	},
	"resume": func(ctx context.Context, e *transfer.Engine) (protocol.Transfer, error) {
		return e.Resume(ctx, protocol.TransferParams{ID: "x"}, transfer.Client{})
	},
	"cancel": func(ctx context.Context, e *transfer.Engine) (protocol.Transfer, error) {
		return e.Cancel(ctx, protocol.TransferParams{ID: "x"})
	},
	"retry": func(ctx context.Context, e *transfer.Engine) (protocol.Transfer, error) {
		return e.Retry(ctx, protocol.TransferParams{ID: "x"}, transfer.Client{})
	},
}

// The request of a second client arrives while the first one's is being stored: it is decided by
// the state that the first one leads to.
func TestTwoClientsAtOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		before, first, second, end string
		isRefused                  bool
	}{
		{"waiting", "pause", "pause", "paused", false},
		{"waiting", "pause", "resume", "waiting", false},
		{"waiting", "pause", "cancel", "cancelled", false},
		{"waiting", "cancel", "cancel", "cancelled", false},
		{"waiting", "cancel", "pause", "cancelled", true},
		{"waiting", "cancel", "resume", "cancelled", true},
		{"waiting", "cancel", "retry", "queued", false},
		{"paused", "resume", "pause", "paused", false},
		{"failed", "retry", "cancel", "cancelled", false},
		{"failed", "retry", "retry", "queued", false},
	} {
		t.Run(c.first+" and "+c.second+" while "+c.before, func(t *testing.T) {
			t.Parallel()
			e, s := openStuckEngine(t, c.before, false)
			results := [2]chan error{make(chan error, 1), make(chan error, 1)}
			for i, name := range []string{c.first, c.second} {
				go func() {
					_, err := clientRequests[name](t.Context(), e)
					results[i] <- err
				}()
				if i == 0 {
					<-s.writing
				}
			}
			close(s.proceed)
			if err := <-results[0]; err != nil {
				t.Errorf("first: got %v, want success", err)
			}
			if err := <-results[1]; errors.Is(err, protocol.ErrConflict) != c.isRefused || err != nil && !c.isRefused {
				t.Errorf("second: got %v, want a refusal %v", err, c.isRefused)
			}
			row, err := s.Transfers.Get(t.Context(), "x")
			if err != nil || row.State != c.end {
				t.Errorf("stored: got %s, %v, want %s", row.State, err, c.end)
			}
		})
	}
}

// The gateway is killed after a request is stored and before it is acknowledged: the next start
// finds the transfer as it was asked for. Killed before it is stored, it finds the earlier state,
// which is what the client knows.
func TestKillAroundAStore(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ before, request, after string }{
		{"queued", "pause", "paused"},
		{"waiting", "pause", "paused"},
		{"queued", "cancel", "cancelled"},
		{"waiting", "cancel", "cancelled"},
		{"paused", "cancel", "cancelled"},
		{"paused", "resume", "waiting"},
		{"failed", "retry", "queued"},
		{"cancelled", "retry", "queued"},
	} {
		for _, isWritten := range []bool{false, true} {
			name, want := c.request+" while "+c.before+", not stored", c.before
			if isWritten {
				name, want = c.request+" while "+c.before+", stored", c.after
			}
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				killed, s := openStuckEngine(t, c.before, isWritten)
				acknowledged := make(chan error, 1)
				go func() {
					_, err := clientRequests[c.request](t.Context(), killed)
					acknowledged <- err
				}()
				<-s.writing // nothing reaches the client from here on
				now, err := reopen(t, s.Transfers).Get(t.Context(), protocol.TransferParams{ID: "x"})
				if err != nil || now.State != want {
					t.Errorf("after the restart: got %s, %v, want %s", now.State, err, want)
				}
				if seen, err := killed.Get(t.Context(), protocol.TransferParams{ID: "x"}); err != nil || seen.State != c.before {
					t.Errorf("shown before the store has answered: got %s, %v, want %s", seen.State, err, c.before)
				}
				select {
				case err := <-acknowledged:
					t.Errorf("acknowledged before the store has answered: %v", err)
				default:
				}
				close(s.proceed)
			})
		}
	}
}

// What a start finds in the queue, in every state, and what a person can still do with it.
func TestRestartInEveryState(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ before, loaded, error, request, after string }{
		{"queued", "queued", "", "pause", "paused"},
		{"waiting", "waiting", "", "pause", "paused"},
		{"running", "waiting", "The gateway was restarted", "pause", "paused"},
		{"paused", "paused", "", "cancel", "cancelled"},
		{"done", "", "", "retry", "done"},
		{"failed", "", "", "retry", "queued"},
		{"cancelled", "", "", "retry", "queued"},
	} {
		t.Run(c.before, func(t *testing.T) {
			t.Parallel()
			e, s := openStuckEngine(t, c.before, false)
			close(s.proceed)
			loaded, text := "", ""
			for _, now := range e.Open() {
				loaded, text = now.State, now.Error
			}
			if loaded != c.loaded || text != c.error {
				t.Errorf("in the queue: got %s (%s), want %s (%s)", loaded, text, c.loaded, c.error)
			}
			_, err := clientRequests[c.request](t.Context(), e)
			stored, failed := s.Transfers.Get(t.Context(), "x")
			if failed != nil || stored.State != c.after || (err == nil) != (c.before != c.after) {
				t.Errorf("%s: got %s, %v, %v, want %s", c.request, stored.State, err, failed, c.after)
			}
		})
	}
}

package transfer_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/peer/polltest"
	"fairlead/gateway/protocol"
	"fairlead/gateway/transfer"
)

// withFailingStore calls f while the database refuses every change of a transfer.
func (s *testEngine) withFailingStore(f func()) {
	s.t.Helper()
	defer transfer.RefuseWrites(s.t, s.path)()
	f()
}

// Every action in every state: what cannot be stored is refused and changes nothing.
func TestActionsThatCannotBeStoredAreRefused(t *testing.T) {
	actions := map[string]func(s *testEngine, id protocol.TransferParams) error{
		"pause": func(s *testEngine, id protocol.TransferParams) error {
			_, err := s.e.Pause(s.t.Context(), id)
			return err
		},
		"resume": func(s *testEngine, id protocol.TransferParams) error {
			_, err := s.e.Resume(s.t.Context(), id, transfer.Client{})
			return err
		},
		"cancel": func(s *testEngine, id protocol.TransferParams) error {
			_, err := s.e.Cancel(s.t.Context(), id)
			return err
		},
		"retry": func(s *testEngine, id protocol.TransferParams) error {
			_, err := s.e.Retry(s.t.Context(), id, transfer.Client{})
			return err
		},
		"forget": func(s *testEngine, id protocol.TransferParams) error {
			_, err := s.e.Forget(s.t.Context(), protocol.TransferForgetParams{IDs: []protocol.TransferID{id.ID}})
			return err
		},
	}
	for _, c := range []struct {
		action, state string
		prepare       []string
		online        bool
	}{
		{"pause", protocol.TransferWaiting, nil, false},
		{"pause", protocol.TransferRunning, nil, true},
		{"cancel", protocol.TransferWaiting, nil, false},
		{"cancel", protocol.TransferRunning, nil, true},
		{"cancel", protocol.TransferPaused, []string{"pause"}, false},
		{"resume", protocol.TransferPaused, []string{"pause"}, false},
		{"retry", protocol.TransferCancelled, []string{"cancel"}, false},
		{"forget", protocol.TransferCancelled, []string{"cancel"}, false},
	} {
		t.Run(c.action+" while "+c.state, func(t *testing.T) {
			inBubble(t, doNothing, func(s *testEngine) {
				if c.online {
					s.connectNode("a", s.reportSizeAfter(100, 0))
					s.connectNode("b", s.acceptThen(nil))
				}
				id := protocol.TransferParams{ID: s.start()}
				advanceTime(time.Second)
				for _, a := range c.prepare {
					if err := actions[a](s, id); err != nil {
						t.Fatal(err)
					}
				}
				before := s.get(id.ID)
				if before.State != c.state {
					t.Fatalf("state: got %s, want %s", before.State, c.state)
				}
				s.withFailingStore(func() {
					if err := actions[c.action](s, id); err == nil || !strings.Contains(err.Error(), "the disk is full") {
						t.Errorf("got error %v, want that of the database", err)
					}
				})
				advanceTime(5 * time.Second)
				row, err := s.store.Transfers.Get(s.t.Context(), id.ID)
				if now := s.get(id.ID); err != nil || now.State != c.state || row.State != c.state || now.Attempts != before.Attempts {
					t.Errorf("afterwards: got %s in attempt %d, stored %s, %v, want %s in attempt %d", now.State, now.Attempts, row.State, err, c.state, before.Attempts)
				}
				if err := actions[c.action](s, id); err != nil {
					t.Errorf("once the disk has room: %v", err)
				}
			})
		})
	}
}

// The end of a transfer is published when it is stored, and not before.
func TestEndIsStoredBeforeItIsPublished(t *testing.T) {
	inBubble(t, doNothing, func(s *testEngine) {
		finish := make(chan bool)
		s.connectNode("a", s.reportSizeAfter(5, 0))
		s.connectNode("b", s.acceptThen(func(p *scriptedNode, id uint32) {
			<-finish
			written := int64(5)
			proceed, _ := s.e.Relays().Done(p, protocol.TransferDoneParams{TransferID: &id, Files: 1, BytesWritten: &written})
			proceed()
		}))
		id := s.start()
		advanceTime(time.Second)
		s.withFailingStore(func() {
			finish <- true
			advanceTime(3 * time.Second)
			if now := s.get(id); now.State != protocol.TransferRunning {
				t.Errorf("state while the disk is full: got %s, want running", now.State)
			}
		})
		advanceTime(3 * time.Second)
		row, err := s.store.Transfers.Get(s.t.Context(), id)
		if err != nil || row.State != protocol.TransferDone || row.Error != "" {
			t.Errorf("stored: got %s (%s), %v, want done", row.State, row.Error, err)
		}
	})
}

// The OK to a report of the end confirms only the report: a gateway that stops before it has stored
// the end continues the transfer, finds the files that arrived, and ends it once.
func TestUnstoredEndIsReportedAgain(t *testing.T) {
	r := newTestGateway(t, "a", "b")
	from := r.createFile("a", "x.bin", 100)
	db, err := sql.Open("sqlite", filepath.ToSlash(filepath.Join(r.home, "fairlead.db"))+"?_pragma=busy_timeout(5000)")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "CREATE TRIGGER refuse BEFORE UPDATE ON transfers WHEN NEW.ended_at > 0 BEGIN SELECT RAISE(ABORT, 'the disk is full'); END"); err != nil {
		t.Fatal(err)
	}
	tr := r.startTransfer(protocol.TransferStartParams{Sources: []string{"a:x.bin"}, Destination: "b:y.bin", Conflict: "rename"})
	to := filepath.Join(r.nodes["b"].dir, "y.bin")
	polltest.Until(t, "the file arrived", func() bool { _, err := os.Stat(to); return err == nil })
	r.stopGW()
	if _, err := db.ExecContext(t.Context(), "DROP TRIGGER refuse"); err != nil {
		t.Fatal(err)
	}
	r.start()
	if end := r.waitEnd(tr.ID, recovers); end.State != protocol.TransferDone {
		t.Fatalf("after the restart: got %s (%s), want done", end.State, end.Error)
	}
	checkSameFile(t, from, to)
	files, err := os.ReadDir(r.nodes["b"].dir)
	if err != nil || len(files) != 1 {
		t.Errorf("files at the destination: got %v, %v, want y.bin alone", files, err)
	}
}

package store

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"gorm.io/gorm"

	"fairlead/gateway/protocol"
)

func TestEveryConnectionIsSetUp(t *testing.T) {
	s := openTest(t)
	for name, db := range map[string]*gorm.DB{"writer": s.writer.db, "reader": s.reader} {
		t.Run(name, func(t *testing.T) {
			for pragma, want := range map[string]string{"foreign_keys": "1", "synchronous": "2", "journal_mode": "wal", "busy_timeout": "5000"} {
				var got string
				if err := db.Raw("PRAGMA " + pragma).Scan(&got).Error; err != nil || got != want {
					t.Errorf("%s: %s = %q, %v; want %q", name, pragma, got, err, want)
				}
			}
		})
	}
	if err := s.Runs.Put(t.Context(), Run{ID: "r", Session: "none"}); !errors.Is(err, protocol.ErrNotFound) {
		t.Errorf("a run without its session: got error %v, want %v", err, protocol.ErrNotFound)
	}
}

func TestStorageFailureSaysWhatToDo(t *testing.T) {
	s := openTest(t)
	must(s.Messages.Append(t.Context(), key, user("kept")))(t)
	fails := func(name, want string) {
		t.Helper()
		_, err := s.Messages.Append(t.Context(), key, user("lost"))
		if !errors.Is(err, protocol.ErrStorage) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), s.path) {
			t.Errorf("%s: error = %v, want %q and the path", name, err, want)
		}
	}
	s.writer.db.Exec("PRAGMA query_only = 1")
	fails("read-only", "permissions")
	s.writer.db.Exec("PRAGMA query_only = 0")

	s.writer.db.Exec("PRAGMA busy_timeout = 20")
	other := must(connect(s.path, 1, "immediate"))(t)
	pool := must(other.DB())(t)
	defer pool.Close()
	tx := other.Begin()
	fails("locked", "locked")
	tx.Rollback()

	must(s.Messages.Append(t.Context(), key, user("again")))(t)
	if m := must(s.Messages.List(t.Context(), key, 0, 0))(t); len(m) != 2 || m[1].Seq != 2 {
		t.Errorf("got %v, want 2 messages", m)
	}
}

func TestOddPathsWork(t *testing.T) {
	for _, name := range []string{"with space", "50%", "a?b=c", "a#b", "Ünï", "a&b+c", "%41"} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" && strings.ContainsAny(name, "?") {
				return // the system does not support such names
			}
			path := filepath.Join(t.TempDir(), name, name+".db")
			s, err := Open(t.Context(), path)
			if err != nil {
				t.Errorf("opening %s: got error %v, want none", name, err)
				return
			}
			must(s.Messages.Append(t.Context(), key, user("x")))(t)
			s.Close()
			info, err := os.Stat(path)
			if err != nil {
				t.Errorf("%s: got error %v, want the file at its path", name, err)
			} else if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
				t.Errorf("%s: got mode %v, want 600", name, info.Mode().Perm())
			}
		})
	}
}

func TestFolderInPlaceOfTheFileIsReported(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), path); !errors.Is(err, protocol.ErrStorage) || !strings.Contains(err.Error(), path) {
		t.Errorf("got error %v, want a storage error that names the file", err)
	}
}

// TestWinnerIsStored checks that a write whose context ends at any moment never reports success for
// data that is not stored.
func TestWinnerIsStored(t *testing.T) {
	s := openTest(t)
	for i := range 200 {
		id := protocol.QuestionID(protocol.NewID())
		a := protocol.Question{ID: id, State: protocol.QuestionPending, CreatedAt: 1}
		if err := s.Questions.Put(t.Context(), a, nil); err != nil {
			t.Fatal(err)
		}
		a.State = protocol.QuestionAllowed
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			for range i * 20 { // a little later each time
				runtime.Gosched()
			}
			cancel()
		})
		_, won, err := s.Questions.Change(ctx, id, func(now *protocol.Question) bool { *now = a; return true })
		wg.Wait()
		got := must(s.Questions.Get(t.Context(), id))(t)
		if stored := got.State == protocol.QuestionAllowed; won != stored || won == (err != nil) {
			t.Fatalf("got won %v, error %v, stored %v, want that what won is stored", won, err, stored)
		}
	}
}

func TestPurgedSessionLeavesNoPermission(t *testing.T) {
	s := openTest(t)
	must(s.Messages.Append(t.Context(), key, user("x")))(t)
	must(s.Sessions.Update(t.Context(), key, func(s *Session) { s.DeletedAt = 100 }))(t)
	for _, err := range []error{
		s.Grants.Put(t.Context(), Grant{Session: key, Tool: "Bash"}),
		s.Questions.Put(t.Context(), protocol.Question{ID: "a", SessionKey: key, State: protocol.QuestionPending}, nil),
		s.Calls.Put(t.Context(), Call{Info: protocol.CallInfo{CallID: "c", SessionKey: key, State: protocol.CallDone}}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.Sessions.PurgeDeleted(t.Context(), 200))(t)
	if g := must(s.Grants.List(t.Context(), key))(t); len(g) != 0 {
		t.Errorf("got grants %v, want none for the next session of that name", g)
	}
	if q := must(s.Questions.Get(t.Context(), "a"))(t); q.State != protocol.QuestionPending {
		t.Errorf("question: got %s, want %s: whoever asks waits for its end", q.State, protocol.QuestionPending)
	}
	must(s.Calls.Get(t.Context(), "c"))(t) // the journal stays
}

func TestUserMessageBringsADeletedSessionBack(t *testing.T) {
	s := openTest(t)
	must(s.Messages.Append(t.Context(), key, user("x")))(t)
	must(s.Sessions.Update(t.Context(), key, func(s *Session) { s.DeletedAt = 100 }))(t)
	must(s.Messages.Append(t.Context(), key, protocol.Message{Role: protocol.RoleAssistant}))(t)
	if ses := must(s.Sessions.Get(t.Context(), key))(t); ses.DeletedAt != 100 {
		t.Error("an answer that was under way brought it back")
	}
	must(s.Messages.Append(t.Context(), key, user("y")))(t)
	if n := must(s.Sessions.PurgeDeleted(t.Context(), 200))(t); n != 0 {
		t.Error("an acknowledged message was purged")
	}
}

func TestMessageIsStoredOnce(t *testing.T) {
	s := openTest(t)
	m := user("x")
	m.ID = "m"
	must(s.Messages.Append(t.Context(), key, m))(t)
	if _, err := s.Messages.Append(t.Context(), key, m); !errors.Is(err, protocol.ErrConflict) {
		t.Errorf("the same again: got error %v, want %v", err, protocol.ErrConflict)
	}
}

package store

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

func TestDatabaseOfAnotherVersionOrDamagedIsNotChanged(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "new.db")
	s := must(Open(t.Context(), path))(t)
	if err := s.Settings.Put(t.Context(), map[string]json.RawMessage{"a": []byte("1")}); err != nil {
		t.Fatal(err)
	}
	for version, want := range map[int]string{999: "start the newer version", 19: "move the folder " + dir + " away", 1: "move the folder " + dir + " away"} {
		s.writer.db.Exec(fmt.Sprint("PRAGMA user_version = ", version))
		s.Close()
		_, err := Open(t.Context(), path)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("open of version %d: got %v, want %q", version, err, want)
		}
		db := must(connect(path, 1, "immediate"))(t)
		db.Exec(fmt.Sprint("PRAGMA user_version = ", schemaVersion))
		pool, _ := db.DB()
		pool.Close()
		s = must(Open(t.Context(), path))(t)
		if all := must(s.Settings.All(t.Context()))(t); string(all["a"]) != "1" {
			t.Errorf("version %d: got settings %s after the refusal, want a=1", version, all)
		}
	}
	s.Close()
	bad := filepath.Join(dir, "bad.db")
	content := strings.Repeat("this is no database ", 500)
	if err := os.WriteFile(bad, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), bad); !errors.Is(err, protocol.ErrStorage) || !strings.Contains(err.Error(), bad) {
		t.Errorf("got error %v, want a storage error that names the file", err)
	}
	if data, _ := os.ReadFile(bad); string(data) != content {
		t.Error("the damaged file was changed")
	}
}

func TestFullDiskLosesNothing(t *testing.T) {
	s := openTest(t)
	must(s.Messages.Append(t.Context(), key, user("kept")))(t)
	var pages int
	s.writer.db.Raw("PRAGMA page_count").Scan(&pages)
	s.writer.db.Exec(fmt.Sprintf("PRAGMA max_page_count = %d", pages+2))
	var err error
	for range 50 {
		if _, err = s.Messages.Append(t.Context(), key, user(strings.Repeat("x", 2000))); err != nil {
			break
		}
	}
	if !errors.Is(err, protocol.ErrStorage) || !strings.Contains(err.Error(), "full") {
		t.Fatalf("got error %v, want a full disk", err)
	}
	s.writer.db.Exec("PRAGMA max_page_count = 1000000")
	must(s.Messages.Append(t.Context(), key, user("again")))(t)
	msgs := must(s.Messages.List(t.Context(), key, 0, 0))(t)
	for i, m := range msgs {
		if m.Seq != int64(i+1) {
			t.Fatalf("message %d: got number %d, want no gap after a failed write", i, m.Seq)
		}
	}
	if msgs[0].Content.Text() != "kept" || msgs[len(msgs)-1].Content.Text() != "again" {
		t.Errorf("got %d messages, want kept first and again last", len(msgs))
	}
}

func TestManyWritersAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	a := must(Open(t.Context(), path))(t)
	defer a.Close()
	b := must(Open(t.Context(), path))(t) // as another process would
	defer b.Close()
	var wg sync.WaitGroup
	for i := range 8 {
		s := []*DB{a, b}[i%2]
		wg.Go(func() {
			for n := range 20 {
				if _, err := s.Messages.Append(context.Background(), key, user(fmt.Sprint(i, n))); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	if n := must(a.Sessions.Get(t.Context(), key))(t).MessageCount; n != 160 {
		t.Errorf("%d messages, want 160", n)
	}
}

// childDB, if set, makes the test binary append messages to that database and print each number
// once it was acknowledged.
const childDB = "FAIRLEAD_STORE_TEST_DB"

func TestMain(m *testing.M) {
	if path := os.Getenv(childDB); path != "" {
		s, err := Open(context.Background(), path)
		for i := 0; err == nil; i++ {
			var out []protocol.Message
			if out, err = s.Messages.Append(context.Background(), key, user(fmt.Sprint(i))); err == nil {
				fmt.Println(out[0].Seq)
			}
		}
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func TestKillLosesNothingAcknowledged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fairlead.db")
	exe := must(os.Executable())(t)
	last := int64(0)
	for round := range 20 {
		cmd := exec.CommandContext(t.Context(), exe)
		cmd.Env = append(os.Environ(), childDB+"="+path)
		out := must(cmd.StdoutPipe())(t)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// The moment of the kill is random: every fourth time while the database is opened, else
		// after some acknowledgements, however fast the machine is, and a little later.
		soon := func(most int) *time.Timer {
			return time.AfterFunc(time.Duration(rand.IntN(most))*time.Millisecond, func() { cmd.Process.Kill() })
		}
		var timer *time.Timer
		acks := 2 + rand.IntN(40)
		if round%4 == 3 {
			timer = soon(100)
		}
		for lines := bufio.NewScanner(out); lines.Scan(); {
			fmt.Sscan(lines.Text(), &last)
			if acks--; acks <= 0 && timer == nil {
				timer = soon(20)
			}
		}
		if timer == nil {
			t.Fatalf("round %d: the writer ended early, want it to write until it is killed", round)
		}
		timer.Stop()
		cmd.Wait()
		s, err := Open(t.Context(), path)
		if err != nil {
			t.Fatalf("opening in round %d: got error %v, want none", round, err)
		}
		msgs, err := s.Messages.List(t.Context(), key, 0, 0)
		if err != nil && (last > 0 || !errors.Is(err, protocol.ErrNotFound)) {
			t.Fatalf("round %d: %v; want no error or last at most 0 and error ErrNotFound", round, err)
		}
		s.Close()
		if int64(len(msgs)) < last {
			t.Fatalf("round %d: got %d messages, want at least the %d that were acknowledged", round, len(msgs), last)
		}
		for i, m := range msgs {
			if m.Seq != int64(i+1) {
				t.Fatalf("round %d: got number %d, want %d", round, m.Seq, i+1)
			}
		}
	}
	if last < 20 {
		t.Errorf("got %d messages, want at least 20", last)
	}
}

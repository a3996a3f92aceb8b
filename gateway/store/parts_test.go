package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"gorm.io/gorm"

	"fairlead/gateway/protocol"
)

// upTo returns the migrations up to a number.
func upTo(t testing.TB, last int) fs.FS {
	t.Helper()
	files := fstest.MapFS{}
	for i, e := range must(migrations.ReadDir("migrations"))(t) {
		if i < last {
			name := "migrations/" + e.Name()
			files[name] = &fstest.MapFile{Data: must(migrations.ReadFile(name))(t)}
		}
	}
	return files
}

// old creates a database of format 14, with some messages and audit entries.
func old(t testing.TB, path string, messages int) {
	t.Helper()
	db := must(connect(t.Context(), path, 1, "immediate"))(t)
	defer shut(db)
	if err := migrate(t.Context(), db, upTo(t, 14), nil); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, uint64(messages)))
	err := db.Transaction(func(tx *gorm.DB) error {
		if err := tx.Exec("INSERT INTO sessions (key, id, agent, created_at, updated_at, last_active_at, next_seq) VALUES ('k', 's', 'main', 1, 1, 1, ?)", messages+1).Error; err != nil {
			return err
		}
		for i := 1; i <= messages; i++ {
			role, text := "user", fmt.Sprintf("word%d common", r.IntN(50))
			switch i % 5 {
			case 1, 2:
				role, text = "toolResult", fmt.Sprintf(`{"output":"line\nword%d common","exit":0,"more":["{\"inner\":\"text\"}"]}`, r.IntN(50))
			case 3:
				role, text = "toolResult", fmt.Sprintf(`{"cut":"word%d`, r.IntN(50))
			}
			if err := tx.Exec(`INSERT INTO messages (session_id, seq, session_key, id, role, json, created_at) VALUES ('s', ?, 'k', ?, ?, '{"role":"user"}', ?)`, i, fmt.Sprint("m", i), role, i).Error; err != nil {
				return err
			}
			if err := tx.Exec("INSERT INTO message_texts (id, session_key, session_id, seq, words) VALUES (?, 'k', 's', ?, ?)", i*perMilli, i, text).Error; err != nil {
				return err
			}
			if err := tx.Exec("INSERT INTO audit (seq, at, kind, node, session_key, rule, entry, hash) VALUES (?, ?, 'call', 'tower', 'k', '', ?, '')", i, i,
				fmt.Sprintf(`{"kind":"call","what":"make word%d"}`, r.IntN(50))).Error; err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func shut(db *gorm.DB) {
	if pool, err := db.DB(); err == nil {
		pool.Close()
	}
}

// contents returns everything in a database as one text.
func contents(t testing.TB, db *gorm.DB) string {
	t.Helper()
	var b strings.Builder
	for _, q := range []string{
		"SELECT name || ': ' || sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name",
		"SELECT id || ' ' || seq || ' ' || words FROM message_texts ORDER BY id",
		"SELECT coalesce(group_concat(rowid), '') FROM message_search WHERE message_search MATCH 'word7 OR inner OR exit'",
		"SELECT coalesce(group_concat(rowid), '') FROM message_search WHERE message_search MATCH 'wor*'",
		"SELECT coalesce(group_concat(rowid), '') FROM audit_search WHERE audit_search MATCH 'make AND word7'",
		"SELECT coalesce(group_concat(rowid), '') FROM audit_search WHERE audit_search MATCH 'ma*'",
		"SELECT term || ' ' || doc FROM audit_terms ORDER BY term",
		"PRAGMA user_version",
	} {
		var lines []string
		if err := db.Raw(q).Scan(&lines).Error; err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s\n%s\n", q, strings.Join(lines, "\n"))
	}
	for _, index := range []string{"message_search", "audit_search"} {
		check := "INSERT INTO " + index + " (" + index + ") VALUES ('integrity-check')"
		if err := db.Exec(check).Error; err != nil {
			t.Errorf("%s: %v", index, err)
		}
	}
	return b.String()
}

// small makes long migrations process few rows at a time.
func small(t testing.TB, rows int) {
	was := inParts
	inParts = map[int]parts{}
	for n, p := range was {
		p.rows = rows
		inParts[n] = p
	}
	t.Cleanup(func() { inParts = was })
}

func TestAMigrationInPartsDoesWhatItsFileSays(t *testing.T) {
	dir := t.TempDir()
	whole, parted := filepath.Join(dir, "whole.db"), filepath.Join(dir, "parts.db")
	old(t, whole, 203)
	if err := os.WriteFile(parted, must(os.ReadFile(whole))(t), 0o600); err != nil {
		t.Fatal(err)
	}
	small(t, 10)
	parts := inParts
	inParts = nil
	db := must(connect(t.Context(), whole, 1, "immediate"))(t)
	defer shut(db)
	if err := migrate(t.Context(), db, migrations, nil); err != nil {
		t.Fatal(err)
	}
	inParts = parts
	var told []string
	db2 := must(connect(t.Context(), parted, 1, "immediate"))(t)
	defer shut(db2)
	if err := migrate(t.Context(), db2, migrations, func(p Progress) { told = append(told, p.String()) }); err != nil {
		t.Fatal(err)
	}
	if a, b := contents(t, db), contents(t, db2); a != b {
		t.Errorf("in one piece:\n%s\nin parts:\n%s", a, b)
	}
	for _, want := range []string{"step 1 of 5, about 0 %", "step 1 of 5, about 49 %", "step 2 of 5", "step 3 of 5, about 98 %", "step 5 of 5"} {
		if !slices.Contains(told, want) {
			t.Errorf("%q is not among what was told: %q", want, told)
		}
	}
	var mode string
	if db2.Raw("PRAGMA synchronous").Scan(&mode); mode != "2" {
		t.Errorf("synchronous = %s after the update", mode)
	}
}

func TestANewStoreTellsOfNoUpdate(t *testing.T) {
	s := must(OpenTelling(t.Context(), filepath.Join(t.TempDir(), "x.db"), func(p Progress) { t.Errorf("told %v", p) }))(t)
	s.Close()
}

// childOld, if set, makes the test binary migrate that store, one row at a time, and print each
// step. It waits for a byte of input before the next step, so that the other process can kill it in
// a certain step.
const childOld = "FAIRLEAD_STORE_TEST_OLD"

func init() {
	if path := os.Getenv(childOld); path != "" {
		for n, p := range inParts {
			p.rows = 1
			inParts[n] = p
		}
		s, err := OpenTelling(context.Background(), path, func(p Progress) {
			fmt.Println(p)
			os.Stdin.Read(make([]byte, 1))
		})
		if err == nil {
			err = s.Close()
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

func TestAnUpdateThatIsKilledGoesOnWhereItWas(t *testing.T) {
	dir := t.TempDir()
	whole, killed := filepath.Join(dir, "whole.db"), filepath.Join(dir, "killed.db")
	old(t, whole, 50)
	if err := os.WriteFile(killed, must(os.ReadFile(whole))(t), 0o600); err != nil {
		t.Fatal(err)
	}
	must(Open(t.Context(), whole))(t).Close()
	exe := must(os.Executable())(t)
	kills, last := 0, ""
	for _, until := range []string{"step 1 of 5, about 30 %", "step 3 of 5, about 20 %", "step 1 of 3, about 60 %", "never"} {
		cmd := exec.CommandContext(t.Context(), exe)
		cmd.Env = append(os.Environ(), childOld+"="+killed)
		in, out := must(cmd.StdinPipe())(t), must(cmd.StdoutPipe())(t)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		first := ""
		for lines := bufio.NewScanner(out); lines.Scan(); {
			if first == "" {
				first = lines.Text()
			}
			if _, err := in.Write([]byte("\n")); err != nil {
				t.Fatal(err)
			}
			if lines.Text() == until {
				cmd.Process.Kill()
				kills++
				break
			}
		}
		if err := cmd.Wait(); until == "never" && err != nil {
			t.Fatal(err)
		}
		if last != "" && strings.HasSuffix(first, "about 0 %") {
			t.Errorf("after %q it began again with %q", last, first)
		}
		last = until
	}
	if kills < 3 {
		t.Errorf("%d kills: nothing is proved", kills)
	}
	a, b := must(Open(t.Context(), whole))(t), must(Open(t.Context(), killed))(t)
	defer a.Close()
	defer b.Close()
	if want, got := contents(t, a.w), contents(t, b.w); want != got {
		t.Errorf("in one go:\n%s\nkilled:\n%s", want, got)
	}
}

func TestAnUpdateThatIsEndedSaysSoAndGoesOnLater(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	old(t, path, 100)
	small(t, 5)
	ctx, cancel := context.WithCancel(t.Context())
	_, err := OpenTelling(ctx, path, func(p Progress) {
		if p.Percent > 40 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "goes on at the next start") {
		t.Errorf("error = %v", err)
	}
	first := Progress{}
	s := must(OpenTelling(t.Context(), path, func(p Progress) {
		if first.Steps == 0 {
			first = p
		}
	}))(t)
	defer s.Close()
	if first.Step != 1 || first.Percent < 40 {
		t.Errorf("it went on at %v", first)
	}
	if found, _, err := s.Search(t.Context(), "inner", "", 0, 0, 0, 100); err != nil || len(found) != 40 {
		t.Errorf("%d found, %v", len(found), err)
	}
	if got := must(s.Messages(t.Context(), protocol.SessionKey("k"), 0, 0))(t); len(got) != 100 {
		t.Errorf("%d messages", len(got))
	}
}

package browse

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

// writeAsAgent writes a file as a call of a run does.
func writeAsAgent(t *testing.T, b *Browser, run protocol.RunID, name, text string) {
	t.Helper()
	p, err := b.ws.Resolve(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.ws.Write(p, []byte(text), "", b.Backup("call", "chat", run)); err != nil {
		t.Fatal(err)
	}
}

func changesOf(t *testing.T, b *Browser) []protocol.FileChange {
	t.Helper()
	out, err := do[protocol.FilesChangesResult](t, b, protocol.ActChanges, protocol.FilesChangesParams{SessionKey: "chat"})
	if err != nil {
		t.Fatal(err)
	}
	return out.Changes
}

func of(c protocol.FileChange) protocol.FilesChangeParams {
	return protocol.FilesChangeParams{ID: c.ID, Path: c.Path}
}

func text(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) {
		return "<none>"
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestRevertRestoresTheContentBeforeTheRun(t *testing.T) {
	t.Parallel()
	b, dir := browser(t)
	file := filepath.Join(dir, "a.txt")
	put(t, file, "one\n")
	writeAsAgent(t, b, "r1", "a.txt", "two\n")
	writeAsAgent(t, b, "r1", "a.txt", "three\n")
	writeAsAgent(t, b, "r1", "new.txt", "n\n")
	list := changesOf(t, b)
	for _, c := range list {
		if c.Reverted {
			t.Errorf("before a revert: got %+v, want a change that stands", c)
		}
	}
	if len(list) != 2 || list[0].Path != filepath.Join(dir, "new.txt") || !list[0].New || list[1].Path != file || list[1].New || !list[1].Last {
		t.Fatalf("got %+v, want the new file and the last change of the other", list)
	}
	d, err := do[protocol.FilesDiffResult](t, b, protocol.ActDiff, of(list[1]))
	if err != nil || d.State != protocol.ChangeStands || !strings.Contains(d.Diff, "-one\n+three\n") {
		t.Errorf("got %+v, error %v, want the change from one to three", d, err)
	}
	if _, err := do[protocol.FilesDone](t, b, protocol.ActRevert, of(list[1])); err != nil || text(t, file) != "one\n" {
		t.Errorf("got %q, error %v, want %q", text(t, file), err, "one\n")
	}
	// A second time it does nothing.
	if _, err := do[protocol.FilesDone](t, b, protocol.ActRevert, of(list[1])); err != nil || text(t, file) != "one\n" {
		t.Errorf("the second time: got %q, error %v, want %q", text(t, file), err, "one\n")
	}
	if d, err := do[protocol.FilesDiffResult](t, b, protocol.ActDiff, of(list[1])); err != nil || d.State != protocol.ChangeReverted {
		t.Errorf("got %+v, error %v, want a reverted change", d, err)
	}
	if _, err := do[protocol.FilesDone](t, b, protocol.ActRevert, of(list[0])); err != nil || text(t, filepath.Join(dir, "new.txt")) != "<none>" {
		t.Errorf("a file that the agent made: %v; want no error", err)
	}
	for _, c := range changesOf(t, b) {
		if !c.Reverted {
			t.Errorf("after the revert: got %+v, want it reverted", c)
		}
	}
	writeAsAgent(t, b, "r2", "a.txt", "six\n") // as long as the earlier content
	if list := changesOf(t, b); list[0].Path != file || list[0].Reverted || !list[0].Last {
		t.Errorf("the agent's next change: got %+v, want the last of the file", list[0])
	}
	if other := of(list[1]); true {
		other.Path = filepath.Join(dir, "b.txt")
		if _, err := do[protocol.FilesDone](t, b, protocol.ActRevert, other); err == nil {
			t.Error("a change of another file than the rules judged was reverted")
		}
	}
}

func TestChangeOfOneCallIsRevertedAndRepeated(t *testing.T) {
	t.Parallel()
	b, dir := browser(t)
	file, fresh := filepath.Join(dir, "a.txt"), filepath.Join(dir, "new.txt")
	put(t, file, "one\n")
	write := func(call protocol.CallID, name, text string) {
		t.Helper()
		p, err := b.ws.Resolve(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := b.ws.Write(p, []byte(text), "", b.Backup(call, "chat", "r")); err != nil {
			t.Fatal(err)
		}
	}
	write("c1", "a.txt", "two\n")
	write("c2", "a.txt", "three\n")
	write("c3", "new.txt", "new\n")
	revert := func(call protocol.CallID, path string, redo bool) error {
		_, err := do[protocol.FilesDone](t, b, protocol.ActRevert, protocol.FilesChangeParams{CallID: call, Path: path, Redo: redo})
		return err
	}
	if err := revert("c1", file, false); err == nil || !strings.Contains(err.Error(), "was changed after") {
		t.Errorf("a later call had changed the file: %v", err)
	}
	for _, step := range []struct {
		call protocol.CallID
		path string
		redo bool
		want string
	}{
		{"c2", file, false, "two\n"},
		{"c2", file, false, "two\n"},
		{"c1", file, false, "one\n"},
		{"c1", file, true, "two\n"},
		{"c2", file, true, "three\n"},
		{"c2", file, true, "three\n"},
		{"c2", file, false, "two\n"},
		{"c3", fresh, false, "<none>"},
		{"c3", fresh, true, "new\n"},
	} {
		if err := revert(step.call, step.path, step.redo); err != nil || text(t, step.path) != step.want {
			t.Fatalf("%s, redo %v: %q, %v, want %q", step.call, step.redo, text(t, step.path), err, step.want)
		}
	}
	put(t, file, "mine\n")
	if err := revert("c2", file, true); err == nil || text(t, file) != "mine\n" {
		t.Errorf("the person had changed the file: %v", err)
	}
}

func TestRevertRefusesAnAlteredFile(t *testing.T) {
	t.Parallel()
	b, dir := browser(t)
	file := filepath.Join(dir, "a.txt")
	put(t, file, "one\n")
	writeAsAgent(t, b, "r1", "a.txt", "two\n")
	put(t, file, "mine\n")
	c := changesOf(t, b)[0]
	if _, err := do[protocol.FilesDone](t, b, protocol.ActRevert, of(c)); err == nil || !strings.Contains(err.Error(), "changed after the agent's change") || text(t, file) != "mine\n" {
		t.Errorf("got error %v, file %q, want that it changed after the agent's change", err, text(t, file))
	}
	if d, err := do[protocol.FilesDiffResult](t, b, protocol.ActDiff, of(c)); err != nil || d.State != protocol.ChangeAltered {
		t.Errorf("got %+v, error %v, want an altered change", d, err)
	}
	// The agent continues from there: that is a separate change, and the one before does not belong
	// to the last run.
	writeAsAgent(t, b, "r2", "a.txt", "three\n")
	list := changesOf(t, b)
	if len(list) != 2 || !list[0].Last || list[1].Last {
		t.Fatalf("got %+v, want two changes, the first the last one", list)
	}
	if _, err := do[protocol.FilesDone](t, b, protocol.ActRevert, of(list[0])); err != nil || text(t, file) != "mine\n" {
		t.Errorf("got error %v, file %q, want %q", err, text(t, file), "mine\n")
	}
}

func TestBackupWithoutAWriteIsNotAChange(t *testing.T) {
	t.Parallel()
	b, dir := browser(t)
	file := filepath.Join(dir, "a.txt")
	put(t, file, "one\n")
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	// The process is killed right after it.
	b.Backup("call", "chat", "r1")(file, f, strings.NewReader("two\n"), strings.Repeat("0", 64))
	c := changesOf(t, b)[0]
	if d, err := do[protocol.FilesDiffResult](t, b, protocol.ActDiff, of(c)); err != nil || d.State != protocol.ChangeReverted || d.Diff != "" {
		t.Errorf("got %+v, error %v, want a reverted change without a diff", d, err)
	}
	if _, err := do[protocol.FilesDone](t, b, protocol.ActRevert, of(c)); err != nil || text(t, file) != "one\n" {
		t.Errorf("got error %v, file %q, want %q", err, text(t, file), "one\n")
	}
}

// endless returns zeros.
type endless struct{}

func (endless) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestTooLargeOrOldBackupsAreDropped(t *testing.T) {
	t.Parallel()
	b, dir := browser(t)
	b.backups.save(backup{ID: "000000000000001-a", Session: "chat", Path: filepath.Join(dir, "a"), After: "x"}, io.LimitReader(endless{}, maxFileBytes+1), strings.NewReader(""))
	list := changesOf(t, b)
	if len(list) != 1 || !strings.Contains(list[0].Lost, "larger than 67 MB") {
		t.Fatalf("got %+v, want one change without its old content", list)
	}
	if _, err := do[protocol.FilesDone](t, b, protocol.ActRevert, of(list[0])); err == nil {
		t.Error("what is not kept was put back")
	}
	writeAsAgent(t, b, "r", "new", "n")
	if err := b.Sweep(time.Now()); err != nil || len(changesOf(t, b)) != 1 {
		t.Errorf("before 30 days: got error %v, changes %+v, want one", err, changesOf(t, b))
	}
	if err := b.Sweep(time.Now().Add(maxAge + time.Hour)); err != nil || len(changesOf(t, b)) != 0 {
		t.Errorf("after 30 days: got error %v, changes %+v, want none", err, changesOf(t, b))
	}
	info, err := os.Stat(b.backups.dir)
	if err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("got %v, error %v, want a folder that others cannot read", info, err)
	}
}

func TestChangesByHandAreNotTheAgents(t *testing.T) {
	t.Parallel()
	for name, undo := range map[string]bool{"after the agent's change": false, "after it was undone": true} {
		t.Run(name, func(t *testing.T) {
			b, dir := browser(t)
			file := filepath.Join(dir, "a.txt")
			put(t, file, "one\n")
			writeAsAgent(t, b, "r1", "a.txt", "one\nagent\n")
			if undo {
				if _, err := do[protocol.FilesDone](t, b, protocol.ActRevert, of(changesOf(t, b)[0])); err != nil {
					t.Fatalf("undoing the change: %v", err)
				}
			}
			put(t, file, text(t, file)+"mine\n")
			c := changesOf(t, b)[0]
			if c.Altered == undo || c.Reverted != undo {
				t.Errorf("got altered %v, reverted %v, want %v, %v", c.Altered, c.Reverted, !undo, undo)
			}
			d, err := do[protocol.FilesDiffResult](t, b, protocol.ActDiff, of(c))
			if err != nil || strings.Contains(d.Diff, "mine") || !strings.Contains(d.Diff, "+agent") {
				t.Errorf("the diff is %q (%s), %v, want what the agent wrote", d.Diff, d.Why, err)
			}
		})
	}
}

func TestUndoingACallLeavesTheCallsBeforeIt(t *testing.T) {
	t.Parallel()
	b, dir := browser(t)
	put(t, filepath.Join(dir, "a.txt"), "one\n")
	writeAsAgent(t, b, "r1", "a.txt", "two\n")
	writeAsAgent(t, b, "r1", "a.txt", "three\n")
	last := changesOf(t, b)[0]
	list, err := b.backups.load()
	if err != nil {
		t.Fatal(err)
	}
	undone := &change{list[1], list[1], list[1:]}
	put(t, last.Path, "two\n")
	if err := b.backups.mark(undone, true); err != nil {
		t.Fatal(err)
	}
	var standing []protocol.FileChange
	for _, c := range changesOf(t, b) {
		if !c.Reverted && !c.Altered {
			standing = append(standing, c)
		}
	}
	d, err := do[protocol.FilesDiffResult](t, b, protocol.ActDiff, of(standing[0]))
	if len(standing) != 1 || err != nil || !strings.Contains(d.Diff, "+two") || strings.Contains(d.Diff, "three") {
		t.Errorf(`%d changes stand, the diff of the first is %q, %v; want 1, one with "+two" and no error`, len(standing), d.Diff, err)
	}
}

package transfer_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

func writeFile(t *testing.T, text string, path ...string) string {
	t.Helper()
	name := filepath.Join(path...)
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)); err != nil {
		t.Fatal(err)
	}
	return name
}

func checkFile(t *testing.T, want string, path ...string) {
	t.Helper()
	if got, err := os.ReadFile(filepath.Join(path...)); err != nil || string(got) != want {
		t.Errorf("%s is %.40q, %v, want %.40q", filepath.Join(path...), got, err, want)
	}
}

func (r *testGateway) undoTransfer(id protocol.TransferID) (protocol.Transfer, error) {
	return client.Call(r.t.Context(), r.c, protocol.TransferUndo, protocol.TransferParams{ID: id})
}

func TestReplacedFilesCanBeRestored(t *testing.T) {
	r := newTestGateway(t, "a", "b")
	from, to := r.nodes["a"].dir, r.nodes["b"].dir
	for _, name := range []string{"tree/x.txt", "tree/deep/y.txt", "tree/same.txt", "tree/new.txt", "tree/edited.txt"} {
		writeFile(t, "new "+filepath.Base(name), from, name)
	}
	writeFile(t, "old x", to, "in/tree/x.txt")
	writeFile(t, "old y", to, "in/tree/deep/y.txt")
	writeFile(t, "new same.txt", to, "in/tree/same.txt")
	writeFile(t, "old edited", to, "in/tree/edited.txt")
	begin := func() protocol.Transfer {
		t.Helper()
		tr := r.waitEnd(r.startTransfer(protocol.TransferStartParams{Sources: []string{"a:tree"}, Destination: "b:in/", Conflict: protocol.ConflictOverwrite}).ID, patience)
		if tr.State != protocol.TransferDone {
			t.Fatalf("got %+v, want it done", tr)
		}
		return tr
	}
	tr := begin()
	if tr.Kept != 3 || !tr.Undoable(time.Now()) || tr.Undoable(time.Now().Add(31*24*time.Hour)) {
		t.Errorf("got %+v, want 3 replaced files that can be restored for a time", tr)
	}
	checkFile(t, "new x.txt", to, "in/tree/x.txt")
	// The next transfer finds all files in place and replaces nothing.
	if again := begin(); again.Kept != 0 || again.Undoable(time.Now()) {
		t.Errorf("the second time: got %+v, want no replaced file", again)
	}
	writeFile(t, "somebody's own", to, "in/tree/edited.txt")
	done, err := r.undoTransfer(tr.ID)
	if err != nil || done.Undone != 2 || done.Kept != 1 || len(done.Problems) != 1 || done.Problems[0].Path != "tree/edited.txt" || !strings.Contains(done.Problems[0].Text, "changed since") {
		t.Errorf("got %+v, error %v, want 2 undone and 1 left as changed since", done, err)
	}
	checkFile(t, "old x", to, "in/tree/x.txt")
	checkFile(t, "old y", to, "in/tree/deep/y.txt")
	checkFile(t, "new same.txt", to, "in/tree/same.txt")
	checkFile(t, "new new.txt", to, "in/tree/new.txt")
	checkFile(t, "somebody's own", to, "in/tree/edited.txt")
	if got := r.auditLines(); got[len(got)-1] != "Undid the transfer of tree from a to b | by you on test" {
		t.Errorf("audit log: got %q, want the undone transfer last", got)
	}
	// The changed file is restored once its replacement is out of the way; then nothing remains.
	if err := os.Remove(filepath.Join(to, "in/tree/edited.txt")); err != nil {
		t.Fatal(err)
	}
	if done, err = r.undoTransfer(tr.ID); err != nil || done.Undone != 3 || done.Kept != 0 || len(done.Problems) != 0 {
		t.Errorf("got %+v, error %v, want 3 undone", done, err)
	}
	checkFile(t, "old edited", to, "in/tree/edited.txt")
	if _, err = r.undoTransfer(tr.ID); !errors.Is(err, protocol.ErrConflict) {
		t.Errorf("once more: %v", err)
	}
	// Sent again, it is replaced again.
	if _, err := client.Call(t.Context(), r.c, protocol.TransferRetry, protocol.TransferParams{ID: begin().ID}); !errors.Is(err, protocol.ErrConflict) {
		t.Errorf("a retry of what is done: %v", err)
	}
	checkFile(t, "new x.txt", to, "in/tree/x.txt")
}

func TestUndoIsRefusedWhereSendingIs(t *testing.T) {
	r := newTestGateway(t, "a", "b")
	to := r.nodes["b"].dir
	writeFile(t, "new", r.nodes["a"].dir, "x")
	writeFile(t, "old", to, "x")
	tr := r.waitEnd(r.startTransfer(protocol.TransferStartParams{Sources: []string{"a:x"}, Destination: "b:x", Conflict: protocol.ConflictOverwrite}).ID, patience)
	if tr.Kept != 1 {
		t.Fatalf("got %+v, want one replaced file", tr)
	}
	rule, err := client.Call(t.Context(), r.c, protocol.RulePut, protocol.RulePutParams{Policy: []byte(`{"tool":"gsv__Transfer","verdict":"deny"}`)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.undoTransfer(tr.ID); !errors.Is(err, protocol.ErrForbidden) {
		t.Errorf("a denied one: %v", err)
	}
	checkFile(t, "new", to, "x")
	if _, err := client.Call(t.Context(), r.c, protocol.RuleDelete, protocol.RuleParams{ID: rule.ID}); err != nil {
		t.Fatal(err)
	}
	r.nodes["b"].stop()
	for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
		if _, err = r.undoTransfer(tr.ID); errors.Is(err, protocol.ErrUnavailable) {
			break
		} else if time.Now().After(end) {
			t.Fatalf("the machine is away: %v", err)
		}
	}
	r.startNode("b")
	r.waitOnline("b")
	if done, err := r.undoTransfer(tr.ID); err != nil || done.Undone != 1 {
		t.Errorf("got %+v, error %v, want 1 undone", done, err)
	}
	checkFile(t, "old", to, "x")
}

// The files that a cancelled transfer replaced can be restored too.
func TestACancelledTransferCanBeUndone(t *testing.T) {
	r := newTestGateway(t, "a", "b")
	to := r.nodes["b"].dir
	writeFile(t, "new", r.nodes["a"].dir, "tree/a")
	r.createFile("a", "tree/big", 48<<20)
	writeFile(t, "old", to, "tree/a")
	r.nodes["a"].wire.slow.setOn(true)
	tr := r.startTransfer(protocol.TransferStartParams{Sources: []string{"a:tree"}, Destination: "b:", Conflict: protocol.ConflictOverwrite})
	r.waitTransfer(tr.ID, patience, func(now protocol.Transfer) bool { return now.BytesDone > 4<<20 })
	if _, err := r.undoTransfer(tr.ID); !errors.Is(err, protocol.ErrConflict) {
		t.Errorf("while it runs: %v", err)
	}
	checkFile(t, "new", to, "tree/a")
	if _, err := client.Call(t.Context(), r.c, protocol.TransferCancel, protocol.TransferParams{ID: tr.ID}); err != nil {
		t.Fatal(err)
	}
	tr = r.waitEnd(tr.ID, patience)
	if done, err := r.undoTransfer(tr.ID); err != nil || done.Undone != 1 {
		t.Errorf("got %+v, error %v, want 1 undone", done, err)
	}
	checkFile(t, "old", to, "tree/a")
	waitNoUnfinished(t, to)
}

package stream

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"fairlead/gateway/protocol"
)

// replaces retains a file that is about to be replaced, and reports a problem if that fails,
// because the person wanted it replaced anyway. back undoes it if nothing replaces the file.
func (r *Receiver) replaces(line replaced) (back func()) {
	if r.Transfer == "" {
		return func() {}
	}
	if r.old == nil {
		if r.Replaces != nil {
			r.Replaces()
		}
		r.old = openKept(r.Root, r.Transfer)
	}
	back, err := r.old.keep(line)
	if err != nil {
		r.problem(line.Name, "What was there before is not kept: "+reason(err).Error())
	}
	return back
}

// noteTrash records that a folder's trash is about to get replaced files.
func (l *Ledger) noteTrash(folder string) {
	if l == nil {
		return
	}
	sum := sha256.Sum256([]byte(folder))
	name := filepath.Join(l.dir, "trash", hex.EncodeToString(sum[:8]))
	if os.MkdirAll(filepath.Dir(name), 0o700) == nil {
		os.WriteFile(name, []byte(strconv.Quote(folder)+"\n"), 0o600)
	}
}

// sweepTrash removes expired replaced files.
func (l *Ledger) sweepTrash(files Files) {
	dir := filepath.Join(l.dir, "trash")
	list, _ := os.ReadDir(dir) // without the folder, nothing was replaced
	for _, e := range list {
		name := filepath.Join(dir, e.Name())
		raw, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		folder, err := strconv.Unquote(strings.TrimSpace(string(raw)))
		if err != nil {
			os.Remove(name)
			continue
		}
		t, err := files.Target(strings.TrimPrefix(folder, "gsv:"), true, false)
		if err != nil {
			continue // it may be reachable the next time
		}
		if !sweepKept(t.Root, time.Now().Add(-KeptAge)) {
			os.Remove(name)
		}
		t.Root.Close()
	}
}

// dropKept removes the oldest entry of a folder's trash, and reports whether there was one.
func dropKept(root *os.Root) bool {
	list := keptEntries(root)
	return len(list) > 0 && root.RemoveAll(path.Join(trashName, list[0])) == nil
}

// undo restores the files that a transfer replaced, once no attempt of it uses its files.
func (e *Ends) undo(p protocol.TransferUndoEvent) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.shut {
		return
	}
	mine, pass := e.turnLocked(turn{id: p.ID}, nil)
	e.wg.Go(func() {
		defer pass()
		mine()
		out := protocol.TransferUndone{ID: p.ID}
		t, err := e.files.Target(p.Path, p.Into, false)
		if err != nil {
			out.Error = err.Error()
		} else {
			u := undo(t.Root, p.ID)
			out.Back, out.Problems = u.back, u.problems
			t.Root.Close()
		}
		e.log.Info("What a transfer replaced was brought back", "transfer", p.ID, "files", out.Back, "problems", len(out.Problems))
		ctx, cancel := context.WithTimeout(context.Background(), confirmLimit)
		defer cancel()
		e.peer.Report(ctx, protocol.TransferFinish.Name, protocol.TransferDoneParams{TransferID: &p.TransferID, Undone: &out}, false)
	})
}

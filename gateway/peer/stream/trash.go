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

// retainReplaced retains a file that is about to be replaced, and reports a problem if that fails,
// because the person wanted it replaced anyway. back undoes it if nothing replaces the file.
func (r *Receiver) retainReplaced(line replacedFile) (back func()) {
	if r.Transfer == "" {
		return func() {}
	}
	if r.trash == nil {
		if r.OnReplace != nil {
			r.OnReplace()
		}
		r.trash = openTrashEntry(r.Root, r.Transfer)
	}
	back, err := r.trash.add(line)
	if err != nil {
		r.addProblem(line.Name, "The previous version could not be saved: "+withoutPath(err).Error())
	}
	return back
}

// addTrash records that a folder's trash is about to get replaced files.
func (l *Unfinished) addTrash(folder string) {
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
func (l *Unfinished) sweepTrash(files Files) {
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
		if !sweepTrashFolder(t.Root, time.Now().Add(-TrashAge)) {
			os.Remove(name)
		}
		t.Root.Close()
	}
}

// removeOldestTrash removes the oldest entry of a folder's trash, and reports whether there was
// one.
func removeOldestTrash(root *os.Root) bool {
	list := trashEntries(root)
	return len(list) > 0 && root.RemoveAll(path.Join(trashName, list[0])) == nil
}

// undo restores the files that a transfer replaced, once no attempt of it uses its files.
func (e *Ends) undo(p protocol.TransferUndoEvent) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	wait, done := e.enqueueLocked(attemptID{id: p.ID}, nil)
	e.wg.Go(func() {
		defer done()
		wait()
		out := protocol.TransferUndone{ID: p.ID}
		t, err := e.files.Target(p.Path, p.Into, false)
		if err != nil {
			out.Error = err.Error()
		} else {
			u := undo(t.Root, p.ID)
			out.Back, out.Problems = u.restored, u.problems
			t.Root.Close()
		}
		e.log.Info("Replaced files restored", "transfer", p.ID, "files", out.Back, "problems", len(out.Problems))
		ctx, cancel := context.WithTimeout(context.Background(), confirmLimit)
		defer cancel()
		e.peer.Report(ctx, protocol.TransferFinish.Name, protocol.TransferDoneParams{TransferID: &p.TransferID, Undone: &out}, false)
	})
}

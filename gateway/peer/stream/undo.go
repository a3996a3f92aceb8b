package stream

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// undo restores the files that a transfer replaced, once no attempt of it uses its files.
func (e *Ends) undo(p protocol.TransferUndoEvent) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		return
	}
	ticket := e.enqueueLocked(p.ID, false)
	e.wg.Go(func() {
		defer ticket.Release()
		ticket.Wait()
		out := protocol.TransferUndone{ID: p.ID}
		if t, err := e.options.Files.Target(p.Path, p.Into, false); err != nil {
			out.Error = err.Error()
		} else {
			out = undo(t.Root, p.ID)
			t.Root.Close()
		}
		e.options.Log.Info("Replaced files restored", "transfer", p.ID, "files", out.Back, "problems", len(out.Problems))
		ctx, cancel := context.WithTimeout(context.Background(), confirmLimit)
		defer cancel()
		e.options.Peer.Report(ctx, protocol.TransferFinish.Name, protocol.TransferDoneParams{TransferID: &p.TransferID, Undone: &out}, false)
	})
}

// undo restores the files that a transfer replaced below a folder. The files that replaced them go
// to the trash, unless they were changed since: such a file stays, and the old one is not restored.
func undo(root *os.Root, id protocol.TransferID) (u protocol.TransferUndone) {
	u.ID = id
	for _, name := range slices.Backward(trashEntries(root)) {
		if !strings.HasSuffix(name, trashSuffix(id)) {
			continue
		}
		entry := path.Join(trashName, name)
		first, last := make(map[string]int), make(map[string]replacedFile) // an interrupted attempt may have retained a file that the next one retained again
		var names []string
		for _, line := range readTrashList(root, entry) {
			if _, err := root.Lstat(path.Join(entry, strconv.Itoa(line.N))); err != nil {
				continue
			}
			if _, ok := first[line.Name]; !ok {
				first[line.Name] = line.N
				names = append(names, line.Name)
			}
			last[line.Name] = line
		}
		for _, name := range names {
			if err := undoFile(root, entry, first[name], last[name]); err == nil {
				u.Back++
			} else if len(u.Problems) < maxProblems {
				u.Problems = append(u.Problems, protocol.TransferProblem{Path: strings.ToValidUTF8(name, "�"), Text: err.Error()})
			}
		}
	}
	return u
}

func undoFile(root *os.Root, entry string, n int, line replacedFile) error {
	old, away := path.Join(entry, strconv.Itoa(n)), path.Join(entry, strconv.Itoa(n)+".new")
	if err := checkParents(root, path.Dir(line.Name)); err != nil {
		return err
	}
	now, err := root.Lstat(line.Name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return format.WithoutPath(root.Rename(old, line.Name))
	case err != nil:
		return format.WithoutPath(err)
	}
	if was, err := root.Lstat(old); err == nil && os.SameFile(was, now) { // it was linked into the trash, but not replaced
		return format.WithoutPath(root.Remove(old))
	}
	link := ""
	if now.Mode()&fs.ModeSymlink != 0 {
		link, _ = root.Readlink(line.Name)
	}
	if link != line.Link || link == "" && (!now.Mode().IsRegular() || now.Size() != line.Size || now.ModTime().UnixNano() != line.Mtime) {
		return fmt.Errorf("it was changed since, so it was not restored; the previous version is %s", old)
	}
	if root.Link(line.Name, away) != nil {
		if err := root.Rename(line.Name, away); err != nil {
			return format.WithoutPath(err)
		}
	}
	return format.WithoutPath(root.Rename(old, line.Name))
}

// checkParents checks that no folder down to dir is a symbolic link.
func checkParents(root *os.Root, dir string) error {
	for ; dir != "."; dir = path.Dir(dir) {
		switch info, err := root.Lstat(dir); {
		case err != nil:
			return format.WithoutPath(err)
		case !info.IsDir():
			return fmt.Errorf("%s is no longer a folder", dir)
		}
	}
	return nil
}

package stream

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"strings"

	"fairlead/gateway/protocol"
)

// receiveFile is the destination of a transfer without records. It writes to a temporary file in
// the same folder and renames it when the file is complete.
func (e *Ends) receiveFile(ctx context.Context, n *end, p protocol.TransferReceive) {
	accept := protocol.TransferAcceptParams{TransferID: &n.id}
	part, err := e.openPartFile(ctx, p)
	if err != nil {
		accept.Error = err.Error()
		n.report(ctx, protocol.TransferAccept.Name, accept, false)
		return
	}
	defer e.options.Unfinished.removeEntry(path.Base(part.temp))
	defer part.discard()
	if !n.report(ctx, protocol.TransferAccept.Name, accept, false) {
		return
	}
	written := int64(0)
	for err == nil {
		var f *Frame
		if f, err = nextFrame(ctx, n.in); err != nil {
			break
		}
		var k int
		k, err = part.f.Write(f.Body())
		written += int64(k)
		f.Free()
		if err != nil {
			err = writeError(WithoutPath(err))
		} else if written > p.Size { // the amount of further data is unknown
			err = writeError(fmt.Errorf("more than the announced %d bytes arrived", p.Size))
		}
	}
	if ctx.Err() != nil || errors.Is(err, errIdle) {
		return
	}
	done := protocol.TransferDoneParams{TransferID: &n.id, BytesWritten: &written}
	switch {
	case !errors.Is(err, io.EOF):
	case written != p.Size:
		err = writeError(fmt.Errorf("%d of %d bytes arrived", written, p.Size))
	default:
		if err = part.commit(ctx, &done); err != nil {
			err = writeError(WithoutPath(err))
		}
	}
	if done.Path = part.abs; err != nil {
		done.Error = err.Error()
	}
	n.report(ctx, protocol.TransferFinish.Name, done, true)
}

// nextFrame is Inbox.Next that waits at most [basicIdle].
func nextFrame(ctx context.Context, in *Inbox) (*Frame, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, basicIdle, errIdle)
	defer cancel()
	return in.Next(ctx)
}

// partFile is a file that does not have its name yet.
type partFile struct {
	root       *os.Root
	to         Target // the folder of root, for messages
	name, temp string // below root, with slashes
	abs        string
	f          *os.File
	mode       fs.FileMode // of the file that it replaces; 0: none
	conflict   string
	id         protocol.TransferID
	replaces   func()
}

func (e *Ends) openPartFile(ctx context.Context, p protocol.TransferReceive) (*partFile, error) {
	if p.Size < 0 {
		return nil, errors.New("The gateway did not give the size of the file")
	}
	if e.options.Consent != nil {
		if err := e.options.Consent(ctx, p); err != nil {
			return nil, err
		}
	}
	t, err := targetOf(e.options.Files, p)
	if err != nil {
		return nil, err
	}
	w := &partFile{root: t.Root, to: t, name: t.Name, abs: t.path(t.Name), id: p.ID, conflict: cmp.Or(p.Conflict, protocol.ConflictOverwrite)}
	w.temp = path.Join(path.Dir(t.Name), partPrefix+rand.Text()+partSuffix)
	w.replaces = func() { e.options.Unfinished.addTrash(t.path(".")) }
	fail := func(err error) (*partFile, error) {
		t.Root.Close()
		return nil, fmt.Errorf("Failed to create file %s: %w", w.abs, WithoutPath(err))
	}
	if p.Place != nil {
		if err := newTargetFolder(t.Root).parents(path.Dir(t.Name)); err != nil {
			return fail(err)
		}
	}
	if info, err := t.Root.Lstat(t.Name); err == nil {
		if !info.Mode().IsRegular() {
			return fail(errors.New("something that is not a regular file already has this name"))
		}
		w.mode = info.Mode().Perm()
	}
	if err := checkSpace(t.Root, p); err != nil {
		return fail(err)
	}
	e.options.Unfinished.addFolder(path.Base(w.temp), t.path(path.Dir(t.Name)))
	if w.f, err = t.Root.OpenFile(w.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666); err != nil {
		return fail(err)
	}
	return w, nil
}

// targetOf opens the folder for one file. With a place, that is the folder of the whole transfer,
// where replaced files are retained, and the file's name may have folders.
func targetOf(files Files, p protocol.TransferReceive) (Target, error) {
	if p.Place == nil {
		return files.Target(p.Path, false, true)
	}
	if err := CheckName(runtime.GOOS, p.Place.Name); err != nil {
		return Target{}, err
	}
	t, err := files.Target(p.Place.Path, p.Place.Into, true)
	if err != nil {
		return t, err
	}
	top, rest, nested := strings.Cut(p.Place.Name, "/")
	if t.Name = cmp.Or(t.Name, top); nested {
		t.Name += "/" + rest
	}
	return t, nil
}

// commit gives the file its name and fills in the report. It counts the file as skipped when an
// existing one stays.
func (w *partFile) commit(ctx context.Context, done *protocol.TransferDoneParams) error {
	if w.mode != 0 && runtime.GOOS != "windows" {
		if err := w.f.Chmod(w.mode); err != nil {
			return err
		}
	}
	info, err := w.f.Stat()
	if err = errors.Join(err, w.f.Sync(), w.f.Close()); err != nil {
		return err
	}
	r := &Receiver{Root: w.root, target: newTargetFolder(w.root), Conflict: w.conflict, Transfer: w.id, OnReplace: w.replaces}
	if r.target.haveSameContent(w.name, w.temp, info.Size()) { // identical, so nothing is replaced
		r.Transfer = ""
	}
	name, skipped, err := r.name(ctx, &receivingFile{entry: entry{name: w.name, size: info.Size(), mtime: info.ModTime().UnixNano()}, part: w.temp})
	if skipped {
		done.Skipped = 1
	}
	w.abs, done.Problems = w.to.path(name), r.result.Problems
	if r.trash != nil {
		r.trash.close()
		done.Kept = len(r.trash.files)
	}
	return err
}

// discard removes an incomplete file and releases everything.
func (w *partFile) discard() {
	w.f.Close()
	w.root.Remove(w.temp)
	w.root.Close()
}

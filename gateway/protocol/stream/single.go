package stream

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"runtime"
	"strings"

	"fairlead/gateway/protocol"
)

// sendFile is seed 004's source: it reports one file, waits for its start, and sends its bytes.
func (e *Ends) sendFile(ctx context.Context, n *end, path string) {
	meta := protocol.TransferMetaParams{TransferID: &n.id, Size: new(int64)}
	f, size, mime, err := e.openFile(path)
	if err != nil {
		meta.Error = err.Error()
		e.report(ctx, n, protocol.TransferMeta.Name, meta, false)
		return
	}
	defer f.Close()
	*meta.Size, meta.Mime = size, mime
	if !e.report(ctx, n, protocol.TransferMeta.Name, meta, false) || !n.started(ctx) {
		return
	}
	done := protocol.TransferCompleteParams{TransferID: &n.id}
	if err := e.sendBytes(ctx, n, f, size); err != nil {
		if ctx.Err() != nil {
			return
		}
		done.Error = err.Error()
	}
	e.report(ctx, n, protocol.TransferComplete.Name, done, true)
}

func (e *Ends) openFile(path string) (f *os.File, size int64, mime string, err error) {
	item, release, err := e.files.Source(path)
	if err != nil {
		return nil, 0, "", err
	}
	defer release()
	f, info, err := openRegular(item.Root, item.At)
	if err != nil {
		//lint:ignore ST1005 the original's text
		return nil, 0, "", fmt.Errorf("Failed to read file %s: %w", item.Abs, reason(err))
	}
	if mime, err = mimeOf(f, item.Text); err != nil {
		f.Close()
		//lint:ignore ST1005 the original's text
		return nil, 0, "", fmt.Errorf("Failed to read file %s: %w", item.Abs, reason(err))
	}
	return f, info.Size(), mime, nil
}

// mimeOf knows a file by its first bytes; text is what it is if they are text, and may be empty.
func mimeOf(f io.ReaderAt, text string) (string, error) {
	head := make([]byte, 512)
	k, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return "", err
	}
	mime, _, _ := strings.Cut(http.DetectContentType(head[:k]), ";")
	switch mime {
	case "text/plain": // nothing was recognized, which the original does not tell either
		return text, nil
	case "application/octet-stream":
		return "", nil
	}
	return mime, nil
}

// mimeOfOne is the MIME type of what is sent when that is one file, and empty when nothing is known of it.
func mimeOfOne(items []Item) string {
	if len(items) != 1 {
		return ""
	}
	one := items[0]
	if info, err := one.Root.Lstat(one.At); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	f, _, err := openRegular(one.Root, one.At)
	if err != nil {
		return "" // sending it will say why
	}
	defer f.Close()
	mime, err := mimeOf(f, one.Text)
	if err != nil {
		return ""
	}
	return mime
}

func (e *Ends) sendBytes(ctx context.Context, n *end, f *os.File, size int64) error {
	sent := int64(0)
	for {
		frame := newFrame(n.id)
		k, err := io.ReadFull(f, frame.buf[idSize:idSize+maxBody])
		frame.buf = frame.buf[:idSize+k]
		if sent += int64(k); k == 0 {
			frame.Free()
		} else if err := e.peer.SendFrame(ctx, frame); err != nil {
			return err
		}
		switch {
		case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
			if sent != size {
				return errMoved
			}
			return nil
		case err != nil:
			return reason(err)
		case sent > size:
			return errMoved
		}
	}
}

// receiveFile is seed 004's destination. Unlike the original's it writes beside the file and puts the new one in its place in one step, when all of it is there.
func (e *Ends) receiveFile(ctx context.Context, n *end, p protocol.TransferReceive) {
	accept := protocol.TransferAcceptParams{TransferID: &n.id}
	part, err := e.openPart(ctx, p)
	if err != nil {
		accept.Error = err.Error()
		e.report(ctx, n, protocol.TransferAccept.Name, accept, false)
		return
	}
	defer e.ledger.done(part.temp)
	defer part.discard()
	if !e.report(ctx, n, protocol.TransferAccept.Name, accept, false) {
		return
	}
	written, kept := int64(0), 0
	for err == nil {
		var f *Frame
		if f, err = n.in.Next(ctx); err != nil {
			break
		}
		var k int
		k, err = part.f.Write(f.Body())
		written += int64(k)
		f.Free()
		if err != nil {
			err = writeError(reason(err))
		} else if written > p.Size { // nobody knows how much more there is
			err = writeError(fmt.Errorf("more arrives than the %d bytes that were announced", p.Size))
		}
	}
	if ctx.Err() != nil {
		return
	}
	switch {
	case !errors.Is(err, io.EOF):
	case written != p.Size:
		err = writeError(fmt.Errorf("%d bytes arrived of %d", written, p.Size))
	default:
		if kept, err = part.commit(ctx); err != nil {
			err = writeError(reason(err))
		}
	}
	done := protocol.TransferDoneParams{TransferID: &n.id, BytesWritten: &written, Path: part.abs, Kept: kept}
	if err != nil {
		done.Error = err.Error()
	}
	e.report(ctx, n, protocol.TransferFinish.Name, done, true)
}

// part is a file that is not yet under its name.
type part struct {
	root       *os.Root
	name, temp string
	abs        string
	f          *os.File
	mode       fs.FileMode // of the file that it replaces; 0: there is none
	conflict   string
	id         protocol.TransferID
	replaces   func()
}

func (e *Ends) openPart(ctx context.Context, p protocol.TransferReceive) (*part, error) {
	if e.consent != nil {
		if err := e.consent(ctx, p); err != nil {
			return nil, err
		}
	}
	t, err := e.files.Target(p.Path, false, true)
	if err != nil {
		return nil, err
	}
	w := &part{root: t.Root, name: t.Name, temp: partPrefix + rand.Text() + partSuffix, abs: t.path(t.Name), id: p.ID}
	w.replaces = func() { e.ledger.noteTrash(t.path(".")) }
	fail := func(err error) (*part, error) {
		t.Root.Close()
		//lint:ignore ST1005 the original's text
		return nil, fmt.Errorf("Failed to create file %s: %w", w.abs, reason(err))
	}
	if info, err := t.Root.Lstat(t.Name); err == nil {
		if !info.Mode().IsRegular() {
			return fail(errors.New("there is a folder, or something else that is no file, of that name"))
		}
		w.mode = info.Mode().Perm()
	}
	if w.conflict = p.Conflict; w.conflict == "" {
		w.conflict = protocol.ConflictOverwrite
	}
	if err := roomFor(t.Root, p); err != nil {
		return fail(err)
	}
	e.ledger.note(w.temp, t.path("."))
	if w.f, err = t.Root.OpenFile(w.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666); err != nil {
		return fail(err)
	}
	return w, nil
}

func (w *part) commit(ctx context.Context) (kept int, err error) {
	if w.mode != 0 && runtime.GOOS != "windows" {
		if err := w.f.Chmod(w.mode); err != nil {
			return 0, err
		}
	}
	info, err := w.f.Stat()
	if err = errors.Join(err, w.f.Sync(), w.f.Close()); err != nil {
		return 0, err
	}
	r := &Receiver{Root: w.root, Conflict: w.conflict, Transfer: w.id, Replaces: w.replaces}
	if r.identical(w.name, w.temp) { // nothing that is worth to be kept
		r.Transfer = ""
	}
	name, _, err := r.name(ctx, &incoming{entry: entry{name: w.name, size: info.Size(), mtime: info.ModTime().UnixNano()}, part: w.temp})
	w.abs = strings.TrimSuffix(w.abs, w.name) + name
	if r.old != nil {
		r.old.close()
		kept = len(r.old.files)
	}
	return kept, err
}

// discard removes what did not become the file, and lets go of everything.
func (w *part) discard() {
	w.f.Close()
	w.root.Remove(w.temp)
	w.root.Close()
}

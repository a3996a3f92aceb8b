package stream

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"runtime"
	"strings"
	"time"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
)

// receive runs the destination's end of a transfer.
func (e *Ends) receive(ctx context.Context, n *end, p protocol.TransferReceive) {
	if p.Stream == nil {
		e.receiveFile(ctx, n, p)
		return
	}
	mark := partPrefixOf(p.Stream.ID)
	t, err := e.openTarget(ctx, p, mark)
	if err != nil {
		n.refuse(ctx, err)
		return
	}
	defer t.Root.Close()
	accept := protocol.TransferAcceptParams{TransferID: &n.id}
	listen := prepareDirect(e, p.Stream, func() (Listener, error) {
		return e.options.Direct.Destination(p.Stream.ID, *p.Stream.Peer)
	})
	if listen != nil {
		defer listen.Close()
		self := listen.Self()
		accept.Peer = &self
	}
	if !n.report(ctx, protocol.TransferAccept.Name, accept, false) {
		return
	}
	r := &Receiver{
		ID: n.id, Transfer: p.Stream.ID, Root: t.Root, Rename: t.Name, Conflict: p.Stream.Conflict, Out: e.options.Peer.SendFrame, In: n.in, checkpoints: e.options.Unfinished.checkpoints(mark, atDestination),
		Requested: Requested{Machine: string(p.Stream.From), Names: p.Stream.Names},
		OnFolder:  func(dir string) { e.options.Unfinished.addFolder(mark, t.path(dir)) },
		OnReplace: func() { e.options.Unfinished.addTrash(t.path(".")) },
	}
	if !p.Stream.Direct && p.Stream.Names != nil { // an older gateway does not know about start-up files
		r.Startup.Allowed = append([]string{}, p.Stream.Startup...)
	}
	if listen != nil {
		direct, stop := context.WithCancel(ctx)
		send, wait := e.acceptDirect(direct, n, listen)
		defer wait()
		defer stop()
		r.Out, r.Progress = send, e.options.Peer.SendFrame
	}
	res, err := r.Run(ctx)
	switch {
	case err == nil && res.Failed == 0 && p.Stream.Attempt <= 1:
		e.options.Unfinished.removeEntry(mark)
	case err == nil && res.Failed == 0: // an earlier attempt may have left unfinished files
		e.options.Unfinished.removeFiles(e.options.Files, mark, time.Time{})
	}
	if err != nil && ctx.Err() != nil {
		e.options.Log.Info("Receiving was interrupted", "transfer", p.Stream.ID, "err", context.Cause(ctx))
		return
	}
	if errors.Is(err, errDirectLost) {
		n.sendRoute(ctx, routeLost)
		return
	}
	done := doneParams(n.id, t, res, err)
	e.options.Log.Info("Received", "transfer", p.Stream.ID, "files", res.New, "skipped", res.Skipped, "failed", res.Failed, "bytes", res.Written, "err", err)
	n.report(ctx, protocol.TransferFinish.Name, done, true)
}

// openTarget opens the folder to write into, if the person's consent and the disk's space allow the
// transfer. mark is the prefix of its unfinished files.
func (e *Ends) openTarget(ctx context.Context, p protocol.TransferReceive, mark string) (Target, error) {
	if e.options.Consent != nil {
		if err := e.options.Consent(ctx, p); err != nil {
			return Target{}, err
		}
	}
	t, err := e.options.Files.Target(p.Path, p.Stream.Into, true)
	if err != nil {
		return t, err
	}
	isUnknown := e.options.Unfinished.touch(mark)
	if p.Stream.Attempt <= 1 || isUnknown { // otherwise it is unknown how much of it is here
		if err := checkSpace(t.Root, p); err != nil {
			t.Root.Close()
			return t, errors.New(format.Capital(err.Error()))
		}
	}
	return t, nil
}

// doneParams returns the report about a result.
func doneParams(id uint32, t Target, res Result, err error) protocol.TransferDoneParams {
	done := protocol.TransferDoneParams{TransferID: &id, BytesWritten: &res.Written, Files: res.New, Skipped: res.Skipped, Failed: res.Failed, Problems: res.Problems, Kept: res.Replaced}
	if res.Top != "" {
		done.Path = t.path(res.Top)
	}
	if res.Files == 1 {
		done.SHA256 = hex.EncodeToString(res.Sum)
	}
	if err != nil {
		done.Error = err.Error()
		if isDiskFull(err) {
			done.Error = diskFullText(err)
		}
	}
	return done
}

// receiveFile is the destination of a transfer without records. It writes to a temporary file in
// the same folder and renames it when the file is complete.
func (e *Ends) receiveFile(ctx context.Context, n *end, p protocol.TransferReceive) {
	part, err := e.openPartFile(ctx, p)
	if err != nil {
		n.refuse(ctx, err)
		return
	}
	defer e.options.Unfinished.removeEntry(path.Base(part.temp))
	defer part.discard()
	if !n.report(ctx, protocol.TransferAccept.Name, protocol.TransferAcceptParams{TransferID: &n.id}, false) {
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
			err = writeError(format.WithoutPath(err))
		} else if written > p.Size { // the amount of further data is unknown
			err = writeError(fmt.Errorf("more than the announced %d bytes arrived", p.Size))
		}
	}
	if ctx.Err() != nil || errors.Is(err, errIdle) {
		return
	}
	done := protocol.TransferDoneParams{TransferID: &n.id, BytesWritten: &written, Path: part.path(part.Name)}
	switch {
	case !errors.Is(err, io.EOF):
	case written != p.Size:
		err = writeError(fmt.Errorf("%d of %d bytes arrived", written, p.Size))
	default:
		if err = part.commit(ctx, &done); err != nil {
			err = writeError(format.WithoutPath(err))
		}
	}
	if err != nil {
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
	Target
	f         *os.File
	temp      string      // path below Root, with slashes
	mode      fs.FileMode // of the file that it replaces; 0: none
	placement *placement
	result    Result // holds the problems
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
	w := &partFile{Target: t, temp: path.Join(path.Dir(t.Name), partPrefix+rand.Text()+partSuffix)}
	w.placement = &placement{
		root: t.Root, target: newTargetFolder(t.Root), conflict: cmp.Or(p.Conflict, protocol.ConflictOverwrite), transfer: p.ID,
		onReplace: func() { e.options.Unfinished.addTrash(t.path(".")) }, result: &w.result,
		keepAlive: func(_ context.Context, f func() error) error { return f() }, // this protocol has no message for it
	}
	if err := w.create(e.options.Unfinished, p); err != nil {
		t.Root.Close()
		return nil, fmt.Errorf("Failed to create file %s: %w", t.path(t.Name), format.WithoutPath(err))
	}
	return w, nil
}

// create creates the file if its name and the disk's space allow that.
func (w *partFile) create(unfinished *UnfinishedFiles, p protocol.TransferReceive) (err error) {
	requested := w.Name
	var note string
	if w.Name, note = newDiskNames(w.Root).fit(requested, func(string) bool { return false }); note != "" {
		w.result.addProblem(requested, note)
		w.temp = path.Join(path.Dir(w.Name), path.Base(w.temp))
	}
	if err := CheckName(runtime.GOOS, w.Name); err != nil {
		return err
	}
	if p.Place != nil {
		if err := w.placement.target.parents(path.Dir(w.Name)); err != nil {
			return err
		}
	}
	if info, err := w.Root.Lstat(w.Name); err == nil {
		if !info.Mode().IsRegular() {
			return errors.New("something that is not a regular file already has this name")
		}
		w.mode = info.Mode().Perm()
	}
	if err := checkSpace(w.Root, p); err != nil {
		return err
	}
	unfinished.addFolder(path.Base(w.temp), w.path(path.Dir(w.Name)))
	w.f, err = w.Root.OpenFile(w.temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	return err
}

// targetOf opens the folder for one file. With a place, that is the folder of the whole transfer,
// where replaced files are retained, and the file's name may have folders.
func targetOf(files Files, p protocol.TransferReceive) (Target, error) {
	if p.Place == nil {
		return files.Target(p.Path, false, true)
	}
	if err := CheckName("", p.Place.Name); err != nil {
		return Target{}, err
	}
	t, err := files.Target(p.Place.Path, p.Place.Into, true)
	if err != nil {
		return t, err
	}
	top, rest, nested := strings.Cut(p.Place.Name, "/")
	t.Name = cmp.Or(t.Name, top)
	if nested {
		t.Name += "/" + rest
	}
	return t, nil
}

// commit gives the file its name and fills in the report. It counts the file as skipped when an
// existing one stays.
func (w *partFile) commit(ctx context.Context, done *protocol.TransferDoneParams) error {
	if w.mode != 0 && runtime.GOOS != "windows" {
		if err := w.f.Chmod(w.mode); err != nil && !isUnsupported(err) {
			return err
		}
	}
	info, err := w.f.Stat()
	if err = errors.Join(err, w.f.Sync(), w.f.Close()); err != nil {
		return err
	}
	if w.placement.target.haveSameContent(w.Name, w.temp, info.Size()) { // identical, so nothing is replaced
		w.placement.transfer = ""
	}
	name, skipped, err := w.placement.name(ctx, &incomingFile{entry: entry{name: w.Name, size: info.Size(), mtime: info.ModTime().UnixNano()}, part: w.temp})
	if skipped {
		done.Skipped = 1
	}
	done.Path, done.Problems = w.path(name), w.result.Problems
	done.Kept = w.placement.closeTrash()
	return err
}

// discard removes an incomplete file and releases everything.
func (w *partFile) discard() {
	w.f.Close()
	w.Root.Remove(w.temp)
	w.Root.Close()
}

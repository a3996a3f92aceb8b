package fs

import (
	"cmp"
	"context"
	"errors"
	"io"
	iofs "io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"fairlead/gateway/peer/diff"
	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/workspace"
)

// previewLast shows the change of a file whose parts are complete, and holds them for the person's
// answer.
func (t writeTool) previewLast(scope access.Scope, in writeIn) protocol.CallPreview {
	x, err := t.lastPart(in)
	if err != nil {
		return problem(in.Path, err)
	}
	defer x.turn.Unlock()
	x.held = time.Now().Add(hold)
	w := x.writer.new
	return preview(scope, in.Path, true, func(ws *workspace.Root, p *protocol.CallPreview, at workspace.Path) {
		var old []byte
		if *p, old = access.PreviewWrite(ws, at, x.writer.expect, diff.MaxFile); p.Problem != "" {
			return
		}
		data, err := io.ReadAll(io.LimitReader(w.Content(), diff.MaxFile+1))
		if err != nil {
			access.SetProblem(p, faultOf(err))
			return
		}
		describeChange(p, ws, at, old, data, protocol.FileContent{Bytes: w.Size(), SHA256: w.Sum()})
	})
}

// lastPart returns the file that the last call of a program finishes, locked. It must name the path
// of the first call and the checksum of the parts.
func (t writeTool) lastPart(in writeIn) (*transfer, error) {
	x, err := t.open.take(in.FileID)
	if err != nil {
		return nil, err
	}
	switch w := x.writer; {
	case w == nil:
		err = protocol.NewFault(protocol.FaultInvalidArgs, "this file_id belongs to a file that is being read")
	case !in.Done || in.SHA256 == "":
		err = protocol.NewFault(protocol.FaultInvalidArgs, "only the program that began a file continues it")
	case in.Path != w.at.String() || in.Chunk != nil || in.ChunkB64 != nil || in.Mode != "" || in.ExpectedSHA256 != "":
		err = protocol.NewFault(protocol.FaultInvalidArgs, "the last call of a file has its path and the checksum of its parts alone")
	case in.SHA256 != w.new.Sum():
		err = protocol.NewFault(protocol.FaultFailedPrecondition, "The parts have the SHA-256 "+w.new.Sum()+", which is not that of the call. Nothing was written.")
	}
	if err != nil {
		x.turn.Unlock()
		return nil, err
	}
	return x, nil
}

// describeChange shows the change from the old content of a file to a new one, and describes the new
// one if not all of the change is shown. data may be only the beginning of what is too large for a
// diff.
func describeChange(p *protocol.CallPreview, ws *workspace.Root, at workspace.Path, old, data []byte, c protocol.FileContent) {
	access.AddDiff(p, ws, at, old, data)
	if p.Truncated {
		c.Type, _, _ = strings.Cut(http.DetectContentType(data), ";")
		p.Content = &c
	}
}

// commit puts the collected content in the place of the file.
func (w *writer) commit(ctx context.Context, ws *workspace.Root, call access.Call) error {
	to, err := resolve(ws, w.at.String()) // with the folders that are open now
	if err != nil {
		return err
	}
	unlock, err := ws.Lock(ctx, to)
	if err != nil {
		return err
	}
	defer unlock()
	if err := w.new.Verify(); err != nil {
		return err
	}
	expect := cmp.Or(call.ExpectedSHA256, w.expect)
	real, _, err := ws.Target(to)
	if (err == nil || errors.Is(err, iofs.ErrNotExist)) && real.Abs == w.new.Path() {
		w.new.Expect(expect)
		_, err = w.new.Commit(w.mode, call.Backup)
		return err
	}
	// It was collected in another folder, or the path leads elsewhere by now.
	there, err := replace(ws, to, expect)
	if err != nil {
		return err
	}
	defer there.Abort()
	if _, err := io.Copy(there, w.new.Content()); err != nil {
		return err
	}
	if there.Sum() != w.new.Sum() {
		return workspace.ErrChanged
	}
	_, err = there.Commit(w.mode, call.Backup)
	return err
}

// destination resolves the path of a file to write. The parts of a file are collected also if its
// folder is not open yet.
func destination(ws *workspace.Root, text string, collects bool) (workspace.Path, error) {
	p, err := resolve(ws, text)
	if _, isOutside := errors.AsType[*workspace.OutsideError](err); isOutside && collects && p.Abs != "" {
		return p, nil
	}
	return p, err
}

// collect begins to collect the content of a file that is written in parts: beside the file, or in
// the workspace if the file's folder does not exist or is not open.
func collect(ws *workspace.Root, p workspace.Path) (*workspace.Replacement, error) {
	ws = ws.WithTarget("") // the place of the parts is not the target
	parent, err := ws.At(filepath.Dir(p.Abs))
	if err == nil {
		var d *workspace.Dir
		if d, err = ws.OpenDir(parent); err == nil {
			d.Close()
			return replace(ws, p, "")
		}
	}
	aside, err := ws.At(filepath.Join(ws.Dir(), "fairlead-parts"))
	if err != nil {
		return nil, err
	}
	return replace(ws, aside, "")
}

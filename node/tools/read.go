package tools

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"hash"
	"io"
	"io/fs"
	"os"
	"unicode/utf8"

	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/node/workspace"
)

const (
	sniff = 8 << 10
	// readTries is how often a Read starts again when the file changes meanwhile.
	readTries = 3
)

type readIn struct {
	Path   string   `json:"path" jsonschema:"file to read; relative to the workspace"`
	Offset *float64 `json:"offset,omitempty" jsonschema:"line to start at, counted from 0; default 0"`
	Limit  *float64 `json:"limit,omitempty" jsonschema:"most lines to read; default all that one call can return"`
}

// readText is the output of Read for a text file. The fields after Lines are extensions.
type readText struct {
	Path    string `json:"path"`
	Content string `json:"content"`
	Lines   int    `json:"lines"`
	// Truncated means fewer lines than requested, or a part of a line: the size limit was reached.
	Truncated bool   `json:"truncated,omitempty"`
	SHA256    string `json:"sha256,omitempty"` // of the file, if all of it was read
}

type readImage struct {
	Content protocol.Content `json:"content"`
}

func (f *files) readTool() toolkit.Tool {
	t := toolkit.Define("Read", doc("read"), toolkit.Traits{Effect: protocol.EffectRead, Idempotent: true, Caps: []string{protocol.CapRead}}, opened(f, (*files).read))
	return toolkit.WithPreview(t, func(_ context.Context, in readIn) (protocol.CallPreview, error) {
		return f.beyond(in.Path, false, func(f *files) (protocol.CallPreview, error) { return previewPath(f.ws, in.Path), nil })
	})
}

func (f *files) read(ctx context.Context, in readIn) (any, error) {
	f = f.bound(ctx)
	leave, err := f.enter(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	offset, err := whole("offset", in.Offset, 0)
	if err != nil {
		return nil, err
	}
	limit, err := whole("limit", in.Limit, -1)
	if err != nil {
		return nil, err
	}
	p, err := resolveFile(f.ws, in.Path)
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		out, changed, err := f.readOnce(ctx, p, offset, limit)
		if changed && try < readTries && ctx.Err() == nil {
			continue
		}
		return out, err
	}
}

// readOnce reads a file's present content. changed reports that the file was changed meanwhile
// other than by appending, so that line numbers may be wrong.
func (f *files) readOnce(ctx context.Context, p workspace.Path, offset, limit int64) (out any, changed bool, err error) {
	file, info, err := f.ws.Open(p)
	if err != nil {
		return nil, false, readError(p, err)
	}
	defer file.Close()
	head := make([]byte, sniff)
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, false, readError(p, err)
	}
	head = head[:n]
	if w := wideOf(head); w != nil {
		if info.Size() > f.limits.ReadWide {
			return nil, false, tooLarge(p, "is UTF-16 and", info.Size(), f.limits.ReadWide)
		}
		if text, ok := readWide(file, w, f.limits.ReadWide); ok {
			out, err = f.text(ctx, p, bytes.NewReader(text), lineRange{offset, offset, limit}, nil)
			return out, false, err
		}
	}
	if !textStart(head, n < sniff) || bytes.IndexByte(head, 0) >= 0 && isImage(head) {
		out, err = f.binary(p, file, head, info.Size())
		return out, false, err
	}
	out, err = f.lineText(ctx, p, file, info, lineRange{offset, offset, limit})
	if errors.Is(err, errNotText) {
		out, err = f.binary(p, file, head, info.Size())
		return out, false, err
	}
	if now, e := file.Stat(); errors.Is(err, errShrank) || e == nil && rewritten(info, now) {
		f.lines.forget(info)
		changed = true
	}
	if errors.Is(err, errShrank) {
		err = readError(p, err)
	}
	return out, changed, err
}

// rewritten reports whether a file with the earlier state before has changed other than by growing.
func rewritten(before, now os.FileInfo) bool {
	return now.Size() < before.Size() || now.Size() == before.Size() && !now.ModTime().Equal(before.ModTime())
}

// lineText reads a file whose start is text.
func (f *files) lineText(ctx context.Context, p workspace.Path, file *os.File, info os.FileInfo, lr lineRange) (any, error) {
	at, skip, err := f.lines.seek(ctx, file, info, lr.offset)
	if errors.Is(err, errShrank) || ctx.Err() != nil && err != nil {
		return nil, err
	}
	if err != nil {
		return nil, readError(p, err)
	}
	lr.skip = skip
	if _, err := file.Seek(at, io.SeekStart); err != nil {
		return nil, readError(p, err)
	}
	var sum hash.Hash
	if lr.offset == 0 && info.Size() <= int64(f.limits.ReadText) {
		sum = sha256.New()
	}
	return f.text(ctx, p, file, lr, sum)
}

// text returns the answer for a text at the beginning of src. If sum is not nil, the whole file is
// written to it.
func (f *files) text(ctx context.Context, p workspace.Path, src io.ReadSeeker, lr lineRange, sum hash.Hash) (any, error) {
	start, err := src.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil, readError(p, err)
	}
	var from io.Reader = src
	if sum != nil {
		from = io.TeeReader(src, sum)
	}
	pg, err := numbered(ctx, from, lr, f.limits.ReadText)
	if errors.Is(err, errDense) {
		if _, err := src.Seek(start, io.SeekStart); err != nil {
			return nil, readError(p, err)
		}
		sum = nil
		pg, err = numbered(ctx, src, lr, maxEncoded/6)
	}
	switch {
	case errors.Is(err, errNotText), ctx.Err() != nil && err != nil:
		return nil, err
	case err != nil:
		return nil, readError(p, err)
	}
	out := readText{Path: p.String(), Content: pg.content, Lines: pg.lines, Truncated: pg.cut}
	if sum != nil && pg.end {
		out.SHA256 = hex.EncodeToString(sum.Sum(nil))
	}
	return out, nil
}

// tooLarge returns an error in the original system's words, with the byte counts.
func tooLarge(p workspace.Path, what string, size, most int64) error {
	if what != "" {
		what += " "
	}
	return failf("File too large: '%s' %shas %d bytes, and at most %d are possible", p, what, size, most)
}

// resolveFile is Resolve for a required path.
func resolveFile(ws *workspace.Root, path string) (workspace.Path, error) {
	if path == "" {
		return workspace.Path{}, failf("path must not be empty")
	}
	return ws.Resolve(path)
}

// readError describes why a file could not be read.
func readError(p workspace.Path, err error) error {
	var outside *workspace.OutsideError
	var swapped *workspace.SwappedError
	var large *workspace.TooLargeError
	switch {
	case errors.As(err, &outside), errors.As(err, &swapped), errors.Is(err, workspace.ErrElsewhere):
		return err
	case errors.As(err, &large):
		return tooLarge(p, "", large.Size, large.Max)
	case errors.Is(err, fs.ErrNotExist):
		return failf("Failed to read '%s': no such file", p)
	}
	return failf("Failed to read '%s': %w", p, unwrapPath(err))
}

// unwrapPath removes the path that package os adds to an error.
func unwrapPath(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// textStart reports whether a file that begins with head can be UTF-8. A character may be cut off
// at the end of head unless head is the whole file.
func textStart(head []byte, all bool) bool {
	if !all {
		head = head[:len(head)-partial(head)]
	}
	return utf8.Valid(head)
}

// readWide reads and converts a UTF-16 file of at most limit bytes.
func readWide(file io.ReaderAt, w *wide, limit int64) (text []byte, ok bool) {
	raw, err := io.ReadAll(io.NewSectionReader(file, 0, limit+1))
	if err != nil || int64(len(raw)) > limit {
		return nil, false
	}
	return w.decode(raw)
}

package tools

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"fairlead/gateway/peer/diff"
	"fairlead/gateway/protocol"
	"fairlead/node/workspace"
)

const (
	diffLimit = 64 << 10
	// maxDiffFile and maxDiffLines bound each side of a diff: comparing more takes too long for an
	// approval, and gigabytes of memory for millions of short lines.
	maxDiffFile  = 4 << 20
	maxDiffLines = 250_000
	maxPrograms  = 32
)

// previewPath previews the path of a reading tool. The target of a link counts, not its name.
func previewPath(ws *workspace.Root, path string) protocol.CallPreview {
	p, err := ws.Resolve(path)
	preview := protocol.CallPreview{Path: p.String(), Outside: p.Outside}
	if err != nil {
		preview.Problem = err.Error()
		return preview
	}
	real, _, err := ws.Target(p)
	// This includes missing files, so that the answer does not reveal which exist.
	preview.Secret = secretOf(ws, real.Abs)
	var outside *workspace.OutsideError
	switch {
	case errors.As(err, &outside):
		preview.Outside, preview.Problem = true, err.Error()
	case err != nil:
		preview.Problem = readError(p, err).Error()
	default:
		preview.Path, preview.Outside = real.String(), real.Outside
	}
	return preview
}

func (f *files) previewWrite(ctx context.Context, in writeIn) (protocol.CallPreview, error) {
	leave, err := f.enter(ctx)
	if err != nil {
		return protocol.CallPreview{}, err
	}
	defer leave()
	preview, old, p := f.previewFile(in.Path, in.ExpectedSHA256)
	if preview.Problem != "" {
		return preview, nil
	}
	if err := f.checkContent(p, in); err != nil {
		preview.Problem = err.Error()
		return preview, nil
	}
	addDiff(&preview, f.ws.Rel(p), old, []byte(in.Content))
	return preview, nil
}

func (f *files) previewEdit(ctx context.Context, in editIn) (protocol.CallPreview, error) {
	leave, err := f.enter(ctx)
	if err != nil {
		return protocol.CallPreview{}, err
	}
	defer leave()
	preview, old, p := f.previewFile(in.Path, in.ExpectedSHA256)
	switch {
	case preview.Problem != "":
		return preview, nil
	case preview.NewFile:
		preview.Problem = notFound(p).Error()
		return preview, nil
	case preview.Truncated:
		preview.Problem = "File too large to be edited. Write it anew, or change it with a command."
		return preview, nil
	}
	data, _, err := f.change(ctx, p, old, in)
	if err != nil {
		preview.Problem = err.Error()
		return preview, nil
	}
	addDiff(&preview, f.ws.Rel(p), old, data)
	return preview, nil
}

// previewFile describes a file that would be written. Preview.Truncated reports that it is too
// large to be shown.
func (f *files) previewFile(path, want string) (preview protocol.CallPreview, old []byte, p workspace.Path) {
	p, err := resolveFile(f.ws, path)
	preview.Path, preview.Outside = p.String(), p.Outside
	if err != nil {
		preview.Problem = err.Error()
		return preview, nil, p
	}
	real, _, err := f.ws.Target(p)
	preview.Secret = secretOf(f.ws, real.Abs)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		preview.Path, preview.Outside = real.String(), real.Outside
	}
	var tooLarge *workspace.TooLargeError
	var outside *workspace.OutsideError
	old, preview.FileSHA256, err = f.ws.ReadFile(p, int64(f.limits.Edit))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		preview.NewFile, preview.FileSHA256, err = true, workspace.Absent, nil
	case errors.As(err, &tooLarge):
		preview.Truncated = true
		preview.FileSHA256, err = f.ws.Hash(p)
	}
	if err != nil {
		preview.Outside = preview.Outside || errors.As(err, &outside)
		preview.Problem = readError(p, err).Error()
		return preview, old, p
	}
	if err = f.ws.Writable(p); err == nil {
		err = checkSum(p, want, preview.FileSHA256)
	}
	if err != nil {
		preview.Problem = writeError(p, err).Error()
	}
	return preview, old, p
}

// addDiff adds the unified diff with three lines of context.
func addDiff(preview *protocol.CallPreview, name string, before, after []byte) {
	name = filepath.ToSlash(name)
	before, after = narrow(before), narrow(after)
	switch {
	case preview.Truncated, len(before) > maxDiffFile, len(after) > maxDiffFile,
		bytes.Count(before, lineFeed) > maxDiffLines, bytes.Count(after, lineFeed) > maxDiffLines, !utf8.Valid(before), !utf8.Valid(after):
		preview.Truncated = true // its content is not shown
		return
	}
	from := name
	if preview.NewFile {
		from = "/dev/null" // on every system, as in the diffs of git
	}
	d := diff.New(from, name, before, after)
	preview.Added, preview.Removed = d.Added, d.Removed
	text := d.Text
	if len(text) > diffLimit {
		preview.Truncated = true
		text = text[:diffLimit]
		if i := strings.LastIndexByte(text, '\n'); i >= 0 {
			text = text[:i+1]
		} else {
			text = text[:len(text)-partial([]byte(text))]
		}
	}
	preview.Diff = text
}

// narrow returns the text of a UTF-16 file; other data is returned unchanged.
func narrow(data []byte) []byte {
	if w := wideOf(data); w != nil {
		if text, ok := w.decode(data); ok {
			return text
		}
	}
	return data
}

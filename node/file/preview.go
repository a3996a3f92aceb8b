package file

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
	"fairlead/node/access"
	"fairlead/node/textfile"
	"fairlead/node/workspace"
)

const (
	maxDiff = 64 << 10
	// maxDiffFile and maxDiffLines bound each side of a diff: comparing more takes too long for an
	// approval, and gigabytes of memory for millions of short lines.
	maxDiffFile  = 4 << 20
	maxDiffLines = 250_000
)

func (f files) previewWrite(in writeIn) protocol.CallPreview {
	preview, old, p := f.previewFile(in.Path, in.ExpectedSHA256)
	if preview.Problem != "" {
		return preview
	}
	if err := f.checkContent(p, in); err != nil {
		access.SetProblem(&preview, err)
		return preview
	}
	addDiff(&preview, f.ws.Rel(p), old, []byte(in.Content))
	return preview
}

func (f files) previewEdit(ctx context.Context, in editIn) protocol.CallPreview {
	preview, old, p := f.previewFile(in.Path, in.ExpectedSHA256)
	switch {
	case preview.Problem != "":
		return preview
	case preview.NewFile:
		access.SetProblem(&preview, notFound(p))
		return preview
	case preview.Truncated:
		access.SetProblem(&preview, protocol.NewFault(protocol.FaultTooLarge, "File too large for Edit. Replace it with Write, or change it with a command."))
		return preview
	}
	data, _, err := f.applyEdits(ctx, p, old, in)
	if err != nil {
		access.SetProblem(&preview, err)
		return preview
	}
	addDiff(&preview, f.ws.Rel(p), old, data)
	return preview
}

// previewFile describes a file that would be written. Preview.Truncated reports that it is too
// large to be shown.
func (f files) previewFile(path, want string) (preview protocol.CallPreview, old []byte, p workspace.Path) {
	p, err := resolveFile(f.ws, path)
	preview.Path, preview.Outside = p.String(), p.Outside
	if err != nil {
		access.SetProblem(&preview, err)
		return preview, nil, p
	}
	real, _, err := f.ws.Target(p)
	preview.Secret = access.SecretOf(f.ws, real.Abs)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		preview.Path, preview.Outside = real.String(), real.Outside
	}
	old, preview.FileSHA256, err = f.ws.ReadFile(p, int64(f.limits.edit))
	if errors.Is(err, fs.ErrNotExist) {
		preview.NewFile, preview.FileSHA256, err = true, workspace.Absent, nil
	} else if _, ok := errors.AsType[*workspace.TooLargeError](err); ok {
		preview.Truncated = true
		preview.FileSHA256, err = f.ws.Hash(p)
	}
	if err != nil {
		_, outside := errors.AsType[*workspace.OutsideError](err)
		preview.Outside = preview.Outside || outside
		access.SetProblem(&preview, access.ReadError(p, err))
		return preview, old, p
	}
	if err = f.ws.Writable(p); err == nil {
		err = compareChecksum(p, want, preview.FileSHA256)
	}
	if err != nil {
		access.SetProblem(&preview, writeError(p, err))
	}
	return preview, old, p
}

// addDiff adds the unified diff with three lines of context.
func addDiff(preview *protocol.CallPreview, name string, before, after []byte) {
	name = filepath.ToSlash(name)
	before, after = decodeText(before), decodeText(after)
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
	if len(text) > maxDiff {
		preview.Truncated = true
		text = text[:maxDiff]
		if i := strings.LastIndexByte(text, '\n'); i >= 0 {
			text = text[:i+1]
		} else {
			text = text[:len(text)-textfile.Incomplete([]byte(text))]
		}
	}
	preview.Diff = text
}

// decodeText returns the text of a UTF-16 file; other data is returned unchanged.
func decodeText(data []byte) []byte {
	if w := textfile.DetectUTF16(data); w != nil {
		if text, ok := w.Decode(data); ok {
			return text
		}
	}
	return data
}

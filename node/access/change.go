package access

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"fairlead/gateway/peer/diff"
	"fairlead/gateway/protocol"
	"fairlead/node/textfile"
	"fairlead/node/workspace"
)

// PreviewWrite describes a call that replaces or creates the file p, and returns the file's content.
// The content is nil, and the preview truncated, if the file has more than most bytes. A file with
// another checksum than want is a problem; want may be empty.
func PreviewWrite(ws *workspace.Root, p workspace.Path, want string, most int64) (preview protocol.CallPreview, old []byte) {
	preview = protocol.CallPreview{Path: p.String(), Outside: p.Outside}
	real, _, err := ws.Target(p)
	preview.Secret = SecretOf(ws, real.Abs)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		preview.Path, preview.Outside = real.String(), real.Outside
	}
	old, preview.FileSHA256, err = ws.ReadFile(p, most)
	if errors.Is(err, fs.ErrNotExist) {
		preview.NewFile, preview.FileSHA256, err = true, workspace.Absent, nil
	} else if _, ok := errors.AsType[*workspace.TooLargeError](err); ok {
		preview.Truncated = true
		preview.FileSHA256, err = ws.Hash(p)
	}
	if err != nil {
		_, outside := errors.AsType[*workspace.OutsideError](err)
		preview.Outside = preview.Outside || outside
		SetProblem(&preview, ReadError(p, err))
		return preview, old
	}
	if err = ws.Writable(p); err == nil {
		err = CompareChecksum(p, want, preview.FileSHA256)
	}
	SetProblem(&preview, err)
	return preview, old
}

// AddDiff adds the change of the file p to its preview, which is truncated if the diff does not show
// all of it.
func AddDiff(preview *protocol.CallPreview, ws *workspace.Root, p workspace.Path, before, after []byte) {
	if preview.Truncated {
		return // before is not the old content
	}
	diff.AddTo(preview, filepath.ToSlash(ws.Rel(p)), preview.NewFile, textfile.UTF8(before), textfile.UTF8(after))
}

// CompareChecksum returns a [ChangedError] if a file has another checksum than a call expects. An
// empty want is any.
func CompareChecksum(p workspace.Path, want, have string) error {
	if want == "" || strings.EqualFold(want, have) {
		return nil
	}
	text := fmt.Sprintf("'%s' has changed: its SHA-256 is %s, not %s. Nothing was written. Read it again.", p, have, want)
	return &ChangedError{Text: text, Observed: have}
}

package access

import (
	"errors"
	"io/fs"

	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/node/workspace"
)

// PreviewPath previews the path of a reading tool. The target of a link counts, not its name.
func PreviewPath(ws *workspace.Root, path string) protocol.CallPreview {
	p, err := ws.Resolve(path)
	preview := protocol.CallPreview{Path: p.String(), Outside: p.Outside}
	if err != nil {
		preview.Problem = err.Error()
		return preview
	}
	real, _, err := ws.Target(p)
	// This includes missing files, so that the answer does not reveal which exist.
	preview.Secret = SecretOf(ws, real.Abs)
	var outside *workspace.OutsideError
	switch {
	case errors.As(err, &outside):
		preview.Outside, preview.Problem = true, err.Error()
	case err != nil:
		preview.Problem = ReadError(p, err).Error()
	default:
		preview.Path, preview.Outside = real.String(), real.Outside
	}
	return preview
}

// ReadError describes why a file could not be read.
func ReadError(p workspace.Path, err error) error {
	var outside *workspace.OutsideError
	var swapped *workspace.FolderReplacedError
	var large *workspace.TooLargeError
	switch {
	case errors.As(err, &outside), errors.As(err, &swapped), errors.Is(err, workspace.ErrTargetChanged):
		return err
	case errors.As(err, &large):
		return TooLarge(p, "", large.Size, large.Max)
	case errors.Is(err, fs.ErrNotExist):
		return toolkit.Failf("Failed to read '%s': no such file", p)
	}
	return toolkit.Failf("Failed to read '%s': %w", p, workspace.Cause(err))
}

// TooLarge returns an error in the original system's words, with the byte counts.
func TooLarge(p workspace.Path, what string, size, most int64) error {
	if what != "" {
		what += " "
	}
	return toolkit.Failf("File too large: '%s' %shas %d bytes, and at most %d are possible", p, what, size, most)
}

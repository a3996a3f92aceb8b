package tools

import (
	"context"
	"errors"
	"os"

	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/node/workspace"
)

type writeIn struct {
	Path           string `json:"path" jsonschema:"file to write; relative to the workspace"`
	Content        string `json:"content" jsonschema:"the whole new content"`
	ExpectedSHA256 string `json:"expectedSha256,omitempty" jsonschema:"write only if the file's SHA-256 is this, or only if there is no file: absent"`
}

// writeOut is the output of Write. The fields after Bytes are extensions.
type writeOut struct {
	Path       string `json:"path"`
	Bytes      int    `json:"bytes"`
	SHA256     string `json:"sha256,omitempty"`
	Created    bool   `json:"created,omitempty"`
	OtherNames int    `json:"otherNames,omitempty"` // hard links that still have the old content
}

func (f *files) writeTool() toolkit.Tool {
	t := toolkit.Define("Write", doc("write"), toolkit.Traits{Effect: protocol.EffectWrite, Caps: []string{protocol.CapWrite}}, opened(f, (*files).write))
	return toolkit.WithPreview(t, func(ctx context.Context, in writeIn) (protocol.CallPreview, error) {
		return f.beyond(in.Path, true, func(f *files) (protocol.CallPreview, error) { return f.previewWrite(ctx, in) })
	})
}

func (f *files) write(ctx context.Context, in writeIn) (writeOut, error) {
	f = f.bound(ctx)
	leave, err := f.enter(ctx)
	if err != nil {
		return writeOut{}, err
	}
	defer leave()
	p, err := resolveFile(f.ws, in.Path)
	if err == nil {
		err = f.checkContent(p, in)
	}
	if err != nil {
		return writeOut{}, err
	}
	unlock, err := f.ws.Lock(ctx, p)
	if err != nil {
		return writeOut{}, err
	}
	defer unlock()
	if in.ExpectedSHA256 != "" {
		sum, err := f.ws.Hash(p)
		if err != nil {
			return writeOut{}, readError(p, err)
		}
		if err := checkSum(p, in.ExpectedSHA256, sum); err != nil {
			return writeOut{}, err
		}
		if shown := expectOf(ctx); shown != "" && shown != sum {
			return writeOut{}, workspace.ErrChanged
		}
		ctx = WithExpect(ctx, sum)
	}
	w, err := f.ws.WriteKeeping(p, []byte(in.Content), expectOf(ctx), keepOf(ctx))
	if err != nil {
		return writeOut{}, writeError(p, err)
	}
	return writeOut{Path: p.String(), Bytes: len(in.Content), SHA256: w.SHA256, Created: w.New, OtherNames: w.OtherNames}, nil
}

func (f *files) checkContent(p workspace.Path, in writeIn) error {
	if os.IsPathSeparator(in.Path[len(in.Path)-1]) { // the path is not empty here
		return failf("Failed to write '%s': a path that ends with '%s' names a folder. Name a file in it; folders are made as needed.", p, in.Path[len(in.Path)-1:])
	}
	if len(in.Content) > f.limits.Write {
		return contentTooLarge(p, len(in.Content), f.limits.Write)
	}
	return nil
}

// contentTooLarge returns an error in the original system's words, with the byte counts.
func contentTooLarge(p workspace.Path, size, most int) error {
	return failf("Content too large: '%s' would have %d bytes, and at most %d are possible", p, size, most)
}

// writeError describes why a file could not be written.
func writeError(p workspace.Path, err error) error {
	var outside *workspace.OutsideError
	var readOnly *workspace.ReadOnlyError
	var swapped *workspace.SwappedError
	var dir *workspace.DirError
	switch {
	case errors.As(err, &outside), errors.As(err, &readOnly), errors.As(err, &swapped), errors.Is(err, workspace.ErrChanged), errors.Is(err, workspace.ErrElsewhere):
		return err
	case errors.As(err, &dir):
		return failf("Failed to create directories: %w", err)
	}
	return failf("Failed to write '%s': %w", p, unwrapPath(err))
}

package file

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/workspace"
)

type writeIn struct {
	Path           string `json:"path" jsonschema:"file to write; relative to the workspace"`
	Content        string `json:"content" jsonschema:"the whole content of the file"`
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

//go:embed write.md
var writeDoc string

func (t tools) writeTool() toolkit.Tool[access.Call] {
	d := toolkit.Define("Write", writeDoc, toolkit.Traits{Effect: protocol.EffectWrite, Caps: []string{protocol.CapWrite}}, forCalls(t, files.write))
	return toolkit.WithPreview(d, func(_ context.Context, _ access.Call, in writeIn) (protocol.CallPreview, error) {
		return t.scope.Preview(in.Path, true, func(s access.Scope) (protocol.CallPreview, error) { return t.within(s).previewWrite(in), nil })
	})
}

func (f files) write(ctx context.Context, call access.Call, in writeIn) (writeOut, error) {
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
	expected := call.ExpectedSHA256
	if in.ExpectedSHA256 != "" {
		sum, err := f.ws.Hash(p)
		if err != nil {
			return writeOut{}, access.ReadError(p, err)
		}
		if err := access.CompareChecksum(p, in.ExpectedSHA256, sum); err != nil {
			return writeOut{}, err
		}
		if expected != "" && expected != sum {
			return writeOut{}, workspace.ErrChanged
		}
		expected = sum
	}
	w, err := f.ws.Write(p, []byte(in.Content), expected, call.Backup)
	if err != nil {
		return writeOut{}, writeError(p, err)
	}
	return writeOut{Path: p.String(), Bytes: len(in.Content), SHA256: w.SHA256, Created: w.Created, OtherNames: w.OtherNames}, nil
}

func (f files) checkContent(p workspace.Path, in writeIn) error {
	if os.IsPathSeparator(in.Path[len(in.Path)-1]) { // the path is not empty here
		return toolkit.Failf("Failed to write '%s': a path that ends with '%s' names a folder. Name a file in it; folders are created as needed.", p, in.Path[len(in.Path)-1:])
	}
	if len(in.Content) > f.limits.write {
		return contentTooLarge(p, int64(len(in.Content)), f.limits.write)
	}
	return nil
}

// contentTooLarge returns an error in GSV's words, with the byte counts.
func contentTooLarge(p workspace.Path, size int64, most int) error {
	return protocol.NewFault(protocol.FaultTooLarge, fmt.Sprintf("Content too large: '%s' would have %d bytes, and at most %d are possible", p, size, most))
}

func writeError(p workspace.Path, err error) error {
	if workspace.IsRefusal(err) || errors.Is(err, workspace.ErrChanged) {
		return err
	}
	if _, ok := errors.AsType[*workspace.DirError](err); ok {
		return toolkit.Failf("Failed to create directories: %w", err)
	}
	return toolkit.Failf("Failed to write '%s': %w", p, format.WithoutPath(err))
}

// Package transfer is a node's side of transfers: which files it sends and accepts. Every access
// goes through the node's workspace (package workspace), so a transfer cannot reach more than the
// file tools can. Package stream moves the data.
package transfer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/workspace"
)

// Files opens a workspace's files for the ends of transfers.
type Files struct {
	ws     *workspace.Root
	policy Policy
}

// NewFiles returns the files of a workspace. The policy decides about incoming files.
func NewFiles(ws *workspace.Root, p Policy) *Files { return &Files{ws: ws, policy: p} }

// Consent implements stream.Consent by the policy. It asks nobody about a transfer that could not
// be received anyway.
func (f *Files) Consent(ctx context.Context, in protocol.TransferReceive) error {
	if f.ws.Config().ReadOnly {
		return &workspace.ReadOnlyError{Path: in.Path}
	}
	return f.policy.Consent(ctx, in)
}

// Source implements stream.Files. Errors have GSV's words where it has any.
func (f *Files) Source(name string) (stream.Item, error) {
	p, err := f.ws.Resolve(name)
	if err != nil {
		return stream.Item{}, err
	}
	h, at, err := f.ws.OpenFolderOf(p)
	if err != nil {
		if isSelfExplanatory(err) {
			return stream.Item{}, err
		}
		return stream.Item{}, access.NameLookAlike(f.ws, p, fmt.Errorf("Failed to read file %s: %w", p.Abs, err))
	}
	return stream.Item{Root: h.Root, At: at, Name: filepath.Base(p.Abs), Abs: p.Abs}, nil
}

// Target implements stream.Files.
func (f *Files) Target(name string, into, make bool) (stream.Target, error) {
	if f.policy.Folder != "" && !filepath.IsAbs(name) {
		name = filepath.Join(f.policy.Folder, name)
	}
	p, err := f.ws.Resolve(name)
	if err != nil {
		return stream.Target{}, err
	}
	t := stream.Target{}
	if !into {
		t.Name = filepath.Base(p.Abs)
		if dir := filepath.Dir(p.Abs); dir != p.Abs {
			p = workspace.Path{Abs: dir}
		} else {
			return t, fmt.Errorf("Failed to create file %s: it is a directory", p.Abs)
		}
	}
	if err := f.policy.checkInside(f.ws, p.Abs); err != nil {
		return t, err
	}
	h, err := f.ws.OpenFolderForWriting(p, cmp.Or(t.Name, "."), make)
	var dir *workspace.DirError
	switch {
	case err == nil:
	case errors.As(err, &dir):
		return t, fmt.Errorf("Failed to create directory %s: %w", p.Abs, err)
	case isSelfExplanatory(err):
		return t, err
	default:
		return t, fmt.Errorf("Failed to create file %s: %w", filepath.Join(p.Abs, t.Name), err)
	}
	t.Root, t.Abs = h.Root, h.Abs
	return t, nil
}

// isSelfExplanatory reports whether an error names the path and the remedy by itself.
func isSelfExplanatory(err error) bool {
	var outside *workspace.OutsideError
	var readOnly *workspace.ReadOnlyError
	var swapped *workspace.FolderReplacedError
	return errors.As(err, &outside) || errors.As(err, &readOnly) || errors.As(err, &swapped)
}

var _ stream.Files = (*Files)(nil)

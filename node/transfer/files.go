// Package transfer is a node's side of transfers: which files it gives and takes. Everything goes through the node's workspace (package workspace): what
// the file tools may not reach, a transfer may not either. The moving itself is package stream's.
package transfer

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"fairlead/gateway/peer/stream"
	"fairlead/gateway/protocol"
	"fairlead/node/workspace"
)

// Files gives a workspace's files to the ends of transfers.
type Files struct {
	ws     *workspace.Root
	policy Policy
}

// NewFiles makes them. What is received goes by the policy.
func NewFiles(ws *workspace.Root, p Policy) *Files { return &Files{ws: ws, policy: p} }

// Consent is stream.Consent: the policy's, who asks nobody about what could not be taken anyway.
func (f *Files) Consent(ctx context.Context, in protocol.TransferReceive) error {
	if f.ws.OnlyRead() {
		return &workspace.ReadOnlyError{Path: in.Path}
	}
	return f.policy.Consent(ctx, in)
}

// Source is stream.Files. Errors are the original's where it has any.
func (f *Files) Source(name string) (stream.Item, func(), error) {
	p, err := f.ws.Resolve(name)
	if err != nil {
		return stream.Item{}, nil, err
	}
	h, at, err := f.ws.Hold(p)
	if err != nil {
		if clear(err) {
			return stream.Item{}, nil, err
		}
		//lint:ignore ST1005 the original's text
		return stream.Item{}, nil, fmt.Errorf("Failed to read file %s: %w", p.Abs, err)
	}
	return stream.Item{Root: h.Root, At: at, Name: filepath.Base(p.Abs), Abs: p.Abs}, func() { h.Root.Close() }, nil
}

// Target is stream.Files.
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
			//lint:ignore ST1005 the original's form
			return t, fmt.Errorf("Failed to create file %s: it is a directory", p.Abs)
		}
	}
	if err := f.policy.inside(f.ws, p.Abs); err != nil {
		return t, err
	}
	h, err := f.ws.HoldForWriting(p, make)
	var dir *workspace.DirError
	switch {
	case err == nil:
	case errors.As(err, &dir):
		//lint:ignore ST1005 the original's text
		return t, fmt.Errorf("Failed to create directory %s: %w", p.Abs, err)
	case clear(err):
		return t, err
	default:
		//lint:ignore ST1005 the original's text
		return t, fmt.Errorf("Failed to create file %s: %w", filepath.Join(p.Abs, t.Name), err)
	}
	t.Root, t.Abs = h.Root, h.Abs
	return t, nil
}

// clear reports whether an error says by itself which path it is about and what to do.
func clear(err error) bool {
	var outside *workspace.OutsideError
	var readOnly *workspace.ReadOnlyError
	var swapped *workspace.SwappedError
	return errors.As(err, &outside) || errors.As(err, &readOnly) || errors.As(err, &swapped)
}

var _ stream.Files = (*Files)(nil)

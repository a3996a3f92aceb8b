package rpc

import (
	"context"
	"encoding/base64"
	"fmt"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/workspace"
)

// workspaceMethods are the methods for the agents' workspaces.
type workspaceMethods struct{ files *workspace.Files }

func (m workspaceMethods) register(all methods) {
	handle(all, protocol.WorkspaceList, m.list)
	handle(all, protocol.WorkspaceRead, m.read)
	handle(all, protocol.WorkspaceWrite, m.write)
	handle(all, protocol.WorkspaceDelete, m.delete)
}

func (m workspaceMethods) list(_ context.Context, _ *request, p protocol.WorkspaceListParams) (protocol.WorkspaceListResult, error) {
	l, err := m.files.List(p.AgentID, p.Path)
	return listing(l), err
}

func listing(l workspace.Listing) protocol.WorkspaceListResult {
	return protocol.WorkspaceListResult{Path: l.Path, Files: list(l.Files), Directories: list(l.Directories)}
}

// read reads a file. For a folder it returns the listing, as the original system does.
func (m workspaceMethods) read(_ context.Context, _ *request, p protocol.WorkspaceReadParams) (any, error) {
	if p.Path == "" {
		return nil, protocol.ErrBadRequest.With("path required")
	}
	if err := checkEncoding(p.Encoding); err != nil {
		return nil, err
	}
	var f *workspace.File
	var folder *workspace.Listing
	var err error
	if p.Default {
		f, err = workspace.Default(p.Path)
	} else {
		f, folder, err = m.files.Read(p.AgentID, p.Path)
	}
	switch {
	case err != nil:
		return nil, err
	case folder != nil:
		return listing(*folder), nil
	}
	out := protocol.WorkspaceReadResult{
		Path: f.Path, Size: len(f.Data), LastModified: f.Modified.UTC().Format(time.RFC3339Nano),
		ResolvedPath: f.ResolvedPath, ResolvedSource: f.ResolvedSource, Encoding: p.Encoding,
	}
	if p.Encoding == protocol.EncodingBase64 {
		out.Content = base64.StdEncoding.EncodeToString(f.Data)
		return out, nil
	}
	out.Content, err = f.Text()
	return out, err
}

// checkEncoding refuses an unknown encoding, such as a misspelled one, so that the file does not
// get wrong contents.
func checkEncoding(name string) error {
	if name != "" && name != protocol.EncodingBase64 {
		return protocol.ErrBadRequest.With(fmt.Sprintf("encoding must be %s, or left out for text, not %q", protocol.EncodingBase64, name))
	}
	return nil
}

func (m workspaceMethods) write(_ context.Context, _ *request, p protocol.WorkspaceWriteParams) (protocol.WorkspaceWriteResult, error) {
	if p.Path == "" || p.Content == nil {
		return protocol.WorkspaceWriteResult{}, protocol.ErrBadRequest.With("path and content required")
	}
	if err := checkEncoding(p.Encoding); err != nil {
		return protocol.WorkspaceWriteResult{}, err
	}
	data := []byte(*p.Content)
	if p.Encoding == protocol.EncodingBase64 {
		var err error
		if data, err = base64.StdEncoding.DecodeString(*p.Content); err != nil {
			return protocol.WorkspaceWriteResult{}, protocol.ErrBadRequest.With(fmt.Sprintf("content is not base64: %v", err))
		}
	}
	path, err := m.files.Write(p.AgentID, p.Path, data)
	return protocol.WorkspaceWriteResult{Path: path, Size: len(data), Written: err == nil}, err
}

func (m workspaceMethods) delete(_ context.Context, _ *request, p protocol.WorkspaceDeleteParams) (protocol.WorkspaceDeleteResult, error) {
	if p.Path == "" {
		return protocol.WorkspaceDeleteResult{}, protocol.ErrBadRequest.With("path required")
	}
	path, err := m.files.Delete(p.AgentID, p.Path)
	return protocol.WorkspaceDeleteResult{Path: path, Deleted: err == nil}, err
}

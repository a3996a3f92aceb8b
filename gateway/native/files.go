package native

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"fairlead/gateway/peer/diff"
	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
	"fairlead/gateway/workspace"
)

type readIn struct {
	Path string `json:"path,omitempty" jsonschema:"file or folder in the agent's workspace, such as SOUL.md, memory/ or skills/summarize/SKILL.md; leave it out, or use /, to list the workspace"`
}

type writeIn struct {
	Path    string `json:"path" jsonschema:"file in the agent's workspace; a path below skills/ writes the agent's own copy"`
	Content string `json:"content" jsonschema:"new content of the file"`
}

type editIn struct {
	Path       string `json:"path" jsonschema:"file in the agent's workspace"`
	OldString  string `json:"oldString" jsonschema:"the exact text to replace, not empty"`
	NewString  string `json:"newString" jsonschema:"replacement text, taken literally"`
	ReplaceAll bool   `json:"replaceAll,omitempty" jsonschema:"replace every occurrence; default false, which needs exactly one"`
}

type editOut struct {
	Path           string `json:"path"`
	Replacements   int    `json:"replacements"`
	Edited         bool   `json:"edited"`
	ResolvedSource string `json:"resolvedSource,omitempty"`
	ResolvedPath   string `json:"resolvedPath,omitempty"`
}

type deleteIn struct {
	Path string `json:"path" jsonschema:"file in the agent's workspace"`
}

func (t tools) files() []tool.Own {
	write := toolkit.Traits{Effect: protocol.EffectWrite}
	read := toolkit.Define("ReadFile", "Read a file of your own workspace, or list one of its folders. The workspace holds your identity, notes, memory and skills; it is not on any machine.",
		toolkit.Traits{Effect: protocol.EffectRead, Idempotent: true}, t.readFile)
	read = toolkit.WithPreview(toolkit.WithResults(read, protocol.WorkspaceReadResult{}, protocol.WorkspaceListResult{}),
		func(_ context.Context, call tool.Call, in readIn) (protocol.CallPreview, error) {
			return protocol.CallPreview{Personal: workspace.Personal(in.Path) && t.isShared(call)}, nil
		})
	return append(own(protocol.ScopeRead, read), own(protocol.ScopeAdmin,
		toolkit.WithPreview(toolkit.Define("WriteFile", "Write or create a file of your own workspace. Missing folders are created.",
			toolkit.Traits{Effect: protocol.EffectWrite, Idempotent: true}, t.writeFile),
			func(_ context.Context, call tool.Call, in writeIn) (protocol.CallPreview, error) {
				return t.preview(call, in.Path, true, func([]byte) ([]byte, error) { return []byte(in.Content), nil }), nil
			}),
		toolkit.WithPreview(toolkit.Define("EditFile", "Change a file of your own workspace by replacing exact text.", write, t.editFile),
			func(_ context.Context, call tool.Call, in editIn) (protocol.CallPreview, error) {
				return t.preview(call, in.Path, false, func(old []byte) ([]byte, error) {
					next, _, err := replace(old, in)
					return next, err
				}), nil
			}),
		toolkit.WithPreview(toolkit.Define("DeleteFile", "Delete a file of your own workspace.", write, t.deleteFile),
			func(_ context.Context, call tool.Call, in deleteIn) (protocol.CallPreview, error) {
				return t.preview(call, in.Path, false, func([]byte) ([]byte, error) { return nil, nil }), nil
			}),
	)...)
}

// readFile returns a protocol.WorkspaceReadResult, or a protocol.WorkspaceListResult for a folder.
func (t tools) readFile(_ context.Context, call tool.Call, in readIn) (any, error) {
	f, list, err := t.Files.Read(call.Session.Agent(), in.Path)
	switch {
	case err != nil:
		return nil, err
	case list != nil:
		return protocol.WorkspaceListResult(*list), nil
	}
	text, err := f.Text()
	if err != nil {
		return nil, fmt.Errorf("%s is not text (%d bytes)", f.Path, len(f.Data))
	}
	return protocol.WorkspaceReadResult{
		Path: f.Path, Content: text, Size: len(f.Data), LastModified: f.Modified.UTC().Format(time.RFC3339),
		ResolvedPath: f.ResolvedPath, ResolvedSource: f.ResolvedSource,
	}, nil
}

func (t tools) writeFile(_ context.Context, call tool.Call, in writeIn) (protocol.WorkspaceWriteResult, error) {
	path, err := t.Files.Write(call.Session.Agent(), in.Path, []byte(in.Content))
	return protocol.WorkspaceWriteResult{Path: path, Size: len(in.Content), Written: err == nil}, err
}

func (t tools) editFile(_ context.Context, call tool.Call, in editIn) (editOut, error) {
	n := 0
	f, err := t.Files.Edit(call.Session.Agent(), in.Path, func(old []byte) (next []byte, err error) {
		next, n, err = replace(old, in)
		return next, err
	})
	if err != nil {
		return editOut{}, err
	}
	return editOut{Path: f.Path, Replacements: n, Edited: true, ResolvedSource: f.ResolvedSource, ResolvedPath: f.ResolvedPath}, nil
}

// replace uses newString literally: "$" has no special meaning.
func replace(data []byte, in editIn) (next []byte, n int, err error) {
	if in.OldString == "" {
		return nil, 0, errors.New("oldString must not be empty; to write all of a file, use WriteFile")
	}
	from := []byte(in.OldString)
	n = bytes.Count(data, from)
	switch {
	case n == 0:
		return nil, 0, fmt.Errorf("oldString not found in %s", in.Path)
	case n > 1 && !in.ReplaceAll:
		return nil, 0, fmt.Errorf("oldString found %d times in %s; use replaceAll: true or give more of the text around it", n, in.Path)
	}
	return bytes.ReplaceAll(data, from, []byte(in.NewString)), n, nil
}

func (t tools) deleteFile(_ context.Context, call tool.Call, in deleteIn) (protocol.WorkspaceDeleteResult, error) {
	path, err := t.Files.Delete(call.Session.Agent(), in.Path)
	return protocol.WorkspaceDeleteResult{Path: path, Deleted: err == nil}, err
}

// preview describes the change that a call would make to a file. The file must exist unless creates
// is set. change returns nil for a deletion.
func (t tools) preview(call tool.Call, path string, creates bool, change func(old []byte) ([]byte, error)) protocol.CallPreview {
	p := protocol.CallPreview{Path: path}
	f, list, err := t.Files.Read(call.Session.Agent(), path)
	var old []byte
	switch {
	case list != nil:
		p.Problem = path + " is a folder"
	case creates && errors.Is(err, protocol.ErrNotFound):
		p.NewFile = true
	case err != nil:
		p.Problem = tool.ErrorText(err)
	default:
		old, p.Path = f.Data, f.Path
	}
	if p.Problem != "" {
		return p
	}
	next, err := change(old)
	if err != nil {
		p.Problem = tool.ErrorText(err)
		return p
	}
	diff.AddTo(&p, p.Path, p.NewFile, old, next)
	return p
}

package state

import (
	"context"
	"encoding/json"
	"strings"

	"fairlead/gateway/protocol"
)

// Save writes one of the agent's files. It blocks.
func (f *Files) Save(ctx context.Context, p, text string) error {
	if strings.TrimSpace(p) == "" {
		return protocol.ErrBadRequest.With("the file needs a name")
	}
	if _, err := Call(ctx, f.a, protocol.WorkspaceWrite, protocol.WorkspaceWriteParams{Path: p, Content: &text}); err != nil {
		return err
	}
	f.Reload()
	return nil
}

// Delete deletes one of the agent's files and returns a function that restores it. It blocks.
func (f *Files) Delete(ctx context.Context, p string) (undo func(), err error) {
	r, err := Call(ctx, f.a, protocol.WorkspaceRead, protocol.WorkspaceReadParams{Path: p, Encoding: protocol.EncodingBase64})
	if err != nil {
		return nil, err
	}
	raw, err := protocol.Marshal(r)
	if err != nil {
		return nil, err
	}
	var was protocol.WorkspaceReadResult
	if err := json.Unmarshal(raw, &was); err != nil {
		return nil, err
	}
	if _, err := Call(ctx, f.a, protocol.WorkspaceDelete, protocol.WorkspaceDeleteParams{Path: p}); err != nil {
		return nil, err
	}
	f.Value.Update(func(v FilesView) FilesView { v.File = nil; return v })
	f.Reload()
	return func() {
		f.a.start(func(ctx context.Context) {
			if _, err := Call(ctx, f.a, protocol.WorkspaceWrite, protocol.WorkspaceWriteParams{Path: p, Content: &was.Content, Encoding: was.Encoding}); err != nil {
				f.a.fail(err)
			}
			f.Reload()
		})
	}, nil
}

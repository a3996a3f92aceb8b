package feed

import (
	"context"
	"errors"
	"strings"

	"fairlead/gateway/protocol"
)

// AgentFiles reads and writes the agent's own files. Its methods block.
type AgentFiles struct {
	Feed    *Feed
	Changed func() // called after each change; may be called on any goroutine
}

// ReadFile is [protocol.WorkspaceRead] for a path that is a file.
var ReadFile = protocol.Method[protocol.WorkspaceReadParams, protocol.WorkspaceReadResult]{Name: protocol.WorkspaceRead.Name}

// Text returns the text of a file.
func (f AgentFiles) Text(ctx context.Context, p string) (text string, exists bool, err error) {
	r, err := Call(ctx, f.Feed, ReadFile, protocol.WorkspaceReadParams{Path: p})
	if errors.Is(err, protocol.ErrNotFound) {
		return "", false, nil
	}
	return r.Content, err == nil, err
}

// Conflict is the error for a file that somebody else changed since it was opened.
type Conflict struct {
	Current string
	Deleted bool // the file was deleted
}

// Error implements error.
func (c *Conflict) Error() string {
	if c.Deleted {
		return "the file was deleted in the meantime"
	}
	return "the file was changed in the meantime"
}

// SaveOver saves a text over the one that was opened, unless somebody else changed the file since.
func (f AgentFiles) SaveOver(ctx context.Context, p, text, base string, existed bool) error {
	if strings.TrimSpace(p) == "" {
		return protocol.ErrBadRequest.With("the file needs a name")
	}
	now, exists, err := f.Text(ctx, p)
	switch {
	case err != nil:
		return err
	case exists && (!existed || now != base) && now != text:
		return &Conflict{Current: now}
	case !exists && existed:
		return &Conflict{Deleted: true}
	}
	err = Send(ctx, f.Feed, protocol.WorkspaceWrite, protocol.WorkspaceWriteParams{Path: p, Content: &text})
	if err == nil {
		f.Changed()
	}
	return err
}

// Delete deletes a file and returns a function that restores it.
func (f AgentFiles) Delete(ctx context.Context, p string) (undo func(), err error) {
	before, err := Call(ctx, f.Feed, ReadFile, protocol.WorkspaceReadParams{Path: p, Encoding: protocol.EncodingBase64})
	if err != nil {
		return nil, err
	}
	if err := Send(ctx, f.Feed, protocol.WorkspaceDelete, protocol.WorkspaceDeleteParams{Path: p}); err != nil {
		return nil, err
	}
	f.Changed()
	return func() {
		f.Feed.Tasks.Do(func(ctx context.Context) error {
			defer f.Changed()
			return Send(ctx, f.Feed, protocol.WorkspaceWrite, protocol.WorkspaceWriteParams{Path: p, Content: &before.Content, Encoding: before.Encoding})
		})
	}, nil
}

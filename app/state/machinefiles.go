package state

import (
	"context"
	"errors"

	"fairlead/app/feed"
	"fairlead/gateway/protocol"
)

// TextFiles are text files that a person edits. Its methods block.
type TextFiles interface {
	// Text reads a file. exists is false if it does not exist.
	Text(ctx context.Context, path string) (text string, exists bool, err error)
	// SaveOver writes a file if it is unchanged (or still missing); otherwise: [Conflict].
	SaveOver(ctx context.Context, path, text, base string, existed bool) error
}

// MachineFiles are the text files of a machine.
type MachineFiles struct {
	app   *App
	place protocol.NodeID
}

// TextFiles returns the text files of the place that is shown.
func (f *Files) TextFiles() TextFiles {
	if place := f.Value.Get().Place; place != "" {
		return MachineFiles{f.app, place}
	}
	return f.Agent
}

func (m MachineFiles) read(ctx context.Context, path string) (protocol.FilesReadResult, error) {
	r, err := feed.Call(ctx, m.app, protocol.FilesRead, protocol.FilesPathParams{Node: m.place, Path: path})
	if err == nil && r.Why != "" {
		err = errors.New(r.Why)
	}
	return r, err
}

// Text implements [TextFiles]. It is an error if the file cannot be edited.
func (m MachineFiles) Text(ctx context.Context, path string) (text string, exists bool, err error) {
	r, err := m.read(ctx, path)
	return r.Text, err == nil && r.Sum != protocol.FileAbsent, err
}

// SaveOver implements [TextFiles].
func (m MachineFiles) SaveOver(ctx context.Context, path, text, base string, existed bool) error {
	now, err := m.read(ctx, path)
	exists := now.Sum != protocol.FileAbsent
	switch {
	case err != nil:
		return err
	case exists && (!existed || now.Text != base) && now.Text != text:
		return &feed.Conflict{Current: now.Text}
	case !exists && existed:
		return &feed.Conflict{Deleted: true}
	}
	params := protocol.FilesWriteParams{Node: m.place, Path: path, Text: text, Sum: now.Sum}
	r, err := feed.Call(ctx, m.app, protocol.FilesWrite, params)
	if err == nil && r.Changed { // since it was read
		return m.SaveOver(ctx, path, text, base, existed)
	}
	return err
}

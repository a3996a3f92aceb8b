package files

import (
	"context"
	"errors"

	"fairlead/app/feed"
	"fairlead/gateway/protocol"
)

// textFiles are text files that a person edits. Its methods block.
type textFiles interface {
	// Text reads a file. exists is false if it does not exist.
	Text(ctx context.Context, path string) (text string, exists bool, err error)
	// SaveOver writes a file if it is unchanged (or still missing); otherwise: [Conflict].
	SaveOver(ctx context.Context, path, text, base string, existed bool) error
}

// machineFiles are the text files of a machine.
type machineFiles struct {
	feed  *feed.Feed
	place protocol.NodeID
}

// TextFiles returns the text files of the place that is shown.
func (f *Model) TextFiles() textFiles {
	if place := f.Value.Get().Place; place != "" {
		return machineFiles{f.feed, place}
	}
	return f.Agent
}

func (m machineFiles) read(ctx context.Context, path string) (protocol.FilesReadResult, error) {
	r, err := feed.Call(ctx, m.feed, protocol.FilesRead, protocol.FilesPathParams{Node: m.place, Path: path})
	if err == nil && r.Why != "" {
		err = errors.New(r.Why)
	}
	return r, err
}

// Text implements [textFiles]. It is an error if the file cannot be edited.
func (m machineFiles) Text(ctx context.Context, path string) (text string, exists bool, err error) {
	r, err := m.read(ctx, path)
	return r.Text, err == nil && r.Sum != protocol.FileAbsent, err
}

// SaveOver implements [textFiles].
func (m machineFiles) SaveOver(ctx context.Context, path, text, base string, existed bool) error {
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
	r, err := feed.Call(ctx, m.feed, protocol.FilesWrite, params)
	if err == nil && r.Changed { // since it was read
		return m.SaveOver(ctx, path, text, base, existed)
	}
	return err
}

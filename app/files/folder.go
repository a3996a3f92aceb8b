package files

import (
	"context"
	"path"
	"slices"
	"strings"

	"fairlead/app/feed"
	"fairlead/gateway/protocol"
)

// Folder changes files in the folder that the page shows on a machine. Its methods block.
type Folder struct {
	feed    *feed.Feed
	shown   *feed.Value[View]
	refresh func() // lists the folder again
}

// Make creates a folder in the current folder and returns its path. It blocks.
func (f Folder) Make(ctx context.Context, name string) (string, error) {
	v := f.shown.Get()
	made := entryOf(v.Dir, protocol.FileInfo{Name: name, Kind: protocol.FileFolder})
	_, err := feed.Call(ctx, f.feed, protocol.FilesMake, protocol.FilesPathParams{Node: v.Place, Path: made.Path})
	f.refresh()
	return made.Path, err
}

// Rename renames an entry. undo is nil if the name is the same. It blocks.
func (f Folder) Rename(ctx context.Context, p, name string) (to string, undo func(), err error) {
	if name == path.Base(p) { // names may start or end with blanks
		return p, nil, nil
	}
	name = strings.TrimSpace(name)
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\\\x00") {
		return p, nil, protocol.ErrBadRequest.With("the name must not be empty or contain a slash")
	}
	to = entryOf(parentDir(p), protocol.FileInfo{Name: name}).Path
	_, undo, err = f.move(ctx, []step{{p, to}})
	return to, undo, err
}

// Trash deletes entries. n is their number, also after an error. It blocks.
func (f Folder) Trash(ctx context.Context, paths []string) (n int, undo func(), err error) {
	place := f.shown.Get().Place
	r, err := feed.Call(ctx, f.feed, protocol.FilesTrash, protocol.FilesTrashParams{Node: place, Paths: paths})
	if err != nil {
		return 0, nil, err
	}
	if r.Problem != "" {
		err = protocol.ErrInternal.With(r.Problem)
	}
	f.refresh()
	return len(r.Items), func() {
		f.feed.Tasks.Start(func(ctx context.Context) {
			for _, item := range slices.Backward(r.Items) {
				params := protocol.FilesRestoreParams{Node: place, ID: item.ID, Path: item.Path}
				if err := feed.Send(ctx, f.feed, protocol.FilesRestore, params); err != nil {
					f.feed.Tasks.Fail(err)
				}
			}
			f.refresh()
		})
	}, err
}

// MoveInto moves entries to a folder; "" is the workspace. It returns the same as [Folder.Trash].
func (f Folder) MoveInto(ctx context.Context, paths []string, dir string) (n int, undo func(), err error) {
	var list []step
	for _, from := range paths {
		to := entryOf(dir, protocol.FileInfo{Name: path.Base(from)}).Path
		if from != dir && from != to {
			list = append(list, step{from, to})
		}
	}
	return f.move(ctx, list)
}

type step struct{ from, to string }

// move renames paths until one fails. It returns their number and an undo. It blocks.
func (f Folder) move(ctx context.Context, list []step) (n int, undo func(), err error) {
	place := f.shown.Get().Place
	move := func(ctx context.Context, from, to string) error {
		return feed.Send(ctx, f.feed, protocol.FilesMove, protocol.FilesMoveParams{Node: place, Path: from, To: to})
	}
	for _, s := range list {
		if err = move(ctx, s.from, s.to); err != nil {
			break
		}
		n++
	}
	f.refresh()
	return n, func() {
		f.feed.Tasks.Start(func(ctx context.Context) {
			for _, s := range slices.Backward(list[:n]) {
				if err := move(ctx, s.to, s.from); err != nil {
					f.feed.Tasks.Fail(err)
				}
			}
			f.refresh()
		})
	}, err
}

// Diff loads the diff of a change by the agent. It blocks.
func (f Folder) Diff(ctx context.Context, c protocol.FileChange) (protocol.FilesDiffResult, error) {
	return feed.Call(ctx, f.feed, protocol.FilesDiff, protocol.FilesChangeParams{Node: f.shown.Get().Place, ID: c.ID, Path: c.Path})
}

// Revert restores a file's content from before a change by the agent. It blocks.
func (f Folder) Revert(ctx context.Context, c protocol.FileChange) error {
	err := feed.Send(ctx, f.feed, protocol.FilesRevert, protocol.FilesChangeParams{Node: f.shown.Get().Place, ID: c.ID, Path: c.Path})
	f.refresh()
	return err
}

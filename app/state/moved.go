package state

import (
	"context"
	"path"
	"slices"
	"strings"

	"fairlead/gateway/protocol"
)

// MoveInto moves files and folders of a machine into one of its folders; "" is the workspace. It
// returns their number, and a function that undoes the move. It blocks. After an error some may
// have been moved.
func (f *Files) MoveInto(ctx context.Context, paths []string, dir string) (n int, undo func(), err error) {
	var list []step
	for _, from := range paths {
		to := path.Base(from)
		if dir != "" {
			to = strings.TrimSuffix(dir, "/") + "/" + to
		}
		if from != dir && from != to {
			list = append(list, step{from, to})
		}
	}
	return f.move(ctx, list)
}

// step is the renaming of one path.
type step struct{ from, to string }

// move renames files and folders until one fails. It returns their number, and a function that
// undoes the moves. It blocks.
func (f *Files) move(ctx context.Context, list []step) (n int, undo func(), err error) {
	place := f.Value.Get().Place
	move := func(ctx context.Context, from, to string) error {
		_, err := Call(ctx, f.a, protocol.FilesMove, protocol.FilesMoveParams{Node: place, Path: from, To: to})
		return err
	}
	for _, s := range list {
		if err = move(ctx, s.from, s.to); err != nil {
			break
		}
		n++
	}
	f.again(nil)
	return n, func() {
		f.a.start(func(ctx context.Context) {
			for _, s := range slices.Backward(list[:n]) {
				if err := move(ctx, s.to, s.from); err != nil {
					f.a.fail(err)
				}
			}
			f.again(nil)
		})
	}, err
}

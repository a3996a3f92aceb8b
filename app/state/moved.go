package state

import (
	"context"
	"path"
	"slices"
	"strings"

	"fairlead/gateway/protocol"
)

// MoveInto moves files and folders of a machine into one of its folders, "" being the workspace, and returns how many, and what brings them
// back. It blocks. With an error some may have been moved.
func (f *Files) MoveInto(ctx context.Context, paths []string, dir string) (n int, undo func(), err error) {
	place := f.Value.Get().Place
	move := func(ctx context.Context, from, to string) error {
		_, err := Call(ctx, f.a, protocol.FilesMove, protocol.FilesMoveParams{Node: place, Path: from, To: to})
		return err
	}
	type step struct{ from, to string }
	var done []step
	for _, from := range paths {
		to := path.Base(from)
		if dir != "" {
			to = strings.TrimSuffix(dir, "/") + "/" + to
		}
		if from == dir || from == to {
			continue
		}
		if err = move(ctx, from, to); err != nil {
			break
		}
		done = append(done, step{from, to})
	}
	f.again(nil)
	return len(done), func() {
		f.a.start(func(ctx context.Context) {
			for _, s := range slices.Backward(done) {
				if err := move(ctx, s.to, s.from); err != nil {
					f.a.fail(err)
				}
			}
			f.again(nil)
		})
	}, err
}

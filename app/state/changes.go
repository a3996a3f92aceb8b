package state

import (
	"context"
	"strings"
	"time"

	"fairlead/gateway/protocol"
)

// changesPause is how long changes are collected before the machine is asked which of them the
// agent made.
const changesPause = time.Second

// askChanges asks the current machine for the agent's changes. Calls in quick succession are merged
// into one request.
func (f *Files) askChanges(place protocol.NodeID, pause time.Duration) {
	f.live.mu.Lock()
	asked := f.live.asking
	f.live.asking = true
	f.live.mu.Unlock()
	if asked {
		return
	}
	f.a.start(func(ctx context.Context) {
		select {
		case <-time.After(pause):
		case <-ctx.Done():
		}
		f.live.mu.Lock()
		f.live.asking = false
		f.live.mu.Unlock()
		ctx, cancel := context.WithTimeout(ctx, rpcLimit)
		defer cancel()
		r, err := Call(ctx, f.a, protocol.FilesChanges, protocol.FilesChangesParams{Node: place})
		if err != nil {
			return // older machines do not know the method; other errors show up in the list itself
		}
		f.Value.Update(func(v FilesView) FilesView {
			if v.Place == place {
				v.Changed = r.Changes
			}
			return v
		})
	})
}

// ChangeOf returns the agent's last change of a file with this absolute path, unless it was
// reverted.
func (v FilesView) ChangeOf(abs string) (protocol.FileChange, bool) {
	for _, c := range v.Changed {
		if slashes(c.Path) == slashes(abs) {
			return c, !c.Reverted
		}
	}
	return protocol.FileChange{}, false
}

func slashes(p string) string { return strings.ReplaceAll(p, `\`, "/") }

// Diff loads the diff of a change by the agent. It blocks.
func (f *Files) Diff(ctx context.Context, c protocol.FileChange) (protocol.FilesDiffResult, error) {
	return Call(ctx, f.a, protocol.FilesDiff, protocol.FilesChangeParams{Node: f.Value.Get().Place, ID: c.ID, Path: c.Path})
}

// Revert restores a file's content from before a change by the agent. It blocks.
func (f *Files) Revert(ctx context.Context, c protocol.FileChange) error {
	_, err := Call(ctx, f.a, protocol.FilesRevert, protocol.FilesChangeParams{Node: f.Value.Get().Place, ID: c.ID, Path: c.Path})
	f.again(err)
	return err
}

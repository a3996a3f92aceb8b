package state

import (
	"context"
	"strings"
	"time"

	"fairlead/gateway/protocol"
)

// changesPause is for how long changes are gathered before the machine is asked what of them is the agent's.
const changesPause = time.Second

// askChanges asks the machine that is shown what the agent changed there. Several calls at once are one.
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
			return // an older machine does not know; the list itself says what is wrong with another
		}
		f.Value.Update(func(v FilesView) FilesView {
			if v.Place == place {
				v.Changed = r.Changes
			}
			return v
		})
	})
}

// ChangeOf is the agent's last change of a file, by its absolute path; one that was reverted is none.
func (v FilesView) ChangeOf(abs string) (protocol.FileChange, bool) {
	for _, c := range v.Changed {
		if slashes(c.Path) == slashes(abs) {
			return c, !c.Reverted
		}
	}
	return protocol.FileChange{}, false
}

func slashes(p string) string { return strings.ReplaceAll(p, `\`, "/") }

// Diff asks for a change of the agent. It blocks.
func (f *Files) Diff(ctx context.Context, c protocol.FileChange) (protocol.FilesDiffResult, error) {
	return Call(ctx, f.a, protocol.FilesDiff, protocol.FilesChangeParams{Node: f.Value.Get().Place, ID: c.ID, Path: c.Path})
}

// Revert puts back what was there before a change of the agent. It blocks.
func (f *Files) Revert(ctx context.Context, c protocol.FileChange) error {
	_, err := Call(ctx, f.a, protocol.FilesRevert, protocol.FilesChangeParams{Node: f.Value.Get().Place, ID: c.ID, Path: c.Path})
	f.again(err)
	return err
}

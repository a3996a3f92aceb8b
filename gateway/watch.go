package gateway

import (
	"context"

	"fairlead/gateway/protocol"
)

// maxTold is how many files that changed at once are named; of more it is told only that files changed.
const maxTold = 50

// watchFiles keeps what was read of the workspaces fresh and tells the windows of changes, until ctx ends. Where nothing can be watched, skills are read each time.
func (g *Gateway) watchFiles(ctx context.Context) {
	err := g.files.Watch(ctx, func() { g.skills.Watched(true) }, func(paths []string) {
		if g.skills.Changed(paths) {
			g.bus.Publish(protocol.Change{Kind: protocol.ChangeSkills})
		}
		if len(paths) > maxTold {
			paths = []string{""}
		}
		for _, p := range paths {
			g.bus.Publish(protocol.Change{Kind: protocol.ChangeFile, Path: p})
		}
	})
	g.skills.Watched(false)
	if err != nil && ctx.Err() == nil {
		g.log.Warn("Changes of skills are seen only when they are asked for", "err", err)
	}
}

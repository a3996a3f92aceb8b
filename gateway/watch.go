package gateway

import (
	"context"

	"fairlead/gateway/protocol"
)

// maxTold is the number of changed files that are listed by name in one notification; of more, it
// only says that files changed.
const maxTold = 50

// watchFiles updates the caches of the workspaces and publishes changes to the windows, until ctx
// ends. If watching is not possible, skills are read each time.
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

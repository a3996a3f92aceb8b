package gateway

import (
	"context"

	"fairlead/gateway/protocol"
)

// watchFiles keeps what was read of the workspaces fresh, until ctx ends. Where nothing can be watched, skills are read each time.
func (g *Gateway) watchFiles(ctx context.Context) {
	g.skills.Watched(true)
	err := g.files.Watch(ctx, func(paths []string) {
		if g.skills.Changed(paths) {
			g.bus.Publish(protocol.Change{Kind: protocol.ChangeSkills})
		}
	})
	g.skills.Watched(false)
	if err != nil && ctx.Err() == nil {
		g.log.Warn("Changes of skills are seen only when they are asked for", "err", err)
	}
}

package skills

import (
	"context"
	"log/slog"

	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
)

// maxNamed is the number of changed files that are published by name at once; of more, only that
// files changed is published.
const maxNamed = 50

// Watcher reports changes of files; *workspace.Files implements it.
type Watcher interface {
	Watch(ctx context.Context, ready func(), changed func(paths []string)) error
}

// Watch clears the cache when files change and publishes the changes to the windows, until ctx
// ends. If watching is not possible, skills are read each time.
func (c *Catalog) Watch(ctx context.Context, w Watcher, bus *event.Bus) {
	err := w.Watch(ctx, func() { c.Watched(true) }, func(paths []string) {
		if c.Changed(paths) {
			bus.Publish(protocol.Change{Kind: protocol.ChangeSkills})
		}
		if len(paths) > maxNamed {
			paths = []string{""}
		}
		for _, p := range paths {
			bus.Publish(protocol.Change{Kind: protocol.ChangeFile, Path: p})
		}
	})
	c.Watched(false)
	if err != nil && ctx.Err() == nil {
		slog.Warn("Files cannot be watched; skills are read each time they are needed", "err", err)
	}
}

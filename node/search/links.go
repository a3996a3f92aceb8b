package search

import (
	"path/filepath"
	"strings"

	"fairlead/node/workspace"
)

// folderLink is a symbolic link to a folder.
type folderLink struct {
	display string
	target  workspace.Path
	chain   []string // the real folders that contain the links on the way to this link, and its own
}

// markVisited reports whether to search a folder that was reached through a link.
func (b *folderTask) markVisited(abs string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.visited[abs] {
		return false
	}
	b.visited[abs] = true
	return true
}

// followLink searches the target file of a symbolic link if file tools may access it, or records a
// target folder for later. A folder that contains itself through a link is skipped.
func (b *folderTask) followLink(s *scanner, dir *workspace.Dir, name string) {
	shown := b.displayPath(name)
	if b.ctx.Err() != nil || b.top.isBeyond(shown) {
		return
	}
	real, info, err := b.ws.Target(workspace.Path{Abs: filepath.Join(dir.Abs, name)})
	if err != nil || real.Outside && !b.outside {
		return
	}
	if b.exclusions.excludes(real.Abs) {
		if info.IsDir() || b.names.match(name) {
			b.exclusions.addSkipped(shown)
		}
		return
	}
	if info.Mode().IsRegular() && b.names.match(name) {
		if f, err := b.ws.WithTarget(real.Abs).Content(real); err == nil {
			b.scan(s, f, b.display, name)
		}
	}
	if !info.IsDir() {
		return
	}
	chain := append(b.linkChain[:len(b.linkChain):len(b.linkChain)], dir.Abs)
	for _, above := range chain {
		if above == real.Abs || strings.HasPrefix(above, strings.TrimSuffix(real.Abs, string(filepath.Separator))+string(filepath.Separator)) {
			return
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.links = append(b.links, folderLink{display: shown, target: real, chain: chain})
}

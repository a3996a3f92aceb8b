package search

import (
	"path/filepath"
	"strings"

	"fairlead/node/workspace"
)

// linked is a symbolic link to a folder.
type linked struct {
	shown string
	to    workspace.Path
	chain []string // the real folders that contain the links on the way to this link, and its own
}

// enterLinked reports whether to search a folder that was reached through a link.
func (b *branch) enterLinked(abs string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.linked[abs] {
		return false
	}
	b.linked[abs] = true
	return true
}

// link searches the target file of a symbolic link if file tools may access it, or records a target
// folder for later. A folder that contains itself through a link is skipped.
func (b *branch) link(s *scanner, dir *workspace.Dir, name string) {
	shown := b.under(name)
	if b.ctx.Err() != nil || b.best.late(shown) {
		return
	}
	real, info, err := b.ws.Target(workspace.Path{Abs: filepath.Join(dir.Abs, name)})
	if err != nil || real.Outside && !b.outside {
		return
	}
	if b.shun.holds(real.Abs) {
		if info.IsDir() || b.names.match(name) {
			b.shun.meet(shown)
		}
		return
	}
	if info.Mode().IsRegular() && b.names.match(name) {
		if f, err := b.ws.Bound(real.Abs).Content(real); err == nil {
			b.scan(s, f, b.shown, name)
		}
	}
	if !info.IsDir() {
		return
	}
	chain := append(b.chain[:len(b.chain):len(b.chain)], dir.Abs)
	for _, above := range chain {
		if above == real.Abs || strings.HasPrefix(above, strings.TrimSuffix(real.Abs, string(filepath.Separator))+string(filepath.Separator)) {
			return
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.links = append(b.links, linked{shown: shown, to: real, chain: chain})
}

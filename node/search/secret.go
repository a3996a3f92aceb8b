package search

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"fairlead/gateway/peer/sensitive"
	"fairlead/node/access"
	"fairlead/node/sandbox"
	"fairlead/node/workspace"
)

// targetOf is [workspace.Root.Target] of the path in which a search begins. The path must lead to
// target, unless that is empty.
func targetOf(ws *workspace.Root, p workspace.Path, target string) (workspace.Path, os.FileInfo, error) {
	real, info, err := ws.Target(p)
	if err == nil && target != "" && real.Abs != workspace.Unspell(target) {
		err = workspace.ErrElsewhere
	}
	return real, info, err
}

// shunned are the places of keys and tokens that a search skips: those that it did not begin in.
type shunned struct {
	places []sandbox.Place
	in     []shunnedIn
	named  bool // also skip files whose names mark them as secret in every folder

	mu  sync.Mutex
	met []string // skipped paths, as results spell them
}

// shunnedIn are the names of such places in one folder.
type shunnedIn struct {
	dir   string
	names []string
}

// shun returns the places to skip for a search that begins in from, a path without symbolic links.
func shun(ws *workspace.Root, from string) *shunned {
	s := &shunned{named: true}
	for _, p := range sandbox.Places() {
		if p.Holds(from) || access.IsChosen(ws, p, p.Path) {
			s.named = s.named && !p.Holds(from)
			continue
		}
		s.places = append(s.places, p)
		dir, name := filepath.Split(p.Path)
		dir = filepath.Clean(dir)
		i := slices.IndexFunc(s.in, func(have shunnedIn) bool { return have.dir == dir })
		if i < 0 {
			i = len(s.in)
			s.in = append(s.in, shunnedIn{dir: dir})
		}
		s.in[i].names = append(s.in[i].names, name)
	}
	return s
}

// names returns the names to skip in a folder; usually nil. It is called once for each searched
// folder.
func (s *shunned) names(dir string) []string {
	for i := range s.in {
		if in := &s.in[i]; len(in.dir) == len(dir) && sameName(in.dir, dir) {
			return in.names
		}
	}
	return nil
}

// name reports whether a file is skipped because of its name.
func (s *shunned) name(name string) bool { return s.named && sensitive.SecretName(name) }

// holds reports whether a path without symbolic links is skipped.
func (s *shunned) holds(path string) bool {
	return s.name(filepath.Base(path)) || slices.ContainsFunc(s.places, func(p sandbox.Place) bool { return p.Holds(path) && !p.Opens(path) })
}

// meet records for the result that something was skipped.
func (s *shunned) meet(shown string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.met = append(s.met, workspace.Spell(shown))
}

// leftOut returns the skipped paths in order.
func (s *shunned) leftOut() []string {
	slices.Sort(s.met)
	return slices.Compact(s.met)
}

func among(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return sameName(n, name) })
}

// sameName compares names as the system does.
func sameName(a, b string) bool {
	return a == b || (runtime.GOOS == "windows" || runtime.GOOS == "darwin") && strings.EqualFold(a, b)
}

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

// resolveStart is [workspace.Root.Target] of the path in which a search begins. The path must lead
// to target, unless that is empty.
func resolveStart(ws *workspace.Root, p workspace.Path, target string) (workspace.Path, os.FileInfo, error) {
	real, info, err := ws.Target(p)
	if err == nil && target != "" && real.Abs != workspace.Unspell(target) {
		err = workspace.ErrTargetChanged
	}
	return real, info, err
}

// exclusions are the places of keys and tokens that a search skips: those that it did not begin in.
type exclusions struct {
	places   []sandbox.Place
	byFolder []folderExclusions
	byName   bool // also skip files whose names mark them as secret in every folder

	mu      sync.Mutex
	skipped []string // skipped paths, as results spell them
}

// folderExclusions are the names of such places in one folder.
type folderExclusions struct {
	dir   string
	names []string
}

// newExclusions returns the places to skip for a search that begins in from, a path without
// symbolic links.
func newExclusions(ws *workspace.Root, from string) *exclusions {
	s := &exclusions{byName: true}
	for _, p := range sandbox.Places() {
		if p.Contains(from) || access.IsChosen(ws, p, p.Path) {
			s.byName = s.byName && !p.Contains(from)
			continue
		}
		s.places = append(s.places, p)
		dir, name := filepath.Split(p.Path)
		dir = filepath.Clean(dir)
		i := slices.IndexFunc(s.byFolder, func(have folderExclusions) bool { return have.dir == dir })
		if i < 0 {
			i = len(s.byFolder)
			s.byFolder = append(s.byFolder, folderExclusions{dir: dir})
		}
		s.byFolder[i].names = append(s.byFolder[i].names, name)
	}
	return s
}

// namesIn returns the names to skip in a folder; usually nil. It is called once for each searched
// folder.
func (s *exclusions) namesIn(dir string) []string {
	for i := range s.byFolder {
		if in := &s.byFolder[i]; len(in.dir) == len(dir) && sameName(in.dir, dir) {
			return in.names
		}
	}
	return nil
}

// isExcludedName reports whether a file is skipped because of its name.
func (s *exclusions) isExcludedName(name string) bool { return s.byName && sensitive.SecretName(name) }

// excludes reports whether a path without symbolic links is skipped.
func (s *exclusions) excludes(path string) bool {
	return s.isExcludedName(filepath.Base(path)) || slices.ContainsFunc(s.places, func(p sandbox.Place) bool { return p.Contains(path) && !p.IsPublic(path) })
}

// addSkipped records for the result that something was skipped.
func (s *exclusions) addSkipped(shown string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.skipped = append(s.skipped, workspace.Spell(shown))
}

// skippedPaths returns the skipped paths in order.
func (s *exclusions) skippedPaths() []string {
	slices.Sort(s.skipped)
	return slices.Compact(s.skipped)
}

func containsName(names []string, name string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return sameName(n, name) })
}

// sameName compares names as the system does.
func sameName(a, b string) bool {
	return a == b || (runtime.GOOS == "windows" || runtime.GOOS == "darwin") && strings.EqualFold(a, b)
}

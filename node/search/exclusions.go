package search

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"fairlead/gateway/peer/sensitive"
	"fairlead/node/access"
	"fairlead/node/sandbox"
	"fairlead/node/workspace"

	"github.com/bmatcuk/doublestar/v4"
)

// exclusions are the places of keys and tokens that a search skips: those that it did not begin in.
type exclusions struct {
	places   []sandbox.Place
	byFolder map[string][]string // names of places, by their folders as [foldName] returns them
	byName   bool                // also skip files whose names mark them as secret in every folder

	mu      sync.Mutex
	skipped []string // skipped paths, as results spell them
}

// newExclusions returns the places to skip for a search that begins in from, a path without
// symbolic links.
func newExclusions(ws *workspace.Root, from string) *exclusions {
	s := &exclusions{byFolder: map[string][]string{}, byName: true}
	for _, p := range sandbox.Places() {
		if p.Contains(from) || access.IsChosen(ws, p, p.Path) {
			s.byName = s.byName && !p.Contains(from)
			continue
		}
		s.places = append(s.places, p)
		dir := foldName(filepath.Dir(p.Path))
		s.byFolder[dir] = append(s.byFolder[dir], foldName(filepath.Base(p.Path)))
	}
	return s
}

// namesIn returns the names to skip in a folder, as [foldName] returns them; usually nil. It is
// called once for each searched folder.
func (s *exclusions) namesIn(dir string) []string { return s.byFolder[foldName(dir)] }

func (s *exclusions) isExcludedName(name string) bool { return s.byName && sensitive.SecretName(name) }

func (s *exclusions) excludes(path string) bool {
	return s.isExcludedName(filepath.Base(path)) || slices.ContainsFunc(s.places, func(p sandbox.Place) bool { return p.Contains(path) && !p.IsPublic(path) })
}

func (s *exclusions) addSkipped(shown string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.skipped = append(s.skipped, workspace.Spell(shown))
}

func (s *exclusions) skippedPaths() []string {
	slices.Sort(s.skipped)
	return slices.Compact(s.skipped)
}

// foldName maps names that the system treats as equal to the same string.
func foldName(name string) string {
	if workspace.FoldsCase {
		return strings.ToLower(name)
	}
	return name
}

const maxIgnore = 1 << 20

// ignoreRules are the rules that apply in a folder: its own, then those of the folders above.
type ignoreRules struct {
	above *ignoreRules
	name  string // name of the folder in its parent
	rules []rule // later ones take precedence
}

type rule struct {
	pattern string // a glob for the path relative to the rule's folder, or for the name
	byPath  bool   // the pattern matches the path
	dirOnly bool   // applies to folders only
	negated bool   // matching names are not ignored after all
}

func (i *ignoreRules) excludes(name string, dir bool) bool {
	rel := name
	for at := i; at != nil; at = at.above {
		for n := len(at.rules) - 1; n >= 0; n-- {
			if r := at.rules[n]; r.matches(name, rel, dir) {
				return !r.negated
			}
		}
		rel = at.name + "/" + rel
	}
	return false
}

func (r rule) matches(name, rel string, dir bool) bool {
	if r.dirOnly && !dir {
		return false
	}
	if r.byPath {
		return doublestar.MatchUnvalidated(r.pattern, rel)
	}
	return doublestar.MatchUnvalidated(r.pattern, name)
}

func (i *ignoreRules) below(name string) *ignoreRules { return &ignoreRules{above: i, name: name} }

// addFolder adds the rules of the folder itself. A file that cannot be read has no rules.
func (i *ignoreRules) addFolder(dir *workspace.Dir) {
	if git, err := dir.Sub(".git"); err == nil {
		i.above = nil // a separate repository
		if info, err := git.Sub("info"); err == nil {
			i.addFile(info, "exclude")
			info.Close()
		}
		git.Close()
	}
	i.addFile(dir, ".gitignore")
	i.addFile(dir, ".ignore")
}

func (i *ignoreRules) addFile(dir *workspace.Dir, name string) {
	f, err := dir.Open(name)
	if err != nil {
		return
	}
	defer f.Close()
	text, _ := io.ReadAll(io.LimitReader(f, maxIgnore)) // the rules up to an error count
	i.rules = append(i.rules, parseIgnore(string(text))...)
}

// parseIgnore reads the rules of a .gitignore; see gitignore(5). Of the libraries for that,
// sabhiram/go-gitignore compiles each line to a regular expression and go-git compares each name
// with the patterns of all folders: too slow for a walk that must keep up with fd.
func parseIgnore(text string) (rules []rule) {
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		line = strings.TrimSuffix(strings.TrimSuffix(line, "\n"), "\r")
		for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
			line = line[:len(line)-1]
		}
		if line == "" || line[0] == '#' {
			continue
		}
		var r rule
		line, r.negated = strings.CutPrefix(line, "!")
		line, r.dirOnly = strings.CutSuffix(line, "/")
		r.byPath = strings.Contains(line, "/")
		// In .gitignore, braces are not alternatives, and both ! and ^ negate classes.
		r.pattern = strings.NewReplacer("{", `\{`, "}", `\}`, `\{`, `\{`, `\}`, `\}`).Replace(strings.TrimPrefix(line, "/"))
		if r.pattern != "" && doublestar.ValidatePattern(r.pattern) {
			rules = append(rules, r)
		}
	}
	return rules
}

// parentRules returns the rules that the folders above a folder impose on it, up to the top of its
// repository and of the workspace; none outside of repositories.
func parentRules(ctx context.Context, ws *workspace.Root, abs string) (rules *ignoreRules, inRepository bool) {
	if _, info, err := ws.Target(workspace.Path{Abs: filepath.Join(abs, ".git")}); err == nil && (info.IsDir() || info.Mode().IsRegular()) {
		return &ignoreRules{}, true
	}
	up := filepath.Dir(abs)
	if up == abs || ctx.Err() != nil {
		return &ignoreRules{}, false
	}
	dir, err := ws.OpenDir(workspace.Path{Abs: up})
	if err != nil {
		return &ignoreRules{}, true
	}
	defer dir.Close()
	if rules, inRepository = parentRules(ctx, ws, up); inRepository {
		rules.addFolder(dir)
		rules = rules.below(filepath.Base(abs))
	}
	return rules, inRepository
}

func isSeparator(b byte) bool { return b == '/' || os.IsPathSeparator(b) }

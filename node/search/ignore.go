package search

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"fairlead/node/workspace"
)

// maxIgnore is the maximum number of bytes that are read of a .gitignore.
const maxIgnore = 1 << 20

// selection says which names a walk skips. The zero value skips none, as the original system does.
type selection struct {
	noHidden  bool // names that begin with a dot
	noIgnored bool // .git, and names matched by .gitignore, .ignore and .git/info/exclude
}

func selected(hidden, ignored *bool) selection {
	return selection{noHidden: hidden != nil && !*hidden, noIgnored: ignored != nil && !*ignored}
}

// leaves reports whether e is skipped by the rules of its folder.
func (s selection) leaves(e workspace.Entry, rules *ignores) bool {
	if s.noHidden && e.Name[0] == '.' {
		return true
	}
	return s.noIgnored && (e.Name == ".git" || rules.ignored(e.Name, e.IsDir()))
}

// ignores are the rules that apply in a folder: its own, then those of the folders above.
type ignores struct {
	above *ignores
	name  string // name of the folder in its parent
	rules []rule // later ones take precedence
}

type rule struct {
	pattern string // a glob for the path relative to the rule's folder, or for the name
	path    bool   // the pattern matches the path
	dir     bool   // applies to folders only
	keep    bool   // matching names are not ignored after all
}

// ignored reports whether name in the folder of i is skipped. A nil i skips nothing.
func (i *ignores) ignored(name string, dir bool) bool {
	rel := name
	for at := i; at != nil; at = at.above {
		for n := len(at.rules) - 1; n >= 0; n-- {
			if r := at.rules[n]; r.names(name, rel, dir) {
				return !r.keep
			}
		}
		rel = at.name + "/" + rel
	}
	return false
}

func (r rule) names(name, rel string, dir bool) bool {
	if r.dir && !dir {
		return false
	}
	if r.path {
		return doublestar.MatchUnvalidated(r.pattern, rel)
	}
	return doublestar.MatchUnvalidated(r.pattern, name)
}

// below returns the rules of a folder with that name.
func (i *ignores) below(name string) *ignores { return &ignores{above: i, name: name} }

// read adds the rules of the folder itself. A file that cannot be read has no rules.
func (i *ignores) read(dir *workspace.Dir) {
	if git, err := dir.Sub(".git"); err == nil {
		i.above = nil // a separate repository
		if info, err := git.Sub("info"); err == nil {
			i.file(info, "exclude")
			info.Release()
		}
		git.Release()
	}
	i.file(dir, ".gitignore")
	i.file(dir, ".ignore")
}

func (i *ignores) file(dir *workspace.Dir, name string) {
	f, err := dir.Open(name)
	if err != nil {
		return
	}
	defer f.Close()
	text := make([]byte, 0, min(max(f.Size, 0), maxIgnore)+1)
	for len(text) < cap(text) {
		n, err := f.Read(text[len(text):cap(text)])
		if text = text[:len(text)+n]; err != nil {
			break
		}
	}
	i.rules = append(i.rules, parseIgnore(string(text))...)
}

// parseIgnore reads the rules of a .gitignore; see gitignore(5).
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
		line, r.keep = strings.CutPrefix(line, "!")
		line, r.dir = strings.CutSuffix(line, "/")
		r.path = strings.Contains(line, "/")
		// In .gitignore, braces are not alternatives, and both ! and ^ negate classes.
		r.pattern = strings.NewReplacer("{", `\{`, "}", `\}`, `\{`, `\{`, `\}`, `\}`).Replace(strings.TrimPrefix(line, "/"))
		if r.pattern != "" && doublestar.ValidatePattern(r.pattern) {
			rules = append(rules, r)
		}
	}
	return rules
}

// ignoresAbove returns the rules that the folders above the first folder of a walk impose on it, up
// to the top of the repository and of the workspace.
func ignoresAbove(ctx context.Context, ws *workspace.Root, abs string) *ignores {
	var up []string // from the parent upwards
	for at := abs; ; {
		if info, err := target(ws, filepath.Join(at, ".git")); err == nil && (info.IsDir() || info.Mode().IsRegular()) {
			break
		}
		next := filepath.Dir(at)
		if next == at || ctx.Err() != nil {
			return &ignores{} // not in a repository
		}
		if _, err := target(ws, next); err != nil {
			break
		}
		at = next
		up = append(up, at)
	}
	var rules *ignores
	for n := len(up) - 1; n >= 0; n-- {
		here := &ignores{above: rules}
		if rules != nil {
			here.name = filepath.Base(up[n])
		}
		if p, err := ws.At(up[n]); err == nil {
			if dir, err := ws.OpenDir(p); err == nil {
				here.read(dir)
				dir.Release()
			}
		}
		rules = here
	}
	if rules == nil {
		return &ignores{}
	}
	return rules.below(filepath.Base(abs))
}

func target(ws *workspace.Root, abs string) (fs.FileInfo, error) {
	p, err := ws.At(abs)
	if err != nil {
		return nil, err
	}
	_, info, err := ws.Target(p)
	return info, err
}

func separator(b byte) bool { return b == '/' || os.IsPathSeparator(b) }

package policy

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"fairlead/gateway/peer/shell"
)

// maxFolders is the number of possible folders of a command; with more, its folder is unknown.
const maxFolders = 8

// folders are a command's possible working folders; nil is unknown.
type folders []string

// pathResolver resolves the paths of commands. It knows in which folders they run, which changes
// from one command to the next.
type pathResolver struct {
	call   *Call
	places *places
	start  string  // the call's folder as given; dirs may have the target of a link in it
	starts folders // in which the text may start, or commands that launchers start
	dirs   folders // of the command that is decided about
	moved  bool
}

func newPathResolver(c *Call) *pathResolver {
	at := newPlaces(c)
	p := &pathResolver{call: c, places: at}
	if isAbs(c.Cwd) {
		p.dirs = folders{at.realPath(clean(c.Cwd))}
		at.root = cmp.Or(at.root, p.dirs[0])
	}
	if c.Resolve == nil || p.dirs == nil {
		p.starts = p.dirs
		return p
	}
	p.start = p.dirs[0]
	dir, err := c.Resolve(p.start)
	root, err2 := c.Resolve(at.root)
	if err != nil || err2 != nil {
		p.dirs = nil
		return p
	}
	p.dirs, at.root = folders{clean(dir)}, clean(root)
	p.starts = p.dirs
	return p
}

// is reports whether d is cwd, or below it with tree, by any of its names if strict.
func (p *pathResolver) is(d, cwd string, tree, strict bool) bool {
	isSame := func(d, cwd string) bool { return d == cwd || tree && isIn(d, cwd) }
	for _, have := range []string{d, p.start} {
		if have == "" || have != d && p.moved {
			continue
		}
		if isSame(p.places.realPath(have), p.places.realPath(cwd)) ||
			strict && slices.ContainsFunc(p.places.allNames(have), func(name string) bool { return isSame(name, cwd) }) {
			return true
		}
	}
	return false
}

// isOnlyIn reports whether the command certainly runs in exactly this folder.
func (p *pathResolver) isOnlyIn(dir string) bool {
	return len(p.dirs) == 1 && p.is(p.dirs[0], clean(dir), false, false)
}

// enter sets the folders of a command.
func (p *pathResolver) enter(f shell.Folders) {
	p.moved = p.moved || f.Moved
	p.dirs = p.foldersOf(f)
}

// foldersOf returns the folders to which the ways of a command lead.
func (p *pathResolver) foldersOf(f shell.Folders) (list folders) {
	for _, way := range f.Ways {
		for _, dir := range p.starts {
			for _, target := range way {
				if dir = p.folderAt(dir, target); dir == "" {
					return nil
				}
			}
			if !slices.Contains(list, dir) {
				list = append(list, dir)
			}
		}
	}
	if len(list) > maxFolders {
		return nil
	}
	return list
}

// folderAt returns the folder that a word names in another folder; empty if it is unknown.
func (p *pathResolver) folderAt(dir string, w shell.Word) string {
	to := clean(w.Text)
	switch {
	case w.Tilde:
		if p.places.home == "" || w.Text != "~" && !strings.HasPrefix(w.Text, "~/") {
			return ""
		}
		to = path.Join(p.places.home, strings.TrimPrefix(w.Text, "~"))
	case !isAbs(to):
		to = path.Join(dir, to)
	}
	return p.places.realPath(to)
}

// enterLaunched handles commands whose launcher may start c in another folder.
func (p *pathResolver) enterLaunched(all []shell.Command, c shell.Command) {
	if c.Parent < 0 || c.Parent >= len(all) || p.dirs == nil {
		return
	}
	before, name := p.dirs, baseName(all[c.Parent].Words[0].Text)
	if name == "git" { // programs that git starts run in the top folder
		p.dirs = p.places.repository(p.dirs)
	}
	for _, a := range tableAccesses("in:"+name, all[c.Parent].Words[1:]) {
		a.word.Tilde = a.word.Tilde || strings.HasPrefix(a.word.Text, "~")
		p.addFolder(a.word)
		if a.verb == "unknown" {
			p.dirs = nil
		}
	}
	if p.dirs == nil {
		p.starts = nil
		return
	}
	launched := slices.DeleteFunc(slices.Clone(p.dirs), func(dir string) bool { return slices.Contains(before, dir) })
	p.starts = append(slices.Clip(p.starts), launched...)
}

// addFolder adds a folder in which a launcher may start a command.
func (p *pathResolver) addFolder(w shell.Word) {
	p.moved = true
	next := slices.Clone(p.dirs)
	for _, d := range p.dirs {
		to := p.folderAt(d, w)
		if to == "" {
			p.dirs = nil
			return
		}
		if !slices.Contains(next, to) {
			next = append(next, to)
		}
	}
	p.dirs = next
	if w.Dynamic || w.Ambiguous || w.Glob || len(next) > maxFolders {
		p.dirs = nil
	}
}

// paths returns the absolute files that a word may name. ok is false if they cannot be determined.
func (p *pathResolver) paths(w shell.Word) (list []string, ok bool) {
	text := w.Text
	if drive(text) {
		text = strings.ReplaceAll(text, `\`, "/")
	}
	text = withoutProcess(text)
	ok = !w.Dynamic && !w.Ambiguous && !w.Glob
	switch {
	case w.Tilde && (text == "~+" || strings.HasPrefix(text, "~+/")): // the current folder
		for _, d := range p.dirs {
			list = append(list, path.Join(d, text[2:]))
		}
		return list, false
	case w.Tilde:
		rest := strings.TrimPrefix(text, "~")
		if p.places.home == "" {
			return []string{path.Clean("~/" + rest)}, false
		}
		if rest != "" && rest[0] != '/' {
			return nil, false
		}
		list = []string{path.Clean(p.places.home + "/" + rest)}
	case isAbs(text):
		list = []string{clean(text)}
	default:
		ok = ok && p.dirs != nil && text != ""
		for _, d := range p.dirs {
			list = append(list, path.Join(d, text))
		}
	}
	// A rule and the floor may be about a name as well as about its target.
	for i, f := range list {
		if real := p.places.realPath(f); real != f {
			list[i] = real
			list = append(list, f)
		}
	}
	if p.call.Resolve == nil || !ok {
		return list, ok
	}
	for i, f := range list {
		real, err := p.call.Resolve(f)
		if err != nil {
			return list, false
		}
		if real = clean(real); real != f {
			list[i] = real
			list = append(list, f)
		}
	}
	return list, ok
}

// pathsOf is paths for a word that may start with an unmarked tilde.
func (p *pathResolver) pathsOf(w shell.Word) []string {
	w.Tilde = w.Tilde || strings.HasPrefix(w.Text, "~")
	list, _ := p.paths(w)
	return list
}

// isOutside reports whether the text itself may have changed the folder to one outside.
func (p *pathResolver) isOutside() bool {
	return p.moved && (p.dirs == nil || slices.ContainsFunc(p.dirs, func(d string) bool { return !isIn(d, p.places.root) }))
}

// isInside reports whether a path is certainly in the workspace.
func (p *pathResolver) isInside(w shell.Word) bool {
	list, ok := p.paths(w)
	return ok && len(list) > 0 && !slices.ContainsFunc(list, func(f string) bool { return !isIn(p.places.realPath(f), p.places.root) })
}

// isRoot reports whether a word certainly names the workspace's folder.
func (p *pathResolver) isRoot(w shell.Word) bool {
	list, ok := p.paths(w)
	return ok && len(list) > 0 && !slices.ContainsFunc(list, func(f string) bool { return !p.places.sameAsRoot(p.places.realPath(f)) })
}

package policy

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"fairlead/gateway/policy/shell"
	"fairlead/gateway/protocol"
)

// maxFolders is the number of folders in which a command may run before its folder counts as
// unknown.
const maxFolders = 8

// The machine that runs a call may have another operating system than the policy: paths are handled
// as text, with slashes.

func drive(p string) bool {
	return len(p) >= 2 && p[1] == ':' && (p[0]|0x20) >= 'a' && (p[0]|0x20) <= 'z'
}

func isAbs(p string) bool {
	return strings.HasPrefix(p, "/") || drive(p) && len(p) > 2 && (p[2] == '/' || p[2] == '\\')
}

func clean(p string) string {
	if drive(p) {
		p = strings.ReplaceAll(p, `\`, "/")
	}
	return path.Clean(p)
}

// folders are the possible working folders of a command: more than one after a cd that may have
// failed. nil means unknown.
type folders []string

// pathResolver is the state of paths and folders during a decision.
type pathResolver struct {
	call  *Call
	start string // the call's folder as given; dirs may have the target of a link in it
	root  string
	home  string
	dirs  folders
	moved bool

	aliases      []protocol.Alias
	nameCache    map[string][]string    // results of names
	patternCache map[*pathGlob]pathGlob // results of resolved
}

func newPathResolver(c *Call) *pathResolver {
	p := &pathResolver{call: c, home: c.Home, aliases: aliased(c.Aliases)}
	if p.home != "" {
		p.home = p.realPath(clean(p.home))
	}
	if isAbs(c.Cwd) {
		p.dirs = folders{p.realPath(clean(c.Cwd))}
		p.root = p.dirs[0]
	}
	if isAbs(c.Root) {
		p.root = p.realPath(clean(c.Root))
	}
	if c.Resolve == nil || p.dirs == nil {
		return p
	}
	p.start = p.dirs[0]
	dir, err := c.Resolve(p.start)
	root, err2 := c.Resolve(p.root)
	if err != nil || err2 != nil {
		p.dirs = nil
		return p
	}
	p.dirs, p.root = folders{clean(dir)}, clean(root)
	return p
}

// is reports whether d, one of the folders, is cwd or, with tree, is below it: by its real
// location, or, if strict, by any of its names.
func (p *pathResolver) is(d, cwd string, tree, strict bool) bool {
	for _, have := range []string{d, p.start} {
		if have == "" || have != d && p.moved {
			continue
		}
		switch {
		case len(p.aliases) == 0:
			if isOrBelow(have, cwd, tree) {
				return true
			}
		case isOrBelow(p.realPath(have), p.realPath(cwd), tree):
			return true
		case strict && slices.ContainsFunc(p.allNames(have), func(name string) bool { return isOrBelow(name, cwd, tree) }):
			return true
		}
	}
	return false
}

func isOrBelow(d, cwd string, tree bool) bool {
	_, in := relativeTo(d, cwd)
	return d == cwd || in && tree
}

// changeFolder handles a command that changes the folder.
func (p *pathResolver) changeFolder(c shell.Command) {
	switch c.Name() {
	case "cd", "pushd", "popd", "chdir", "z", "j":
	default:
		return
	}
	p.moved = true
	var target *shell.Word
	for i, w := range c.Words[1:] {
		if w.Text == "--" || w.Text == "-P" || w.Text == "-L" || w.Text == "-e" {
			continue
		}
		if target == nil {
			target = &c.Words[i+1]
			continue
		}
		p.dirs = nil
	}
	if target == nil && len(c.Words) == 1 && c.Name() == "cd" {
		target = &shell.Word{Text: "~", Tilde: true}
	}
	if target != nil && target.Tilde && !target.Dynamic && !target.Ambiguous && !target.Glob {
		if list, ok := p.paths(*target); ok {
			target = &shell.Word{Text: list[0]}
		}
	}
	if target == nil || c.Loop || c.Guess || p.dirs == nil || c.Name() != "cd" && c.Name() != "chdir" ||
		!target.Plain() || strings.HasPrefix(target.Text, "-") || target.Text == "" {
		p.dirs = nil
		return
	}
	next := slices.Clone(p.dirs)
	for _, d := range p.dirs {
		to := clean(target.Text)
		if !isAbs(to) {
			to = path.Join(d, to)
		}
		if to = p.realPath(to); !slices.Contains(next, to) {
			next = append(next, to)
		}
	}
	p.dirs = next
	if len(next) > maxFolders {
		p.dirs = nil
	}
}

// paths returns the absolute files that a word may name. ok is false if they cannot be determined.
func (p *pathResolver) paths(w shell.Word) (list []string, ok bool) {
	text := w.Text
	if drive(text) {
		text = strings.ReplaceAll(text, `\`, "/")
	}
	ok = !w.Dynamic && !w.Ambiguous && !w.Glob
	if rest, own := ownProcess(text); own {
		text = rest
	}
	switch {
	case w.Tilde && (text == "~+" || strings.HasPrefix(text, "~+/")): // the current folder
		for _, d := range p.dirs {
			list = append(list, path.Join(d, text[2:]))
		}
		return list, false
	case w.Tilde:
		rest := strings.TrimPrefix(text, "~")
		if p.home == "" {
			return []string{path.Clean("~/" + rest)}, false
		}
		if rest != "" && rest[0] != '/' {
			return nil, false
		}
		list = []string{path.Clean(p.home + "/" + rest)}
	case isAbs(text):
		list = []string{clean(text)}
	default:
		ok = ok && p.dirs != nil && text != ""
		for _, d := range p.dirs {
			list = append(list, join(d, text))
		}
	}
	if len(p.aliases) > 0 {
		for i, f := range list {
			if real := p.realPath(f); real != f {
				list[i] = real
				list = append(list, f) // the floor goes by names, too
			}
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
			list = append(list, f) // a rule may be about the name as well as about its target
		}
	}
	return list, ok
}

// processFolder matches Linux's paths of a process's folders: of this one, or of another one that
// may have the same folder.
var processFolder = regexp.MustCompile(`^/proc/(self|thread-self|[0-9]+)(/task/[0-9]+)?/(cwd|root)(/|$)`)

// ownProcess resolves a path through such a folder of a process.
func ownProcess(text string) (string, bool) {
	if rest, ok := strings.CutPrefix(text, "/dev/fd/"); ok {
		text = "/proc/self/fd/" + rest
	}
	if !strings.HasPrefix(text, "/") || !strings.Contains(text, "proc") {
		return "", false
	}
	text = clean(text)
	m := processFolder.FindStringSubmatch(text)
	switch {
	case m == nil:
		return "", false
	case m[3] == "cwd":
		return "./" + text[len(m[0]):], true
	}
	return "/" + text[len(m[0]):], true
}

// isOutside reports whether a command may run outside the workspace because the text itself changed
// the folder.
func (p *pathResolver) isOutside() bool {
	if !p.moved {
		return false
	}
	for _, d := range p.dirs {
		if _, in := relativeTo(d, p.root); !in {
			return true
		}
	}
	return p.dirs == nil
}

// repository adds the workspace to folders in it, because a repository's files start at its top.
func (p *pathResolver) repository(list []string) []string {
	for _, f := range list {
		if _, in := relativeTo(f, p.root); in && f != p.root {
			return append(slices.Clone(list), p.root)
		}
	}
	return list
}

// join is path.Join for a clean folder, faster for a text without . and .. parts.
func join(dir, text string) string {
	if text == "" || strings.Contains(text, "//") || strings.Contains(text, "./") || text[0] == '/' || text[len(text)-1] == '/' || text[len(text)-1] == '.' || dir == "/" {
		return path.Join(dir, text)
	}
	return dir + "/" + text
}

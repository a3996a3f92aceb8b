package confine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fairlead/node/workspace"
)

// Wrapping describes the file system that bubblewrap makes for a command when the kernel does not
// have Landlock. Unlike a [Ruleset], it completely hides the hidden paths, and protects modes,
// owners and times outside as well. A hidden name that is created while the command runs, in a
// folder that the command could not write, is visible.
type Wrapping struct {
	Files
	View View
	// Blank is an empty file without permissions, which is mounted over hidden files.
	Blank string
	// NoNet gives the command an empty network name space.
	NoNet bool
}

// Args returns the arguments of bubblewrap that come before the command. They neither end the
// command with bubblewrap nor give it a session; the caller is responsible for both.
func (w Wrapping) Args() []string {
	args := []string{"--cap-drop", "ALL", "--ro-bind", "/", "/"}
	if w.NoNet {
		args = append(args, "--unshare-net")
	}
	s := shaper{blank: w.Blank, at: map[string][]string{}, after: map[string][]string{}}
	for _, h := range w.Hidden {
		h = workspace.RealPath(h)
		if h == "/" {
			continue
		}
		s.hidden = append(s.hidden, h)
		s.hide(h)
	}
	for _, d := range w.Devices {
		s.at[d] = []string{"--dev-bind", d, d}
	}
	if slices.Contains(s.hidden, "/dev") {
		for name, to := range map[string]string{"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"} {
			s.at["/dev/"+name] = []string{"--symlink", to, "/dev/" + name}
		}
	}
	for _, p := range w.Read {
		s.root(p, false)
	}
	for _, p := range w.Write {
		s.root(p, true)
	}
	for _, m := range w.View.mounts() {
		s.protect(m)
	}
	return append(args, s.args()...)
}

// protect adds a mount of a [View]. A folder is only made writable where it was.
func (s *shaper) protect(m mount) {
	switch {
	case slices.ContainsFunc(s.hidden, func(h string) bool { return workspace.InFolder(m.path, h) }):
	case m.readOnly:
		s.at[m.path] = []string{"--ro-bind", m.source, m.path}
	case s.at[m.path] != nil:
	default:
		for dir := filepath.Dir(m.path); dir != "/"; dir = filepath.Dir(dir) {
			if how := s.at[dir]; how != nil {
				s.at[m.path] = []string{how[0], m.path, m.path}
				return
			}
		}
	}
}

// shaper collects the mounts. Outer folders come before inner ones. Hidden folders become read-only
// after everything in them is mounted.
type shaper struct {
	blank     string
	hidden    []string
	at, after map[string][]string
}

func (s *shaper) args() (args []string) {
	for _, what := range []map[string][]string{s.at, s.after} {
		paths := make([]string, 0, len(what))
		for p := range what {
			paths = append(paths, p)
		}
		slices.SortFunc(paths, func(a, b string) int {
			if n := strings.Count(a, "/") - strings.Count(b, "/"); n != 0 {
				return n
			}
			return strings.Compare(a, b)
		})
		for _, p := range paths {
			args = append(args, what[p]...)
		}
	}
	return args
}

// hide mounts something empty over a path that exists. Other paths need no mount: see open.
func (s *shaper) hide(path string) {
	switch info, err := os.Lstat(path); {
	case err != nil:
	case info.IsDir():
		s.at[path], s.after[path] = []string{"--tmpfs", path}, []string{"--remount-ro", path}
	default:
		s.at[path] = []string{"--ro-bind", s.blank, path}
	}
}

// root grants a path that was named in Files, following links to it.
func (s *shaper) root(path string, write bool) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return // does not exist: nothing to grant
	}
	in := slices.ContainsFunc(s.hidden, func(h string) bool { return workspace.InFolder(real, h) })
	switch {
	case !write && in:
		s.bind("--ro-bind", real)
	case write:
		if in && s.holdsHidden(real) {
			s.bind("--ro-bind", real)
		}
		s.open(real)
	}
}

func (s *shaper) bind(how, path string) {
	if workspace.InFolder(path, "/dev") {
		how = "--dev-bind" // devices do not work with other kinds of mounts
	}
	s.at[path] = []string{how, path, path}
	delete(s.after, path)
}

func (s *shaper) holdsHidden(path string) bool {
	return slices.ContainsFunc(s.hidden, func(h string) bool { return h != path && workspace.InFolder(h, path) })
}

// open makes path writable, except for hidden paths: a folder with a hidden entry is opened entry
// by entry, so that nothing can be created directly in it, not even under a hidden name.
func (s *shaper) open(path string) {
	if !s.holdsHidden(path) {
		s.bind("--bind", path)
		return
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return
	}
	for _, e := range entries {
		child := filepath.Join(path, e.Name())
		if e.Type()&os.ModeSymlink == 0 && !slices.Contains(s.hidden, child) {
			s.open(child)
		}
	}
}

package confine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Wrapping is what bubblewrap makes of the files for a command, where the kernel has no Landlock. Other than a [Ruleset] it shows nothing at all of
// what is hidden, and keeps modes, owners and times outside as well. What is hidden by name and made while the command runs, in a folder that the
// command could not write, is seen.
type Wrapping struct {
	Files
	// Blank is an empty file that nobody may read; it stands where a hidden file is.
	Blank string
	// NoNet leaves a network without anybody else in it.
	NoNet bool
}

// Args are the arguments of bubblewrap that come before the command. Nothing in them ends the command with bubblewrap or gives it a session: whoever
// starts it sees to both.
func (w Wrapping) Args() []string {
	args := []string{"--cap-drop", "ALL", "--ro-bind", "/", "/"}
	if w.NoNet {
		args = append(args, "--unshare-net")
	}
	s := shaper{blank: w.Blank, at: map[string][]string{}, after: map[string][]string{}}
	var r Resolver
	for _, h := range w.Hidden {
		h, there := r.Resolve(filepath.Clean(h))
		if h == "/" {
			continue
		}
		s.hidden = append(s.hidden, h)
		if there {
			s.hide(h)
		}
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
	return append(args, s.args()...)
}

// shaper collects what is mounted where. Outer folders come before inner ones, and are closed when all in them is there.
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

// hide puts something empty over what is there. What is not there needs nothing: see open.
func (s *shaper) hide(path string) {
	switch info, err := os.Lstat(path); {
	case err != nil:
	case info.IsDir():
		s.at[path], s.after[path] = []string{"--tmpfs", path}, []string{"--remount-ro", path}
	default:
		s.at[path] = []string{"--ro-bind", s.blank, path}
	}
}

// root grants what was named by someone, following links to it.
func (s *shaper) root(path string, write bool) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return // nothing to grant
	}
	in := slices.ContainsFunc(s.hidden, func(h string) bool { return within(real, h) })
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
	if within(path, "/dev") {
		how = "--dev-bind" // others cannot be used as devices
	}
	s.at[path] = []string{how, path, path}
	delete(s.after, path)
}

func (s *shaper) holdsHidden(path string) bool {
	return slices.ContainsFunc(s.hidden, func(h string) bool { return h != path && within(h, path) })
}

// open lets path be written, but for what is hidden there: a folder with something hidden in it is opened entry by entry, so that nothing can be made
// directly in it, under a hidden name neither.
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

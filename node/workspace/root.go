package workspace

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"unicode/utf8"

	"fairlead/gateway/protocol"
)

// Root is a workspace with its granted folders. It is safe for use by many goroutines.
type Root struct {
	paths    resolver
	locks    *locks                          // shared with the results of WithGrant
	changing func(path string) (done func()) // see [Root.WithChanging]; may be nil
}

// resolver decides which paths of a workspace may be used and where they lead.
type resolver struct {
	config Config // its paths are absolute and without symbolic links
	areas  areas
	fs     fileSystem
	target string // see [Root.WithTarget]; empty means any
}

// fileSystem opens files. Names are absolute and were found free of symbolic links. Where the
// system supports it (Linux), nothing is opened through a symbolic link; elsewhere a link that was
// created meanwhile leads no further than the folder that contains the name.
type fileSystem interface {
	OpenFile(name string, flag int, perm os.FileMode) (*os.File, error)
	// OpenRoot opens a folder for an entry that exists in it or will be created there; "." is the
	// folder itself.
	OpenRoot(name, entry string) (*os.Root, error)
	Lstat(name string) (os.FileInfo, error)
	Readlink(name string) (string, error)
	MkdirAll(name string, perm os.FileMode) error
}

// Close closes the folders. Open files stay open.
func (r *Root) Close() error { return r.paths.areas.close() }

// Dir returns the workspace's absolute path, free of symbolic links.
func (r *Root) Dir() string { return r.paths.config.Dir }

// Config returns how the workspace is configured, with absolute paths free of symbolic links. The
// caller must not change its list of grants.
func (r *Root) Config() Config { return r.paths.config }

// Path is a resolved path. Its String is its spelling; see [Spell].
type Path struct {
	// Abs is absolute and clean, with the system's names. Its components may be symbolic links.
	Abs string
	// Outside reports that Abs lies neither in the workspace nor in a granted folder; links are not
	// considered.
	Outside bool
}

func (p Path) String() string { return Spell(p.Abs) }

// OutsideError is the error for a path outside the workspace. Its text is meant for the model.
type OutsideError struct {
	Path    string // as requested, absolute
	Link    string // target of a symbolic link on the path; empty if Path itself lies outside
	Dir     string // the workspace
	Granted bool   // there are granted folders; Path is in none of them
}

func (e *OutsideError) Error() string {
	what, limits := fmt.Sprintf("outside the workspace '%s'", Spell(e.Dir)), "the workspace"
	if e.Granted {
		what, limits = what+" and the granted folders", "those"
	}
	if e.Link != "" {
		what = fmt.Sprintf("'%s' leads through a symbolic link to '%s', %s", Spell(e.Path), Spell(e.Link), what)
	} else {
		what = fmt.Sprintf("'%s' is %s", Spell(e.Path), what)
	}
	return what + ". File tools on this machine are limited to " + limits +
		". Use a path inside, or ask the person to grant the folder or to start this node with a wider workspace or with access to the whole disk."
}

// Resolve makes a path, spelled as in [Spell], absolute: relative paths start at the workspace, ""
// is the workspace itself. It examines only the text and accesses no file. Names that this system
// would interpret as something else are refused. In a restricted workspace a path outside is an
// *OutsideError; the Path is returned all the same.
func (r *Root) Resolve(text string) (Path, error) {
	if !utf8.ValidString(text) {
		return Path{}, protocol.NewFault(protocol.FaultInvalidArgs, fmt.Sprintf("path %q is not UTF-8", text))
	}
	return r.paths.at(Unspell(text))
}

// At is Resolve for a path with the system's names.
func (r *Root) At(name string) (Path, error) { return r.paths.at(name) }

func (r *resolver) at(name string) (Path, error) {
	if strings.ContainsRune(name, 0) {
		return Path{}, protocol.NewFault(protocol.FaultInvalidArgs, fmt.Sprintf("path %q contains a zero byte", name))
	}
	abs := filepath.Clean(name)
	switch {
	case name == "":
		abs = r.config.Dir
	case !filepath.IsAbs(name):
		if filepath.VolumeName(name) != "" || os.PathSeparator == '\\' && os.IsPathSeparator(name[0]) {
			return Path{}, fmt.Errorf("path %q is neither relative nor absolute; give the drive and the full path", name)
		}
		abs = filepath.Join(r.config.Dir, name)
	}
	if err := checkName(runtime.GOOS, name); err != nil {
		return Path{}, err
	}
	p := Path{Abs: r.areas.real(abs)}
	if p.Outside = !r.inside(p.Abs); p.Outside && !r.config.WholeDisk {
		return p, r.outside(p.Abs, "")
	}
	return p, nil
}

// Rel returns p relative to the workspace, or absolute if it lies outside; for people.
func (r *Root) Rel(p Path) string {
	if rel, ok := within(r.paths.config.Dir, p.Abs); ok {
		return Spell(rel)
	}
	return p.String()
}

func (r *resolver) inside(abs string) bool {
	_, _, ok := r.areas.find(abs)
	return ok
}

// within returns path relative to dir if it lies in it. Both are absolute and clean.
func within(dir, path string) (string, bool) {
	rel, err := filepath.Rel(dir, path)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+separator) {
		return "", false
	}
	return rel, true
}

// IsRefusal reports whether a Root refused a path: the error names it and says what to do.
func IsRefusal(err error) bool {
	_, outside := errors.AsType[*OutsideError](err)
	_, readOnly := errors.AsType[*ReadOnlyError](err)
	_, replaced := errors.AsType[*FolderReplacedError](err)
	return outside || readOnly || replaced || errors.Is(err, ErrTargetChanged)
}

// errPrivate is the error for this program's own data, and errProcess for what the kernel shows of
// running processes: their memory, open files and variables, including this program's with its
// keys.
var (
	errPrivate = errors.New("it belongs to Fairlead itself (keys, history, settings), which tools cannot access")
	errProcess = errors.New("it shows the memory and open files of a running program, which tools cannot access")
)

// checkAllowed refuses paths to which tools never get access, wherever they lie: in the workspace,
// in a granted folder, on the whole disk. A workspace or a granted folder within such a path is
// permitted.
func (r *resolver) checkAllowed(abs string) error {
	private := r.config.Private != "" && InFolder(abs, r.config.Private)
	if !private && !isProcessFolder(abs) {
		return nil
	}
	if a, _, ok := r.areas.find(abs); ok && (private && InFolder(a.dir, r.config.Private) || !private && isProcessFolder(a.dir)) {
		return nil
	}
	if private {
		return errPrivate
	}
	return errProcess
}

// Skips reports whether a search skips the folder of that name in d: paths to which tools never get
// access, and the folders at the top of the disk whose files the kernel generates.
func (r *Root) Skips(d *Dir, name string) bool {
	if d.Abs == separator && generatedFolders[name] {
		return true
	}
	return r.paths.checkAllowed(childPath(d.Abs, name)) != nil
}

// RealPath returns an absolute path without symbolic links, as far as it exists; "" of "".
func RealPath(path string) string {
	if path == "" {
		return ""
	}
	path = filepath.Clean(path)
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	dir := filepath.Dir(path)
	if dir == path {
		return path
	}
	return filepath.Join(RealPath(dir), filepath.Base(path))
}

// FoldsCase says that the system treats names that differ only in case as the same.
const FoldsCase = runtime.GOOS == "windows" || runtime.GOOS == "darwin"

// InFolder reports whether a path is a folder or lies in it, as the system compares names. Both are
// absolute and clean.
func InFolder(path, dir string) bool {
	if FoldsCase {
		path, dir = strings.ToLower(path), strings.ToLower(dir)
	}
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, separator)+separator)
}

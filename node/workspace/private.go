package workspace

import (
	"errors"
	"path/filepath"
	"runtime"
	"strings"
)

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
	private := r.private != "" && InFolder(abs, r.private)
	if !private && !isProcessFolder(abs) {
		return nil
	}
	if a, _, ok := r.areas.find(abs); ok && (private && InFolder(a.dir, r.private) || !private && isProcessFolder(a.dir)) {
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
	return r.checkAllowed(childPath(d.Abs, name)) != nil
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

package workspace

import (
	"errors"
	"path/filepath"
	"runtime"
	"strings"
)

// errPrivate is the error for this program's own data, and errProgram for what the kernel shows of
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
	private := r.private != "" && inFolder(abs, r.private)
	if !private && !isProcessFolder(abs) {
		return nil
	}
	if a, _, ok := r.areas.find(abs); ok && (private && inFolder(a.dir, r.private) || !private && isProcessFolder(a.dir)) {
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
	// Most folders are neither, which the length of their names shows.
	perhaps := len(strings.TrimSuffix(d.Abs, separator))+1+len(name) == len(r.private) || d.Abs == procFolder
	return perhaps && r.checkAllowed(filepath.Join(d.Abs, name)) != nil
}

// realPath returns a path without symbolic links, as far as it exists.
func realPath(path string) string {
	for at, rest := path, ""; at != ""; {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		up := filepath.Dir(at)
		if up == at {
			break
		}
		at, rest = up, filepath.Join(filepath.Base(at), rest)
	}
	return path
}

// inFolder reports whether a path is a folder or lies in it, as the system compares names.
func inFolder(path, dir string) bool {
	_, ok := within(lower(dir), lower(path))
	return ok
}

// lower returns a path in the form in which it is compared.
func lower(path string) string {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return strings.ToLower(path)
	}
	return path
}

package workspace

import (
	"errors"
	"path/filepath"
	"runtime"
	"strings"
)

// errPrivate is why nothing is done with what belongs to this program, and errProgram with what the kernel shows of running ones: their memory, open
// files and variables, this program's with its keys among them.
var (
	errPrivate = errors.New("it belongs to Fairlead itself (keys, history, settings), which tools leave alone")
	errProgram = errors.New("it shows what a running program holds, which tools leave alone")
)

// apart refuses what no tool is given, wherever it lies: in the workspace, in a granted folder, on the whole disk. A workspace or a granted folder inside
// of it is used.
func (r *Root) apart(abs string) error {
	private := r.private != "" && inFolder(abs, r.private)
	if !private && !ofProgram(abs) {
		return nil
	}
	if a, _, ok := r.areas.find(abs); ok && (private && inFolder(a.dir, r.private) || !private && ofProgram(a.dir)) {
		return nil
	}
	if private {
		return errPrivate
	}
	return errProgram
}

// Skips reports whether a search leaves out the folder of that name in d: what no tool is given, and the files below the root of the disk that the kernel
// makes up as they are read.
func (r *Root) Skips(d *Dir, name string) bool {
	if d.Abs == separator && madeUp[name] {
		return true
	}
	// Most folders are neither, which their names' lengths tell.
	perhaps := len(strings.TrimSuffix(d.Abs, separator))+1+len(name) == len(r.private) || d.Abs == procFolder
	return perhaps && r.apart(filepath.Join(d.Abs, name)) != nil
}

// realOf is a path without symbolic links, as far as it is there.
func realOf(path string) string {
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
	_, ok := beneath(lower(dir), lower(path))
	return ok
}

// lower is what a path is compared as.
func lower(path string) string {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return strings.ToLower(path)
	}
	return path
}

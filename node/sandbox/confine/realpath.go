package confine

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Resolver follows the symbolic links in many paths. Most of the paths do not exist, and many are
// in the same few folders, so it lists each folder once instead of asking the system about every
// path. The zero value is ready to use. It is for one goroutine and for a short time, because it
// caches.
type Resolver struct{ folders map[string]*listing }

// listing is the cached content of a folder.
type listing struct {
	real  string
	there bool
	names map[string]fs.FileMode // by foldName; nil if the folder cannot be listed
}

// Resolve returns a clean absolute path without the links in the part of it that exists, and
// whether all of it exists.
func (r *Resolver) Resolve(path string) (real string, there bool) {
	i := strings.LastIndexByte(path, filepath.Separator)
	if i < 0 || i == len(path)-1 { // a root
		return path, true
	}
	dir := path[:max(i, len(filepath.VolumeName(path))+1)] // the root keeps its separator
	f := r.folders[dir]
	if f == nil {
		f = r.list(dir)
	}
	switch {
	case f.real == dir: // no link on the path
		real = path
	case strings.HasSuffix(f.real, string(filepath.Separator)): // a root
		real = f.real + path[i+1:]
	default:
		real = f.real + path[i:]
	}
	if !f.there {
		return real, false
	}
	mode, there := f.names[foldName(path[i+1:])]
	if f.names == nil {
		info, err := os.Lstat(real)
		if there = err == nil; there {
			mode = info.Mode()
		}
	}
	if !there || mode.IsDir() || mode.IsRegular() {
		return real, there
	}
	// It is a link, or on Windows any other kind of redirection.
	target, err := filepath.EvalSymlinks(real)
	if err != nil {
		return real, false
	}
	return target, true
}

// list resolves a folder and lists it.
func (r *Resolver) list(dir string) *listing {
	if r.folders == nil {
		r.folders = map[string]*listing{}
	}
	f := &listing{}
	f.real, f.there = r.Resolve(dir)
	r.folders[dir] = f
	if !f.there {
		return f
	}
	d, err := os.Open(f.real)
	if err != nil {
		return f
	}
	defer d.Close()
	entries, err := d.ReadDir(-1)
	if err != nil {
		return f
	}
	f.names = make(map[string]fs.FileMode, len(entries))
	for _, e := range entries {
		f.names[foldName(e.Name())] = e.Type()
	}
	return f
}

// foldName maps names that the system treats as equal to the same string.
func foldName(name string) string {
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		return strings.ToLower(name)
	}
	return name
}

package floor

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// isInner records a repository, an environment of Python or node_modules in a folder that programs
// fill.
func (f *folder) isInner(path string, e os.DirEntry) bool {
	name := strings.ToLower(e.Name())
	switch {
	case e.IsDir() && (stores[name] != nil || strings.HasSuffix(name, ".git")):
		f.innerStores = append(f.innerStores, path)
	case name == ".git": // of a work tree: names the repository
		f.inner = append(f.inner, path)
	case isFilled(name) && e.IsDir():
		f.filled = append(f.filled, path)
	case name == "pyvenv.cfg":
		f.filled = append(f.filled, f.path)
	default:
		return false
	}
	return true
}

// levelOf returns how deep a folder is in one that is replaced as a whole: 1 for that folder itself, 0
// outside of any. dir is where the search started.
func levelOf(path, dir string) int {
	rel := strings.ToLower(filepath.ToSlash(strings.TrimPrefix(path, dir)))
	parts := strings.Split(strings.Trim(rel, "/"), "/")
	if i := slices.IndexFunc(parts, func(p string) bool { return replaced[p] }); i >= 0 {
		return len(parts) - i
	}
	return 0
}

// maxLevel is how deep folders are searched that are replaced as a whole: to
// vendor/github.com/owner/name.
const maxLevel = 4

// isDeepest reports whether the folders in a folder that programs fill are not searched. Of a package
// in node_modules, only itself is.
func (f *folder) isDeepest() bool {
	name, up := filepath.Base(f.path), filepath.Base(filepath.Dir(f.path))
	isPackage := up == "node_modules" && name[0] != '@' || up[0] == '@'
	return isPackage || f.level >= maxLevel
}

// setClosed lists a folder that cannot be read as a whole: a command could close it to make another
// one find it unprotected.
func (f *folder) setClosed() {
	if f.level > 0 {
		f.inner = []string{f.path}
	} else {
		f.files = []string{f.path}
	}
}

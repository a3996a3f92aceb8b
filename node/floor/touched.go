package floor

import (
	"os"
	"path/filepath"
	"slices"

	"fairlead/gateway/peer/sensitive"
)

// maxTouched is the number of files that [List.Touched] returns.
const maxTouched = 20_000

// Touched returns the files that were created, or whose permissions may have changed, since its last
// call, as far as walks have found them; in folders that the system does not report about, only new
// ones. Of the folders that lists leave out, where the system reports about them, it returns those
// files that may be open to others. The first call starts recording. At most maxTouched are returned.
func (l *List) Touched() (files []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	tops := slices.Clone(l.caches)
	for _, t := range l.trees {
		tops = append(tops, t.crowded...)
	}
	l.crowds.update(tops, func(dir, name string) {
		if l.touched != nil && mayBeOpen(dir, name) {
			l.touch(dir, name)
		}
	})
	for path := range l.touched {
		files = append(files, path)
	}
	l.touched = map[string]bool{}
	return files
}

func (l *List) touch(dir, name string) {
	if l.touched != nil && len(l.touched) < maxTouched {
		l.touched[filepath.Join(dir, name)] = true
	}
}

func (l *List) addCache(dir string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Contains(l.caches, dir) {
		l.caches = append(l.caches, dir)
	}
}

// mayBeOpen reports whether a file has the rights of its owner or group for whoever starts it, or
// the name of a secret.
func mayBeOpen(dir, name string) bool {
	if sensitive.SecretName(name) {
		return true
	}
	info, err := os.Lstat(filepath.Join(dir, name))
	return err == nil && info.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0
}

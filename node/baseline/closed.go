package baseline

import (
	"os"
	"path/filepath"
)

// maxNested is the number of closed folders in each other that a look opens.
const maxNested = 100

// isClosed reports whether the state is that of a folder that cannot be read. A folder that can be is
// not recorded, only what is in it.
func (s state) isClosed() bool { return s.Mode.IsDir() && s.Sum == unreadable }

// closedFolder returns the state of a folder that cannot be read or entered. Nothing in it can start
// while it is closed, but a command could close a folder to hide a change until somebody opens it.
func closedFolder(path string) (st state, isClosed bool) {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return st, false
	}
	if _, err = os.Lstat(path + string(filepath.Separator) + "."); err == nil {
		var f *os.File
		if f, err = os.Open(path); err == nil {
			f.Close()
			return st, false
		}
	}
	return state{Mode: info.Mode(), Sum: unreadable}, true
}

// scanOpen is scan after the folders have been opened that commands have closed since the last look.
func (s *Store) scanOpen(edited map[string]bool) (now map[string]state) {
	for range maxNested {
		now = s.scan()
		hasOpened := false
		for path, st := range now {
			if s.files == nil || !st.isClosed() || s.files[path].isClosed() || !s.claim(path, edited) {
				continue
			}
			err := s.folders.chmod(path, st.Mode.Perm()|0o700)
			s.release()
			if err != nil {
				s.log.Warn("A closed folder could not be opened again", "path", path, "err", err)
				continue
			}
			hasOpened = true
		}
		if !hasOpened {
			break
		}
	}
	return now
}

// wasClosed reports whether a path was in a closed folder at the last look, so that its state then is
// unknown.
func (s states) wasClosed(path string) bool {
	for dir := path; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if s[dir].isClosed() {
			return true
		}
	}
	return false
}

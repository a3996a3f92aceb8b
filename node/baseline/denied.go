package baseline

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"fairlead/gateway/protocol"
	"fairlead/node/floor"
	"fairlead/node/workspace"
)

// deniedWhy ends the sentence about a file that a rule denies.
const deniedWhy = "a rule denies"

// absent returns the paths of rules that do not exist: the machine can protect only those that do.
// Patterns with wildcards are left out.
func (f folders) absent(patterns []string) (paths []string) {
	for _, path := range floor.Literal(patterns) {
		if _, _, err := f.find(path); err != nil {
			continue // outside, where commands cannot write
		}
		if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
			paths = append(paths, path)
		}
	}
	return paths
}

// undoDenied moves what commands have created under the rules that deny it to the trash. The caller
// has the token of looks.
func (s *Store) undoDenied(edited map[string]bool) (list []protocol.ProtectedChange) {
	s.mu.Lock()
	var paths []string
	for _, r := range s.running {
		paths = append(paths, r.Absent...)
	}
	s.mu.Unlock()
	slices.Sort(paths)
	for _, path := range slices.Compact(paths) {
		if !s.folders.isThere(path) || !s.claim(path, edited) {
			continue
		}
		c := protocol.ProtectedChange{Path: workspace.Spell(path), Kind: protocol.ProtectedCreated, Why: deniedWhy, SHA256: s.disk.stateOf(path, state{}).Sum}
		var err error
		if c.Trash, err = s.revert(path, state{}, true); err != nil {
			c.Problem = err.Error()
			s.log.Warn("A file that a rule denies could not be set aside", "path", path, "err", err)
		}
		s.release()
		list = append(list, c)
	}
	return list
}

// isThere reports whether a path exists. Folders above it that are closed are opened: a command could
// have closed them to hide the path.
func (f folders) isThere(path string) bool {
	for range maxNested {
		_, err := os.Lstat(path)
		if !errors.Is(err, fs.ErrPermission) {
			return err == nil
		}
		dir := filepath.Dir(path)
		for _, isClosed := closedFolder(dir); !isClosed && dir != filepath.Dir(dir); _, isClosed = closedFolder(dir) {
			dir = filepath.Dir(dir)
		}
		info, err := os.Lstat(dir)
		if err != nil || f.chmod(dir, info.Mode().Perm()|0o700) != nil {
			return false
		}
	}
	return false
}

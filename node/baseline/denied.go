package baseline

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fairlead/gateway/peer/glob"
	"fairlead/gateway/protocol"
	"fairlead/node/floor"
	"fairlead/node/workspace"
)

// deniedWhy ends the sentence about a file that a rule denies.
const deniedWhy = "a rule denies"

// DeniedIn returns the folders in which a look finds what a command creates under a rule that denies
// it.
func (s *Store) DeniedIn() (list []string) {
	for _, dir := range s.folders {
		list = append(list, workspace.Spell(dir))
	}
	if s.ws.Config().PrivateTemp != "" {
		list = append(list, workspace.TempFolder)
	}
	return list
}

// absent returns the paths of rules without wildcards that do not exist: the machine can protect only
// those that do.
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

// matches returns the files that rules with wildcards stand for, and all those in the /tmp of
// commands. The values are empty, or, of files in /tmp, their stamps: the machine protects only the
// others.
func (s *Store) matches(patterns []string) map[string]string {
	isLiteral := func(p string) bool { return len(floor.Literal([]string{p})) > 0 }
	found := map[string]string{}
	for _, path := range s.list.Expand(slices.DeleteFunc(slices.Clone(patterns), isLiteral), s.folders) {
		found[path] = ""
	}
	temp := s.ws.Config().PrivateTemp
	if temp == "" {
		return found
	}
	filepath.WalkDir(temp, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == temp {
			return nil
		}
		at := s.viewed(path)
		if target, _ := os.Readlink(path); target == at || !matchesAny(patterns, at) {
			return nil // the first is a link to the system's, as the sandbox makes it
		}
		if info, err := d.Info(); err == nil {
			found[path] = stamp(info)
		}
		if d.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	return found
}

// viewed returns the path that commands see; different from path in their private /tmp.
func (s *Store) viewed(path string) string {
	if temp := s.ws.Config().PrivateTemp; temp != "" && workspace.InFolder(path, temp) {
		return workspace.TempFolder + strings.TrimPrefix(path, temp)
	}
	return path
}

func matchesAny(patterns []string, path string) bool {
	parts := strings.Split(strings.ToLower(path), "/")
	return slices.ContainsFunc(patterns, func(p string) bool { return glob.Match(strings.Split(strings.ToLower(p), "/"), parts) })
}

// created returns what the commands that run have created under rules that deny it.
func (s *Store) created() (paths []string) {
	s.mu.Lock()
	runs := slices.Collect(maps.Values(s.running))
	s.mu.Unlock()
	for _, r := range runs {
		for _, path := range r.Absent {
			if s.folders.isThere(path) {
				paths = append(paths, path)
			}
		}
		if len(r.Denied) > 0 {
			paths = append(paths, s.newMatches(r)...)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// newMatches returns the files of a run's patterns that it did not find when it began. It opens the
// folders that a command has closed.
func (s *Store) newMatches(r *Run) (paths []string) {
	for range maxNested {
		hasOpened := false
		paths = nil
		for path, stamp := range s.matches(r.Denied) {
			if before, existed := r.Existing[path]; existed && before == stamp {
				continue
			}
			st, isClosed := closedFolder(path)
			hasOpened = hasOpened || isClosed && s.folders.chmod(path, st.Mode.Perm()|0o700) == nil
			if !isClosed {
				paths = append(paths, path)
			}
		}
		if !hasOpened {
			break
		}
	}
	return paths
}

// undoDenied moves what commands have created under rules that deny it to the trash, and removes
// their temporary files. The caller has the token of looks.
func (s *Store) undoDenied(edited map[string]bool) (f Findings) {
	for _, path := range s.created() {
		at := s.viewed(path)
		if !s.claim(at, edited) {
			continue
		}
		c := protocol.ProtectedChange{Path: workspace.Spell(at), Kind: protocol.ProtectedCreated, Why: deniedWhy}
		var err error
		if at == path {
			c.SHA256 = s.disk.stateOf(path, state{}).Sum
			c.Trash, err = s.revert(path, state{}, true)
		} else if err = (folders{s.ws.Config().PrivateTemp}).remove(path); err == nil {
			f.Removed = append(f.Removed, c.Path)
		}
		s.release()
		if err != nil {
			c.Problem = err.Error()
			s.log.Warn("A file that a rule denies could not be set aside", "path", path, "err", err)
		}
		if c.Trash != "" || err != nil {
			f.PutBack = append(f.PutBack, c)
		}
	}
	return f
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

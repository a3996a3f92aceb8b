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

// Denials find what commands create under rules that deny it: in the folders that commands can change,
// and in their private /tmp.
type Denials struct {
	folders folders
	temp    string // the folder that is /tmp for commands; empty if they use the system's
	list    *floor.List
}

// Folders returns where it finds them: absolute.
func (d Denials) Folders() (list []string) {
	for _, dir := range d.folders {
		list = append(list, workspace.Spell(dir))
	}
	if d.temp != "" {
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
func (d Denials) matches(patterns []string) map[string]string {
	isLiteral := func(p string) bool { return len(floor.Literal([]string{p})) > 0 }
	found := map[string]string{}
	for _, path := range d.list.Expand(slices.DeleteFunc(slices.Clone(patterns), isLiteral), d.folders) {
		found[path] = ""
	}
	if d.temp == "" {
		return found
	}
	filepath.WalkDir(d.temp, func(path string, e fs.DirEntry, err error) error {
		if err != nil || path == d.temp {
			return nil
		}
		at := d.viewed(path)
		if target, _ := os.Readlink(path); target == at || !matchesAny(patterns, at) {
			return nil // the first is a link to the system's, as the sandbox makes it
		}
		if info, err := e.Info(); err == nil {
			found[path] = stamp(info)
		}
		if e.IsDir() {
			return fs.SkipDir
		}
		return nil
	})
	return found
}

// viewed returns the path that commands see; different from path in their private /tmp.
func (d Denials) viewed(path string) string {
	if d.temp != "" && workspace.InFolder(path, d.temp) {
		return workspace.TempFolder + strings.TrimPrefix(path, d.temp)
	}
	return path
}

func matchesAny(patterns []string, path string) bool {
	parts := strings.Split(strings.ToLower(path), "/")
	return slices.ContainsFunc(patterns, func(p string) bool { return glob.Match(strings.Split(strings.ToLower(p), "/"), parts) })
}

// created returns what commands have created under their rules.
func (d Denials) created(runs []*Run) (paths []string) {
	for _, r := range runs {
		for _, path := range r.Absent {
			if d.folders.isThere(path) {
				paths = append(paths, path)
			}
		}
		if len(r.Denied) > 0 {
			paths = append(paths, d.newMatches(r)...)
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths)
}

// newMatches returns the files of a run's patterns that it did not find when it began. It opens the
// folders that a command has closed.
func (d Denials) newMatches(r *Run) (paths []string) {
	for range maxNested {
		hasOpened := false
		paths = nil
		for path, stamp := range d.matches(r.Denied) {
			if before, existed := r.Existing[path]; existed && before == stamp {
				continue
			}
			st, isClosed := closedFolder(path)
			hasOpened = hasOpened || isClosed && d.folders.chmod(path, st.Mode.Perm()|0o700) == nil
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
	s.mu.Lock()
	runs := slices.Collect(maps.Values(s.running))
	s.mu.Unlock()
	for _, path := range s.Denials.created(runs) {
		at := s.Denials.viewed(path)
		if !s.claim(at, edited) {
			continue
		}
		c := protocol.ProtectedChange{Path: workspace.Spell(at), Kind: protocol.ProtectedCreated, Why: deniedWhy}
		var err error
		if at == path {
			c.SHA256 = s.disk.stateOf(path, state{}).Sum
			c.Trash, err = s.revert(path, state{}, true)
		} else if err = (folders{s.Denials.temp}).remove(path); err == nil {
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

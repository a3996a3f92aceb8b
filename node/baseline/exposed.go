package baseline

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"

	"fairlead/node/access"
	"fairlead/node/workspace"
)

// exposed returns which of the files are open to other users of the machine: programs that run with
// the rights of their owner, and secrets that everybody can read. It omits those that tools changed,
// and those that an earlier look has returned. The caller has the token of looks.
func (s *Store) exposed(files []string, edited map[string]bool) (e Exposed) {
	if runtime.GOOS == "windows" {
		return e // files have the rights of their folder
	}
	slices.Sort(files)
	for _, path := range files {
		info, err := os.Lstat(path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		hasRights := info.Mode()&(fs.ModeSetuid|fs.ModeSetgid) != 0
		isRead := info.Mode()&0o004 != 0 && access.SecretOf(s.ws, path) != "" && isReachable(filepath.Dir(path))
		known, now := s.open[path], stamp(info)
		if !hasRights && !isRead || known != "" && known == now {
			continue
		}
		s.open[path] = now
		s.mu.Lock()
		isEdited := s.isEdited(path, edited)
		s.mu.Unlock()
		switch {
		case isEdited:
		case hasRights:
			e.SetUID = append(e.SetUID, workspace.Spell(path))
		default:
			e.Readable = append(e.Readable, workspace.Spell(path))
		}
	}
	return e
}

// isReachable reports whether other users can open files in a folder.
func isReachable(dir string) bool {
	for {
		info, err := os.Lstat(dir)
		if err != nil || info.Mode()&0o001 == 0 {
			return false
		}
		up := filepath.Dir(dir)
		if up == dir {
			return true
		}
		dir = up
	}
}

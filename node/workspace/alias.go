package workspace

import (
	"os"
	"path/filepath"
	"slices"

	"fairlead/gateway/protocol"
)

// Aliases returns the symbolic links to folders among some absolute folders and the folders above
// them.
func Aliases(folders ...string) (list []protocol.Alias) {
	for _, dir := range folders {
		if !filepath.IsAbs(dir) {
			continue
		}
		for dir = filepath.Clean(dir); dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
			if info, err := os.Lstat(dir); err != nil || info.Mode()&os.ModeSymlink == 0 {
				continue
			}
			real, err := filepath.EvalSymlinks(dir)
			if err != nil {
				continue
			}
			if info, err := os.Stat(real); err != nil || !info.IsDir() {
				continue
			}
			names := []string{dir}
			if above, err := filepath.EvalSymlinks(filepath.Dir(dir)); err == nil && above != filepath.Dir(dir) {
				names = append(names, filepath.Join(above, filepath.Base(dir)))
			}
			for _, name := range names {
				if alias := (protocol.Alias{Path: Spell(name), Folder: Spell(real)}); !slices.Contains(list, alias) {
					list = append(list, alias)
				}
			}
		}
	}
	return list
}

// Aliases returns those of the workspace and the granted folders, as the person named them, and of
// further folders.
func (r *Root) Aliases(more ...string) []protocol.Alias {
	for _, a := range r.areas {
		more = append(more, a.alias)
	}
	return Aliases(more...)
}

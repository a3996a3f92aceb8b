package floor

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fairlead/node/workspace"
)

// maxLinks is the number of symbolic links on the way from one to its target, as in the kernel.
const maxLinks = 40

// leadsTo returns what decides where a symbolic link leads: every link on its way, and the target, as
// far as they are in a folder. The target is left out if the folder itself is in it, because then
// everything would be.
func leadsTo(link, dir string) (files []string) {
	const separator = string(filepath.Separator)
	at, parts := filepath.VolumeName(link)+separator, strings.Split(link[len(filepath.VolumeName(link)):], separator)
	for n := 0; len(parts) > 0; {
		next := filepath.Join(at, parts[0])
		parts = parts[1:]
		info, err := os.Lstat(next)
		if err != nil {
			return files
		}
		if info.Mode()&os.ModeSymlink == 0 {
			at = next
			continue
		}
		target, err := os.Readlink(next)
		if n++; err != nil || n > maxLinks {
			return files
		}
		if workspace.InFolder(next, dir) {
			files = append(files, next)
		}
		if filepath.IsAbs(target) {
			at = filepath.VolumeName(target) + separator
			target = target[len(filepath.VolumeName(target)):]
		}
		parts = slices.Concat(strings.Split(filepath.FromSlash(target), separator), parts)
	}
	if workspace.InFolder(at, dir) && !workspace.InFolder(dir, at) {
		files = append(files, at)
	}
	return files
}

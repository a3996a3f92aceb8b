package node

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// maxPrograms bounds the number of programs that a node reports.
const maxPrograms = 8000

// programs lists the names of the programs in PATH, sorted; on Windows in lower case and without
// their extension. Skills that need a program are offered only where it exists.
func programs() []string {
	var list []string
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			name := e.Name()
			if runtime.GOOS == "windows" {
				ext := filepath.Ext(name)
				if !slices.Contains([]string{".exe", ".cmd", ".bat", ".com"}, strings.ToLower(ext)) {
					continue
				}
				name = strings.ToLower(strings.TrimSuffix(name, ext))
			} else if info, err := os.Stat(filepath.Join(dir, name)); err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
				continue
			}
			if len(name) <= 128 && !strings.ContainsAny(name, "\n\r") {
				list = append(list, name)
			}
		}
	}
	slices.Sort(list)
	list = slices.Compact(list)
	return list[:min(len(list), maxPrograms)]
}

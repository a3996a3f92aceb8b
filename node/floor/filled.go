package floor

import (
	"os"
	"path/filepath"
	"slices"
)

// isFilled recognizes, by lower-case names, folders that package managers fill and in which programs
// start that others find first.
func isFilled(name string) bool {
	return slices.Contains([]string{"node_modules", ".venv", "venv"}, name)
}

// filledFiles returns the floor files in such a folder, in the places where package managers and the
// venv module write them.
func filledFiles(dir string) (files []string) {
	for _, name := range []string{".bin", "bin", "Scripts", "pyvenv.cfg"} {
		if path := filepath.Join(dir, name); exists(path) {
			files = append(files, path)
		}
	}
	for _, packages := range [][]string{{"lib", "*", "site-packages"}, {"Lib", "site-packages"}} {
		found, _ := filepath.Glob(filepath.Join(append([]string{escape(dir)}, append(packages, "*.pth")...)...))
		files = append(files, found...)
	}
	return files
}

// escape makes a path match only itself.
func escape(path string) string {
	if os.PathSeparator == '\\' {
		return path // Windows has no escapes, and no such characters in names but [
	}
	var out []byte
	for i := range len(path) {
		if slices.Contains([]byte(`*?[\`), path[i]) {
			out = append(out, '\\')
		}
		out = append(out, path[i])
	}
	return string(out)
}

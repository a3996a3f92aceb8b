package floor

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// isFilled recognizes, by lower-case names, folders that package managers fill and in which programs
// start that others find first.
func isFilled(name string) bool {
	return slices.Contains([]string{"node_modules", ".venv", "venv"}, name)
}

// isEnvironment recognizes an environment of Python, whatever its name, by the file that makes it one.
func isEnvironment(dir string) bool { return exists(filepath.Join(dir, "pyvenv.cfg")) }

// IsLoader recognizes, by their names, the files that Yarn writes for every Node.js that starts in a
// project.
func IsLoader(name string) bool { return name == ".pnp.cjs" || name == ".pnp.loader.mjs" }

// StartsPrograms reports whether a file starts programs later because of the folder that it is in,
// which its path alone does not show.
func StartsPrograms(path string) bool {
	name, dir := strings.ToLower(filepath.Base(path)), filepath.Dir(path)
	switch strings.ToLower(filepath.Base(dir)) {
	case "bin", "scripts":
		return isEnvironment(filepath.Dir(dir))
	}
	return name == "config" && isBare(dir)
}

// filledFiles returns the floor files in such a folder, in the places where package managers and the
// venv module write them.
func filledFiles(dir string) (files []string) {
	if IsLoader(filepath.Base(dir)) {
		return []string{dir}
	}
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

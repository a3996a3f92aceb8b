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
	return slices.Contains([]string{"node_modules", ".venv", "venv", ".direnv"}, name)
}

// isEnvironment recognizes an environment of Python with any name by the file that makes it one.
func isEnvironment(dir string) bool { return exists(filepath.Join(dir, "pyvenv.cfg")) }

// IsLoader recognizes, by their names, the files that Yarn writes for every Node.js that starts in a
// project.
func IsLoader(name string) bool { return name == ".pnp.cjs" || name == ".pnp.loader.mjs" }

// todo is the list of an unfinished rebase in a repository of Git, which may have commands to run.
const todo = "rebase-merge/git-rebase-todo"

// IsTodo recognizes this list.
func IsTodo(path string) bool { return strings.HasSuffix(filepath.ToSlash(path), "/"+todo) }

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
	if IsLoader(filepath.Base(dir)) || IsTodo(dir) {
		return []string{dir}
	}
	if filepath.Base(dir) == ".direnv" { // shells read and find these when they enter the folder
		for _, pattern := range []string{"*.rc", "*/bin", "*/Scripts"} {
			found, _ := filepath.Glob(filepath.Join(escape(dir), pattern))
			files = append(files, found...)
		}
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

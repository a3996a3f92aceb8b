package floor

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"fairlead/gateway/peer/glob"
	"fairlead/node/workspace"
)

// Expand returns the existing paths that patterns of rules stand for: absolute, without symbolic
// links. A pattern is absolute with slashes; one part may have the wildcards of [path.Match], and **
// stands for any number of parts. Patterns with wildcards ignore case, because the gateway judges
// calls of tools so. Those with ** are only looked for in the folders dirs.
func (l *List) Expand(patterns, dirs []string) (paths []string) {
	var wild [][]string
	for _, p := range patterns {
		parts := strings.Split(strings.ToLower(p), "/")
		if slices.ContainsFunc(parts, hasWildcard) {
			wild = append(wild, parts)
		}
	}
	for _, path := range Literal(patterns) {
		if _, err := os.Lstat(path); err == nil {
			paths = append(paths, path)
		}
	}
	if len(wild) == 0 {
		return paths
	}
	for _, p := range patterns {
		paths = append(paths, outside(p, dirs)...)
	}
	match := func(f *folder, file string, _ os.DirEntry) bool {
		parts := strings.Split(strings.ToLower(filepath.ToSlash(file)), "/")
		if !slices.ContainsFunc(wild, func(pattern []string) bool { return glob.Match(pattern, parts) }) {
			return false
		}
		f.files = append(f.files, file)
		return true
	}
	for _, dir := range dirs {
		if dir != "" {
			dir = workspace.RealPath(dir)
			found := l.walk(dir+"\x00"+strings.Join(patterns, "\x00"), dir, match)
			paths = append(append(paths, found.files...), found.inner...)
		}
	}
	return paths
}

// maxOutside is the number of names that are compared with a pattern outside of the searched folders.
const maxOutside = 2_000

// outside returns the existing paths outside of dirs that a pattern with wildcards and without **
// stands for. Where there are too many names, it is the folder before the first wildcard.
func outside(pattern string, dirs []string) (found []string) {
	parts := strings.Split(pattern, "/")
	first := slices.IndexFunc(parts, hasWildcard)
	if first < 2 || slices.Contains(parts, "**") {
		return nil
	}
	base := workspace.RealPath(filepath.FromSlash(unescape.Replace(strings.Join(parts[:first], "/"))))
	if slices.ContainsFunc(dirs, func(dir string) bool { return dir != "" && workspace.InFolder(base, workspace.RealPath(dir)) }) {
		return nil
	}
	found = []string{base}
	compared := 0
	for _, part := range parts[first:] {
		var next []string
		for _, dir := range found {
			entries, _ := os.ReadDir(dir) // what cannot be read here cannot be read by a command
			for _, e := range entries {
				if glob.Match([]string{strings.ToLower(part)}, []string{strings.ToLower(e.Name())}) {
					next = append(next, workspace.RealPath(filepath.Join(dir, e.Name())))
				}
			}
			if compared += len(entries); compared > maxOutside {
				return []string{base}
			}
		}
		found = next
	}
	return found
}

// Literal returns the paths of those patterns that have no wildcards, without symbolic links.
func Literal(patterns []string) (paths []string) {
	for _, p := range patterns {
		if !slices.ContainsFunc(strings.Split(p, "/"), hasWildcard) {
			paths = append(paths, workspace.RealPath(filepath.FromSlash(unescape.Replace(p))))
		}
	}
	return paths
}

// unescape removes the escapes of a pattern without wildcards.
var unescape = strings.NewReplacer(`\\`, `\`, `\*`, "*", `\?`, "?", `\[`, "[")

func hasWildcard(part string) bool {
	for i := 0; i < len(part); i++ {
		switch part[i] {
		case '\\':
			i++
		case '*', '?', '[':
			return true
		}
	}
	return false
}

package policy

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"fairlead/gateway/policy/shell"
)

var (
	brackets = regexp.MustCompile(`\[.*\]`)
	// zshPattern matches a part of a path that may be a pattern in zsh only.
	zshPattern = regexp.MustCompile(`[^/]*[()<>^#|][^/]*|[^/]+~[^/]*`)
)

// removesRoot reports whether removing the paths of a word can remove everything in one of the
// folders of root. known is false if the folder cannot be determined.
func (fl *floor) removesRoot(w shell.Word) (takes, known bool) {
	if fl.zsh && (w.Glob || w.Ambiguous) {
		w.Text = zshPattern.ReplaceAllString(w.Text, "*")
	}
	list, known := fl.resolver.paths(w)
	return fl.includesRoot(list, true), known || w.Glob && !matchesAll(path.Base(w.Text))
}

// partPattern converts a part of a path to a pattern for path.Match that matches at least as much.
func partPattern(part string) string {
	return strings.ReplaceAll(brackets.ReplaceAllString(part, "*"), `\`, "?")
}

func isPattern(part string) bool { return strings.ContainsAny(part, "*?") }

// matchesAll reports whether a part of a path matches every file, or all with a dot, or all with
// short names.
func matchesAll(part string) bool {
	p := partPattern(part)
	return isPattern(p) && strings.Trim(p, "*?.") == ""
}

// matchesParent reports whether a part of a path matches the parent folder, as .* does in dash.
func matchesParent(part string) bool {
	p := partPattern(part)
	ok, err := path.Match(p, "..")
	return isPattern(p) && p[0] == '.' && (ok || err != nil)
}

// foldersMatched adds the folders that paths with wildcards stand for: dir/* counts as dir, and
// dir/.* also as its parent folder.
func foldersMatched(list []string) []string {
	list = slices.Clone(list)
	for i := 0; i < len(list) && len(list) < maxNames; i++ {
		parts := strings.Split(list[i], "/")
		last := len(parts) - 1
		for k, part := range parts {
			if k > 0 && matchesParent(part) {
				list = append(list, cmp.Or(strings.Join(slices.Delete(slices.Clone(parts), k-1, k+1), "/"), "/"))
			}
		}
		if last > 0 && matchesAll(parts[last]) {
			list = append(list, cmp.Or(strings.Join(parts[:last], "/"), "/"))
		}
	}
	return list
}

// mayContain reports whether a path with wildcards can match a folder or one of its parents.
func mayContain(f, folder string) bool {
	if folder == "" {
		return false
	}
	var pattern []string
	for part := range strings.SplitSeq(fold(f), "/") {
		pattern = append(pattern, partPattern(part))
	}
	for at := fold(folder); ; at = path.Dir(at) {
		if matchParts(pattern, strings.Split(at, "/")) {
			return true
		}
		if at == path.Dir(at) {
			return false
		}
	}
}

package policy

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strings"

	"fairlead/gateway/policy/shell"
)

func (fl *floor) removalReason(c shell.Command) string {
	recursive := hasFlag("-r", c.Words[1:])
	for _, w := range c.Words[1:] {
		if w.Dynamic {
			return "What rm would remove is known only when the command runs"
		}
		if !recursive {
			continue
		}
		if takes, known := fl.removesRoot(w); takes {
			return "Removes everything in " + shorten(w.Text)
		} else if !known && (w.Tilde || fl.resolver.dirs == nil && !isAbs(w.Text)) {
			return "The folder that rm would remove is unknown"
		}
	}
	return ""
}

// findReason decides about find -delete and find -exec rm without a condition.
func (fl *floor) findReason(c shell.Command) string {
	removes, narrow := false, false
	for i, w := range c.Words[1:] {
		t := w.Text
		switch {
		case t == "-delete", (t == "-exec" || t == "-execdir") && i+2 < len(c.Words) && baseName(c.Words[i+2].Text) == "rm":
			removes = true
		case isFlag(t) && t != "-H" && t != "-L" && t != "-P" && t != "-type" && t != "-depth" && t != "-mindepth" && t != "-f":
			narrow = narrow || !removes
		}
	}
	if !removes || narrow {
		return ""
	}
	for _, w := range findStarts(c.Words[1:]) {
		if w.Dynamic {
			return "What find would remove is known only when the command runs"
		}
		if takes, _ := fl.removesRoot(w); takes {
			return "Removes everything in " + shorten(w.Text)
		}
	}
	return ""
}

// includesRoot reports whether a path is the root, a drive, the home folder or, if workspace is
// set, the workspace, or contains one of them. A path with wildcards counts as everything that it
// can match.
func (fl *floor) includesRoot(list []string, workspace bool) bool {
	root := fl.resolver.root
	return slices.ContainsFunc(foldersMatched(list), func(f string) bool {
		isTop := strings.LastIndexByte(f, '/') == 0 && f != root && f != "/tmp" // /etc, /usr, /var …
		return f == "/" || f == "~" || drive(f) && len(f) <= 3 || f == "/home" || f == "/Users" || f == "/root" || isTop ||
			mayContain(f, fl.resolver.home) || workspace && mayContain(f, root)
	})
}

var (
	brackets = regexp.MustCompile(`\[.*\]`)
	// zshPattern matches a part of a path that may be a pattern in zsh only.
	zshPattern = regexp.MustCompile(`[^/]*[()<>^#|][^/]*|[^/]+~[^/]*`)
)

// removesRoot reports whether removing a word's paths can remove everything in one of these folders.
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

// matchesAll reports whether a part of a path may match every file, or all with a dot.
func matchesAll(part string) bool {
	p := partPattern(part)
	return strings.ContainsAny(p, "*?") && strings.Trim(p, "*?.") == ""
}

// matchesParent reports whether a part of a path matches the parent folder, as .* does in dash.
func matchesParent(part string) bool {
	p := partPattern(part)
	ok, err := path.Match(p, "..")
	return strings.ContainsAny(p, "*?") && p[0] == '.' && (ok || err != nil)
}

// foldersMatched adds the folders that wildcards stand for: dir/* is dir, dir/.* also its parent.
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
	pattern := strings.Split(fold(f), "/")
	for i, part := range pattern {
		pattern[i] = partPattern(part)
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

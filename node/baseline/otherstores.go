package baseline

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"fairlead/node/workspace"
)

// ordinaryLines match the lines that version control systems other than Git write into their
// settings themselves, by the end of the path. None of them starts a program: Mercurial's
// requirements name formats and parts of Mercurial, and its paths where a clone came from.
var ordinaryLines = map[string]*regexp.Regexp{
	".hg/requires":              regexp.MustCompile(`^[\w.-]*$`),
	".hg/hgrc":                  regexp.MustCompile(`^([#;].*|\[paths\]|\[ui\]|username\s*=.*|(default|default-push|default:pushurl|[\w-]+-clone)\s*=.*|)$`),
	".sl/requires":              regexp.MustCompile(`^[\w.-]*$`),
	".sl/config":                regexp.MustCompile(`^([#;].*|\[paths\]|\[ui\]|\[remotefilelog\]|username\s*=.*|reponame\s*=.*|(default|default-push)\s*=.*|)$`),
	".bzr/branch/branch.conf":   regexp.MustCompile(`^(#.*|(parent|push|public|submit|bound)_(location|branch)\s*=.*|(bound|append_revisions_only|nickname|last_revision_mailbox)\s*=.*|)$`),
	".bzr/branch/location":      nil,
	".hg/sharedpath":            nil,
	".sl/sharedpath":            nil,
	".jj/repo/store/git_target": nil,
	".jj/repo":                  nil,
	".pijul/config":             regexp.MustCompile(`^(#.*|\[hooks\]|record\s*=\s*\[\]|default_remote\s*=\s*["'][^"']*["']|)$`),
}

// isOrdinary reports whether a file of a repository has only what its version control system
// writes itself, and had only that before. Where it names another repository, that must be one
// that commands can change, so that its settings are looked at, too.
func (s judge) isOrdinary(path string, before, after state) bool {
	parts := strings.Split(filepath.ToSlash(path), "/")
	for n := 2; n <= min(4, len(parts)); n++ {
		lines, known := ordinaryLines[strings.ToLower(strings.Join(parts[len(parts)-n:], "/"))]
		text := string(s.disk.content(after))
		switch {
		case !known:
		case lines == nil:
			target := resolve(filepath.Dir(path), text)
			return slices.ContainsFunc(s.folders, func(f string) bool { return target != f && workspace.InFolder(target, f) })
		default:
			return hasOnly(lines, text) && hasOnly(lines, string(s.disk.content(before)))
		}
	}
	return false
}

func hasOnly(line *regexp.Regexp, text string) bool {
	for l := range strings.Lines(text) {
		if !line.MatchString(strings.TrimRight(l, "\r\n")) {
			return false
		}
	}
	return true
}

package policy

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"fairlead/gateway/peer/shell"
)

// The machine may have another operating system: paths are handled as text, with slashes.

func drive(p string) bool {
	return len(p) >= 2 && p[1] == ':' && (p[0]|0x20) >= 'a' && (p[0]|0x20) <= 'z'
}

func isAbs(p string) bool {
	return strings.HasPrefix(p, "/") || drive(p) && len(p) > 2 && (p[2] == '/' || p[2] == '\\')
}

func clean(p string) string {
	if drive(p) {
		p = strings.ReplaceAll(p, `\`, "/")
	}
	return path.Clean(p)
}

// relativeTo returns p relative to dir.
func relativeTo(p, dir string) (string, bool) {
	switch dir {
	case "":
		return "", false
	case p:
		return ".", true
	}
	return strings.CutPrefix(p, strings.TrimSuffix(dir, "/")+"/")
}

// isIn reports whether p is dir or below it.
func isIn(p, dir string) bool {
	_, in := relativeTo(p, dir)
	return in
}

// maybeFolder reports whether a path may be a folder, going by its name.
func maybeFolder(text string) bool {
	return strings.HasSuffix(text, "/") || !fileExtensions[strings.ToLower(path.Ext(text))] || path.Base(text) == path.Ext(text)
}

// fold maps paths that a file system may treat as equal to the same text: it ignores letter case
// and all forms of accents (APFS, HFS+), and the parts that Windows drops at the end of a name:
// dots, blanks and the name of a stream. Only ask and deny rules use it.
func fold(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf }) {
		s = norm.NFC.String(cases.Fold().String(norm.NFC.String(s)))
	}
	parts := strings.Split(strings.ToLower(s), "/")
	for i, p := range parts {
		p = strings.TrimSuffix(p, "::$data")
		if plain := strings.TrimRight(p, ". "); plain != "" {
			parts[i] = plain
		}
	}
	return strings.Join(parts, "/")
}

// shortName matches a short file name of Windows, such as PROGRA~1, with its separators.
var shortName = regexp.MustCompile(`(^|[/\\])[^/\\~. ]{1,7}~[0-9]{1,6}(\.[^/\\. ]{0,3})?([/\\]|$)`)

// expandShortNames replaces short names on Windows by wildcards: only the machine knows the files.
func (p *pathResolver) expandShortNames(w shell.Word) shell.Word {
	if !drive(p.call.Cwd) || w.Dynamic {
		return w
	}
	for range maxFolders { // two adjacent ones share a separator
		wide := shortName.ReplaceAllString(w.Text, "${1}*${3}")
		if wide == w.Text {
			break
		}
		w.Text, w.Glob = wide, true
	}
	return w
}

// processFolder matches Linux's paths of the folders of a process, which may be this one.
var processFolder = regexp.MustCompile(`^/proc/(self|thread-self|[0-9]+)(/task/[0-9]+)?/(cwd|root)(/|$)`)

// withoutProcess resolves a path through such a folder of a process.
func withoutProcess(text string) string {
	full := text
	if rest, ok := strings.CutPrefix(text, "/dev/fd/"); ok {
		full = "/proc/self/fd/" + rest
	}
	if !strings.HasPrefix(full, "/") {
		return text
	}
	full = clean(full)
	m := processFolder.FindStringSubmatch(full)
	switch {
	case m == nil:
		return text
	case m[3] == "cwd":
		return "./" + full[len(m[0]):]
	}
	return "/" + full[len(m[0]):]
}

// Folders returns the absolute folders that the rules name, each up to its first wildcard.
func (s *Set) Folders() (list []string) {
	for _, r := range s.rules {
		dir := r.cwd
		if r.path != nil && (r.path.abs || r.path.outside) {
			if dir = strings.Join(r.path.parts[:r.path.fixedParts()], "/"); !drive(dir) {
				dir = "/" + dir
			}
		}
		if dir != "" && !slices.Contains(list, dir) {
			list = append(list, dir)
		}
	}
	return list
}

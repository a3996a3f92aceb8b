package shell

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"fairlead/gateway/peer/glob"
	"fairlead/gateway/protocol"
	"fairlead/node/workspace"
)

// refusals are the system's messages when a command tries to change, move or link a protected file,
// in lower case, and the codes that programs print instead.
var refusals = []string{"read-only file system", "device or resource busy", "cross-device link", "erofs", "ebusy", "exdev"}

// unreadable are the messages when a command tries to read a hidden file.
var unreadable = []string{"permission denied", "eacces"}

// findRefused sets which paths the command could not change, because they start programs or because a
// rule denies it, according to its output and its words.
func (j *job) findRefused() {
	output, all := j.out.tail(), j.child.Protected()
	names := refusedPaths(output, refusals, j.command, j.dir, all)
	if len(names) == 0 && j.result.code != nil && *j.result.code != 0 {
		names = suspectPaths(output, j.command, j.dir, all)
	}
	denied, hidden := j.child.Denied()
	for _, name := range names {
		path := resolveWord(name, j.dir)
		if !slices.ContainsFunc(denied, func(d string) bool { return workspace.InFolder(path, d) || workspace.InFolder(d, path) }) {
			j.result.refused = append(j.result.refused, name)
			continue
		}
		j.result.ruled = append(j.result.ruled, refusedByRule{name, ruleOf(path, denied, j.rules)})
	}
	for _, name := range refusedPaths(output, unreadable, j.command, j.dir, hidden) {
		j.result.ruled = append(j.result.ruled, refusedByRule{name, ruleOf(resolveWord(name, j.dir), hidden, j.rules)})
	}
}

// refusedByRule is a path that a command could not change or read, and the rule that denies it; empty
// if it is not known which one.
type refusedByRule struct{ path, rule string }

// String says what the agent can do: asking for the path, as for other protected ones, is of no use.
func (r refusedByRule) String() string {
	if r.rule == "" {
		return r.path + " is denied by a rule, which only the person can change."
	}
	return r.path + " is denied by the rule " + strconv.Quote(r.rule) + ", which only the person can change."
}

// ruleOf returns the rule that denies a path, something in it, or a folder that contains it.
func ruleOf(path string, denied []string, rules *protocol.CommandRules) string {
	if rules == nil {
		return ""
	}
	split := func(path string) []string { return strings.Split(filepath.ToSlash(path), "/") }
	for _, d := range denied {
		if !workspace.InFolder(path, d) && !workspace.InFolder(d, path) {
			continue
		}
		for _, pattern := range slices.Concat(rules.ReadOnly, rules.Hidden) {
			if glob.Match(split(pattern), split(d)) {
				return pattern
			}
		}
	}
	return ""
}

// refusedPaths returns the protected paths, or folders with some, that a command tried to change in
// vain according to its output. The list may be incomplete: not every program says why it failed.
// Programs that cannot move a file into such a folder, such as "git mv", name only the file; the
// folder is then in the command.
//
// The output is read because nothing else knows. The kernel reports no failed calls to the user: its
// audit log is for root, and fanotify reports what has happened. The supervisor could have every
// call that changes a path wait for it, as it does for programs, and was made to: the list was exact,
// but a signal then makes opening, moving or removing any file fail with EINTR in programs whose
// handlers do not restart calls, such as Perl. See docs/performance.md#the-nodes-tools.
func refusedPaths(output string, messages []string, command, dir string, protected []string) (list []string) {
	add := func(names []string) {
		for _, name := range names {
			if !slices.Contains(list, name) {
				list = append(list, name)
			}
		}
	}
	for line := range strings.Lines(output) {
		low := strings.ToLower(line)
		if !slices.ContainsFunc(messages, func(r string) bool { return strings.Contains(low, r) }) {
			continue
		}
		names := namedIn(line, dir, protected)
		if len(names) == 0 {
			names = namedElsewhere(line, dir, protected)
		}
		if len(names) == 0 && (strings.Contains(low, "cross-device link") || strings.Contains(low, "exdev")) {
			names = namedIn(command, dir, protected)
		}
		add(names)
	}
	return list
}

// namedIn returns the names of the protected paths that a line mentions, or of folders that contain
// them where it does not mention more.
func namedIn(line, dir string, protected []string) (names []string) {
	var found []string
	for _, p := range protected {
		if at := mentioned(line, dir, p); at != "" && !slices.Contains(found, at) {
			found = append(found, at)
		}
	}
	for _, at := range found {
		isOuter := func(other string) bool { return other != at && workspace.InFolder(other, at) }
		if !slices.ContainsFunc(found, isOuter) {
			names = append(names, nameFrom(dir, at))
		}
	}
	return names
}

// nameFrom returns the name of a path for a command in a folder: absolute if it is elsewhere.
func nameFrom(dir, path string) string {
	name, err := filepath.Rel(dir, path)
	if err != nil || strings.HasPrefix(name, "..") {
		return path
	}
	return name
}

// mentioned returns the path that a line mentions: this one, or the nearest folder that contains it;
// empty if it mentions neither.
func mentioned(line, dir, path string) string {
	for at := path; !workspace.InFolder(dir, at); at = filepath.Dir(at) {
		if mentions(line, nameFrom(dir, at), dir) {
			return at
		}
	}
	return ""
}

// mentions reports whether a text contains a name that is not a part of a longer one, except of that
// in the folder.
func mentions(text, name, dir string) bool {
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			return false
		}
		from, to := at+i, at+i+len(name)
		before := text[:from]
		last, _ := utf8.DecodeLastRuneInString(before)
		next, _ := utf8.DecodeRuneInString(text[to:])
		starts := from == 0 || !isNameRune(last) && last != '/' || strings.HasSuffix(before, dir+"/") || strings.HasSuffix(before, "./")
		if starts && (to == len(text) || !isNameRune(next)) {
			return true
		}
		at = to
	}
}

// isNameRune reports whether a character can belong to a name without being quoted.
func isNameRune(r rune) bool {
	return r == '_' || r == '-' || r == '.' || unicode.IsLetter(r) || unicode.IsDigit(r)
}

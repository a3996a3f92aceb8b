// Package sensitive knows the files that hold credentials and the files that decide which programs
// run later.
//
// The list is table.txt. The gateway uses it to require an approval before such a file is written,
// whatever the rules say. A node uses it to require an approval before such a file is read, to omit
// it from searches, and to hide it from commands. Paths are strings with slashes, because a gateway
// judges paths of other machines. Case is ignored, which is right on macOS and Windows and at worst
// asks once too often on Linux.
package sensitive

import (
	_ "embed"
	"path"
	"slices"
	"strings"
)

//go:embed table.txt
var table string

// Kind is the reason why a file is sensitive.
type Kind uint8

// Kinds can be combined; table.txt explains them.
const (
	Secret Kind = 1 << iota
	Open
	Startup
	Public
)

var kinds = map[string]Kind{"secret": Secret, "open": Open, "startup": Startup, "public": Public}

// Entry is one path of the table. Alternatives in braces are expanded into several entries.
type Entry struct {
	Path   string // as in the table, without the final slash
	Kind   Kind
	Folder bool   // includes everything in the folder
	Source string // the program that reads it, and the reason

	parts []string // lower case, after the anchor
}

// Program is the program that reads the file.
func (e Entry) Program() string {
	name, _, _ := strings.Cut(e.Source, ":")
	return name
}

// Home returns the path relative to the home folder; ok is false for other paths.
func (e Entry) Home() (rel string, ok bool) { return strings.CutPrefix(e.Path, "~/") }

func (e Entry) anywhere() bool { return strings.HasPrefix(e.Path, "**/") }

var entries = parse(table)

// Entries returns the table. The caller must not change it.
func Entries() []Entry { return entries }

// parse parses the table. A test checks that the table is well formed.
func parse(text string) (list []Entry) {
	for line := range strings.Lines(text) {
		columns := strings.SplitN(strings.TrimSpace(line), "  ", 2)
		if len(columns) < 2 || columns[0][0] == '#' {
			continue
		}
		pattern, source, _ := strings.Cut(strings.TrimSpace(columns[1]), "  ")
		var kind Kind
		for name := range strings.SplitSeq(columns[0], ",") {
			kind |= kinds[name]
		}
		for _, p := range expand(pattern) {
			e := Entry{Path: strings.TrimSuffix(p, "/"), Kind: kind, Folder: strings.HasSuffix(p, "/"), Source: strings.TrimSpace(source)}
			_, rest, _ := strings.Cut(e.Path, "/") // the anchor is ~, ** or nothing
			e.parts = strings.Split(strings.ToLower(rest), "/")
			list = append(list, e)
		}
	}
	return list
}

// expand expands the alternatives in braces.
func expand(pattern string) (list []string) {
	before, rest, found := strings.Cut(pattern, "{")
	choices, after, _ := strings.Cut(rest, "}")
	if !found {
		return []string{pattern}
	}
	for choice := range strings.SplitSeq(choices, ",") {
		for _, tail := range expand(after) {
			list = append(list, before+choice+tail)
		}
	}
	return list
}

// index finds the entries by their first name: exact by the name itself, globs with a * in it.
type index struct {
	exact map[string][]int
	globs []int
}

var byFirst = func() index {
	x := index{exact: map[string][]int{}}
	for i, e := range entries {
		if strings.Contains(e.parts[0], "*") {
			x.globs = append(x.globs, i)
		} else {
			x.exact[e.parts[0]] = append(x.exact[e.parts[0]], i)
		}
	}
	return x
}()

// Find returns the first entry of one of the given kinds that matches a path. The path is absolute,
// begins with ~/, or is relative to an unknown folder. home is the home folder, "" if unknown.
// Folders that look like another person's home folder count as home folders too.
func Find(file, home string, want Kind) (Entry, bool) {
	return search(file, home, want, func(e *Entry, rest []string) bool {
		return (len(rest) == len(e.parts) || len(rest) > len(e.parts) && e.Folder) && matches(e.parts, rest[:len(e.parts)])
	})
}

// FindBelow returns the first such entry that can lie below a folder with a hidden name, such as
// .vscode: replacing the folder writes the file too. Folders with ordinary names, such as bin or
// hooks, contain too many other files for that.
func FindBelow(folder, home string, want Kind) (Entry, bool) {
	return search(folder, home, want, func(e *Entry, rest []string) bool {
		return len(rest) < len(e.parts) && strings.HasPrefix(rest[len(rest)-1], ".") && matches(e.parts[:len(rest)], rest)
	})
}

// search returns the first entry that begins at some part of the path and fits.
func search(file, home string, want Kind, fits func(e *Entry, rest []string) bool) (Entry, bool) {
	file, home = strings.ToLower(file), strings.ToLower(home)
	parts := strings.Split(strings.Trim(file, "/"), "/")
	p := place{absolute: strings.HasPrefix(file, "/"), home: homeDepth(file, home, parts), unknown: home == ""}
	for i, name := range parts {
		for _, list := range [2][]int{byFirst.exact[name], byFirst.globs} {
			for _, k := range list {
				if e := &entries[k]; e.Kind&want != 0 && p.canBeginAt(e, i) && fits(e, parts[i:]) {
					return *e, true
				}
			}
		}
	}
	return Entry{}, false
}

// place describes the position of a path.
type place struct {
	absolute bool
	home     int // number of parts that are the home folder; -1 outside of any
	unknown  bool
}

// canBeginAt reports whether an entry may begin at part i. Any folder may be an unknown home
// folder.
func (p place) canBeginAt(e *Entry, i int) bool {
	switch {
	case e.anywhere():
		return true
	case e.Path[0] == '/':
		return i == 0 && p.absolute
	}
	return i == p.home || p.unknown && p.home < 0 && e.parts[0][0] == '.'
}

// matches compares names with patterns in which * stands for any text.
func matches(patterns, names []string) bool {
	return slices.EqualFunc(patterns, names, func(pattern, name string) bool {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	})
}

// homeDepth returns the number of parts of a path that are a home folder, -1 outside of any.
func homeDepth(file, home string, parts []string) int {
	if top := strings.TrimSuffix(home, "/"); home != "" && strings.HasPrefix(file, top+"/") {
		return strings.Count(top, "/") + min(1, strings.Count(top, ":")) // a drive letter is a part too
	}
	depth := -1
	switch first := parts[0]; {
	case first == "~", first == "root" && file[0] == '/':
		depth = 1
	case (first == "home" || first == "users") && file[0] == '/':
		depth = 2
	case len(first) == 2 && first[1] == ':':
		if len(parts) > 1 && parts[1] == "users" {
			depth = 3
		}
	case file == "" || file[0] != '/':
		depth = 0
	}
	if depth >= len(parts) {
		return -1
	}
	return depth
}

// secretNames and secretSuffixes are names, and ends of names, that are secret in any folder.
var secretNames, secretSuffixes = func() (map[string]bool, []string) {
	names, suffixes := map[string]bool{}, []string(nil)
	for _, e := range entries {
		if e.Kind&Secret == 0 || !e.anywhere() {
			continue
		}
		if suffix, ok := strings.CutPrefix(e.parts[0], "*"); ok {
			suffixes = append(suffixes, suffix)
		} else {
			names[e.parts[0]] = true
		}
	}
	return names, suffixes
}()

// SecretName reports whether such a file is secret in any folder. It is fast, for searches.
func SecretName(name string) bool {
	name = strings.ToLower(name)
	for _, suffix := range secretSuffixes {
		if strings.HasSuffix(name, suffix) {
			return true
		}
	}
	return secretNames[name]
}

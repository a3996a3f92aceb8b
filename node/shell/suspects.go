package shell

import (
	"path/filepath"
	"slices"
	"strings"

	bourne "fairlead/gateway/peer/shell"
	"fairlead/node/workspace"
)

// maxElsewhere is the number of paths that a name in a message may stand for.
const maxElsewhere = 3

// namedElsewhere returns the protected paths that a message names from another folder, into which the
// command has changed. If those are many, it is not known which one is meant.
func namedElsewhere(line, dir string, protected []string) (names []string) {
	for _, p := range protected {
		for at := p; !workspace.InFolder(dir, at); at = filepath.Dir(at) {
			if !isDistinct(at, p) || !mentionsEnd(line, nameFrom(dir, at)) {
				continue
			}
			if name := nameFrom(dir, at); !slices.Contains(names, name) {
				names = append(names, name)
			}
			break
		}
	}
	if len(names) > maxElsewhere {
		return nil
	}
	return names
}

// isDistinct reports whether the name of a path, or of a folder that contains it, is not an ordinary
// word.
func isDistinct(at, path string) bool {
	return at == path || strings.HasPrefix(filepath.Base(at), ".")
}

// mentionsEnd reports whether a line contains the last parts of a name.
func mentionsEnd(line, name string) bool {
	for {
		_, rest, ok := strings.Cut(name, "/")
		if !ok {
			return mentions(line, name, "")
		}
		if name = rest; mentions(line, name, "") {
			return true
		}
	}
}

// suspectPaths returns the protected paths that a failed command may have tried to change, although it
// does not say so in English or says nothing: those in its messages, and those that it names to
// programs which do more than read.
func suspectPaths(output, command, dir string, protected []string) (names []string) {
	possible := slices.DeleteFunc(slices.Clone(protected), func(p string) bool { return !mayBeIn(output, dir, p) && !mayBeIn(command, dir, p) })
	suspects := make(map[string]bool)
	add := func(text, at string) {
		for _, p := range possible {
			if found := mentioned(text, at, p); found != "" && isDistinct(found, p) {
				suspects[found] = true
			}
		}
	}
	for line := range strings.Lines(output) {
		if strings.Contains(line, ": ") || strings.Contains(line, "：") {
			add(line, dir)
		}
	}
	facts := bourne.Analyze(command, bourne.Bash)
	for _, c := range facts.Commands {
		at := follow(c.Folder, dir).real
		if at == "" || c.Starts || onlyReads(c.Words) {
			continue
		}
		for _, w := range c.Words[1:] {
			add(w.Text, at)
		}
	}
	for _, r := range facts.Redirects {
		if at := follow(r.Folder, dir).real; at != "" && r.Write {
			add(r.Path.Text, at)
		}
	}
	for path := range suspects {
		names = append(names, nameFrom(dir, path))
	}
	slices.Sort(names)
	return names
}

// mayBeIn reports whether a text contains the last part of a path, or of a folder that contains it. It
// is a quick look, because a workspace may have thousands of protected paths.
func mayBeIn(text, dir, path string) bool {
	for at := path; !workspace.InFolder(dir, at); at = filepath.Dir(at) {
		if isDistinct(at, path) && strings.Contains(text, filepath.Base(at)) {
			return true
		}
	}
	return false
}

// readers are programs, and commands of Git, that change no file which they are given.
var readers = strings.Fields(". [ cat cd cmp diff du echo egrep fgrep file find grep head jq less ls printf rg source stat tail test wc git:blame git:cat-file git:check-ignore git:diff git:grep git:log git:ls-files git:show git:status")

func onlyReads(words []bourne.Word) bool {
	name := words[0].Text
	name = name[strings.LastIndexByte(name, '/')+1:]
	if name == "git" {
		for _, w := range words[1:] {
			if !strings.HasPrefix(w.Text, "-") {
				name += ":" + w.Text
				break
			}
		}
	}
	return slices.Contains(readers, name)
}

package policy

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"fairlead/gateway/policy/shell"
)

// access is a folder that a command reads or writes as a whole, or a file; the command does not
// name the individual files.
type access struct {
	word shell.Word
	verb string // one of verbs
	// dotless means that files whose names start with a dot are not included.
	dotless bool
	only    string // the suffix of the files' names; "" means any
	file    bool   // a file, or a pattern for file names, instead of a folder
	sure    bool   // only a rule that is certainly about something in it applies
	// with the folder's whole repository, which is the workspace if the folder is in it
	tree bool
}

// anyAccess are the tools whose rules apply to a program's access to a file, those that write
// first.
var anyAccess = []string{"Write", "Edit", "Read"}

var (
	reading = anyAccess[2:]
	writing = anyAccess[:2]
)

var (
	currentFolder = shell.Word{Text: "."}
	everywhere    = shell.Word{Text: "/"} // the whole machine
)

// accesses returns the folders that a command accesses as a whole: those that it moves, copies,
// removes, packs or searches with everything in them, and those that it unpacks into.
func accesses(c shell.Command) (list []access) {
	name := baseName(c.Words[0].Text)
	words := c.Words[1:]
	if slices.ContainsFunc(words, func(w shell.Word) bool { return namesService(w.Text) }) {
		return []access{{word: everywhere, verb: "service"}}
	}
	if isLinking(name, words) {
		for _, w := range append(operands(words, "tSo"), linkTargets(words)...) {
			if isFolder(w) {
				list = append(list, access{word: w, verb: "link"})
			}
		}
		if !copiers[name] || name == "ln" {
			return list
		}
		if rest := operands(words, "tSo"); len(rest) > 0 && isFolder(rest[len(rest)-1]) && (name == "rsync" || recursive(words)) {
			list = append(list, access{word: rest[len(rest)-1], verb: "write"})
		}
	}
	switch name = unversionedProgram(name); name {
	case "find", "gfind", "fd", "fdfind":
		return findAccesses(words)
	case "curl":
		return append(list, curlAccesses(words)...)
	case "docker", "podman", "nerdctl":
		list = append(list, containerAccesses(words)...)
	case "python", "python2", "python3", "pypy", "pypy3":
		if i := moduleAt(c.Words); i > 0 && c.Words[i].Text == "pip" {
			return append(list, tableAccesses("pip", c.Words[i+1:])...)
		}
		name, words = "python-m", moduleWords(words)
	}
	return append(list, tableAccesses(name, words)...)
}

// moduleWords returns the module that python's option -m runs, and its arguments.
func moduleWords(words []shell.Word) []shell.Word {
	for i, w := range words {
		if w.Text == "-m" {
			return words[i+1:]
		}
		if v, ok := strings.CutPrefix(w.Text, "-m"); ok {
			return append([]shell.Word{part(w, v)}, words[i+1:]...)
		}
	}
	return nil
}

// isFolder reports whether a word may be the name of a folder, as far as it shows in the word
// alone.
func isFolder(w shell.Word) bool { return !w.Dynamic && maybeFolder(w.Text) }

func recursive(words []shell.Word) bool {
	return hasFlag(glob{parts: []string{"-r"}}, words) || hasFlag(glob{parts: []string{"-a"}}, words) || hasFlag(glob{parts: []string{"--archive"}}, words)
}

// unversionedProgram returns a program's name without its version, for programs with one in their
// name.
func unversionedProgram(name string) string {
	if plain := unversionedName(name); plain != "" {
		return plain
	}
	return name
}

// folderRule finds a rule about something in a folder that a command accesses as a whole. The
// folder's contents are unknown here, so the call needs an approval.
func (fr *fileRules) folderRule(c shell.Command) (v Verdict, found *rule, why string) {
	for _, a := range accesses(c) {
		a.word = resolvePWD(a.word)
		list, known := fr.resolver.paths(a.word)
		if a.tree {
			list = fr.resolver.repository(list)
		}
		for _, r := range fr.fileRestrictions {
			if !slices.ContainsFunc(verbs[a.verb].tools, func(t string) bool { return fr.applies(r, t) }) || a.dotless && r.path.dotted() || a.only != "" && !r.path.ends(a.only) {
				continue
			}
			if a.word.Dynamic {
				return Ask, r, "The folder " + shorten(a.word.Text) + " is known only when the command runs, and " + r.label() + " restricts " + shorten(r.Path)
			}
			hit := !known && len(list) == 0
			for _, f := range list {
				hit = hit || fr.resolver.match(r.path, f, true) || a.word.Glob && a.file && fr.resolver.mayMeet(r.path, f)
				in := fr.resolver.within(r.path, f, a.word.Glob)
				hit = hit || in == certain && !a.file || in == possible && !a.file && !a.sure
			}
			if hit {
				return Ask, r, verbs[a.verb].text + " a folder that may contain " + shorten(r.Path) + ", which " + r.label() + " restricts"
			}
		}
	}
	return "", nil, ""
}

// resolvePWD replaces a word that starts with the current folder, written $PWD or $(pwd), by its
// meaning.
func resolvePWD(w shell.Word) shell.Word {
	if !w.Dynamic {
		return w
	}
	text := strings.ReplaceAll(w.Text, `"`, "")
	for _, s := range []string{"$PWD", "${PWD}", "$(pwd)", "`pwd`"} {
		if rest, ok := strings.CutPrefix(text, s); ok && (rest == "" || rest[0] == '/') && !strings.ContainsAny(rest, "$`'\\*?[{") {
			return shell.Word{Text: "." + rest}
		}
	}
	return w
}

// dotted reports whether every path that the pattern matches has a name that starts with a dot, or
// a folder that does.
func (g pathGlob) dotted() bool {
	return slices.ContainsFunc(g.parts, func(p string) bool { return len(p) > 1 && p[0] == '.' })
}

// ends reports whether the pattern may match a file with the suffix only.
func (g pathGlob) ends(only string) bool {
	last := g.parts[len(g.parts)-1]
	return last == "**" || meetPart(strings.ToLower(last), only)
}

// findAccesses returns the folders whose files find passes to a program or deletes.
func findAccesses(words []shell.Word) (list []access) {
	acts, only := "", ""
	for i, w := range words {
		switch w.Text {
		case "-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch":
			if acts == "" {
				acts = "read"
			}
			if i+1 >= len(words) || !readers[baseName(words[i+1].Text)] {
				acts = "pass"
			}
		case "-delete":
			acts = "remove"
		case "-name", "-iname":
			if i+1 < len(words) && words[i+1].Plain() && only == "" {
				only = strings.ToLower(words[i+1].Text)
			}
		case "-o", "-or", ",", "!", "-not":
			only = "*"
		}
	}
	if acts == "" {
		return nil
	}
	for _, w := range words {
		if isFlag(w.Text) || w.Text == "(" || w.Text == "!" {
			if len(list) > 0 || w.Text != "-H" && w.Text != "-L" && w.Text != "-P" {
				break
			}
			continue
		}
		if !w.Dynamic {
			list = append(list, access{word: w, verb: acts, only: only})
		}
	}
	if len(list) == 0 {
		list = []access{{word: currentFolder, verb: acts, only: only}}
	}
	return list
}

var numberedOutput = regexp.MustCompile(`#[0-9]`)

// curlAccesses returns the folders into which curl writes files whose names are not in its words.
func curlAccesses(words []shell.Word) (list []access) {
	to := currentFolder
	if v, ok := valueOf(words, 0, "--output-dir"); ok {
		to = v
	}
	dir := func(w shell.Word) { list = append(list, access{word: w, verb: "write"}) }
	file := func(name string) { // in the folder for downloads
		f := to
		f.Text = path.Join(to.Text, name)
		list = append(list, access{word: f, verb: "write", file: true})
	}
	takes := func(t string, letters string) bool {
		return isFlag(t) && t[1] != '-' && strings.ContainsAny(leadingLetters(t[1:], "AbCdEeFHmPQrtuwXxYyzoKTcD"), letters)
	}
	for i, w := range words {
		t := w.Text
		opt, v, cut := strings.Cut(t, "=")
		if !cut && i+1 < len(words) {
			v = words[i+1].Text
		}
		switch {
		case takes(t, "J"), isPrefixOf("--remote-header-name", opt, 10):
			dir(to)
		case takes(t, "O"), isPrefixOf("--remote-name", opt, 10), opt == "--remote-name-all":
			for _, u := range words {
				if strings.ContainsAny(u.Text, "{[") || u.Dynamic {
					dir(to) // it chooses the names itself
				} else if name := path.Base(strings.SplitN(u.Text, "?", 2)[0]); strings.Contains(u.Text, "/") && !isFlag(u.Text) && name != "/" {
					file(name)
				}
			}
		case (opt == "--output" || strings.HasPrefix(t, "-") && strings.Contains(t, "o")) && (numberedOutput.MatchString(v) || numberedOutput.MatchString(t)):
			dir(shell.Word{Text: strings.SplitN(path.Join(to.Text, path.Dir(strings.SplitN(v, "#", 2)[0])), "\x00", 2)[0]})
		case opt == "--config", isFlag(t) && t[1] != '-' && strings.ContainsAny(t, "K"):
			dir(everywhere)
		}
	}
	return list
}

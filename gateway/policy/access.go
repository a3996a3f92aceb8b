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

// anyAccess are the tools whose rules apply to a program's access to a file, writers first.
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
	if slices.ContainsFunc(words, func(w shell.Word) bool { return daemonSocket.MatchString(w.Text) }) {
		return []access{{word: everywhere, verb: "service"}}
	}
	if isLinking(name, words) {
		rest := operands(words, "tSo")
		for _, w := range append(slices.Clone(rest), linkTargets(words)...) {
			if isFolder(w) {
				list = append(list, access{word: w, verb: "link"})
			}
		}
		if !copiers[name] || name == "ln" {
			return list
		}
		if len(rest) > 0 && isFolder(rest[len(rest)-1]) && (name == "rsync" || recursive(words)) {
			list = append(list, access{word: rest[len(rest)-1], verb: "write"})
		}
	}
	switch name = unversionedName(name); name {
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
		if v, ok := strings.CutPrefix(w.Text, "-m"); ok && v == "" {
			return words[i+1:]
		} else if ok {
			return append([]shell.Word{part(w, v)}, words[i+1:]...)
		}
	}
	return nil
}

// isFolder reports whether a word may name a folder, as far as the word alone shows.
func isFolder(w shell.Word) bool { return !w.Dynamic && maybeFolder(w.Text) }

func recursive(words []shell.Word) bool {
	return hasFlag("-r", words) || hasFlag("-a", words) || hasFlag("--archive", words)
}

// folderRule finds a rule about something in a folder that a command accesses as a whole. The
// folder's contents are unknown here, so the call needs an approval.
func (ma *matcher) folderRule(c shell.Command) (v Verdict, match *rule, why string) {
	for _, a := range accesses(c) {
		a.word = resolvePWD(a.word)
		list, known := ma.resolver.paths(a.word)
		if a.tree {
			list = ma.resolver.repository(list)
		}
		for _, r := range ma.fileRestrictions {
			if !ma.appliesToAny(r, verbs[a.verb].tools) || a.dotless && r.path.isAlwaysHidden() || a.only != "" && !r.path.ends(a.only) {
				continue
			}
			if a.word.Dynamic {
				return Ask, r, "The folder " + shorten(a.word.Text) + " is known only when the command runs, and " + r.label() + " restricts " + shorten(r.Path)
			}
			hit := !known && len(list) == 0 || ma.names(r, list, a.word.Glob && a.file)
			for _, f := range list {
				in := ma.resolver.within(r.path, f, a.word.Glob)
				hit = hit || !a.file && (in == certain || in == possible && !a.sure)
			}
			if hit {
				return Ask, r, verbs[a.verb].text + " a folder that may contain " + shorten(r.Path) + ", which " + r.label() + " restricts"
			}
		}
	}
	return "", nil, ""
}

// resolvePWD resolves a word that starts with $PWD or $(pwd).
func resolvePWD(w shell.Word) shell.Word {
	text := strings.ReplaceAll(w.Text, `"`, "")
	for _, s := range []string{"$PWD", "${PWD}", "$(pwd)", "`pwd`"} {
		if rest, ok := strings.CutPrefix(text, s); w.Dynamic && ok && (rest == "" || rest[0] == '/') && !strings.ContainsAny(rest, "$`'\\*?[{") {
			return shell.Word{Text: "." + rest}
		}
	}
	return w
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
	for _, w := range findStarts(words) {
		if w.Dynamic {
			w = currentFolder
		}
		list = append(list, access{word: w, verb: acts, only: only})
	}
	return list
}

// findStarts returns the folders in which find starts.
func findStarts(words []shell.Word) []shell.Word {
	isStart := func(w shell.Word) bool { return !isFlag(w.Text) && w.Text != "(" && w.Text != "!" }
	for len(words) > 0 && (words[0].Text == "-H" || words[0].Text == "-L" || words[0].Text == "-P") {
		words = words[1:]
	}
	if len(words) == 0 || !isStart(words[0]) {
		return []shell.Word{currentFolder}
	}
	if end := slices.IndexFunc(words, func(w shell.Word) bool { return !isStart(w) }); end >= 0 {
		words = words[:end]
	}
	return words
}

var numberedOutput = regexp.MustCompile(`#[0-9]`)

// curlAccesses returns the folders into which curl writes files whose names are not in its words.
func curlAccesses(words []shell.Word) (list []access) {
	to := currentFolder
	if v, ok := valueOf(words, "--output-dir"); ok {
		to = v
	}
	dir := func(w shell.Word) { list = append(list, access{word: w, verb: "write"}) }
	takes := func(t string, letter string) bool {
		return isLetters(t) && strings.Contains(leadingLetters(t[1:], curlValues), letter)
	}
	for i, w := range words {
		t := w.Text
		opt, value := optionAt(words, i)
		v := value.Text
		switch {
		case takes(t, "J"), isPrefixOf("--remote-header-name", opt, 10):
			dir(to)
		case takes(t, "O"), isPrefixOf("--remote-name", opt, 10), opt == "--remote-name-all":
			for _, u := range words {
				if strings.ContainsAny(u.Text, "{[") || u.Dynamic {
					dir(to) // it chooses the names itself
				} else if name := path.Base(strings.SplitN(u.Text, "?", 2)[0]); strings.Contains(u.Text, "/") && !isFlag(u.Text) && name != "/" {
					f := to // in the folder for downloads
					f.Text = path.Join(to.Text, name)
					list = append(list, access{word: f, verb: "write", file: true})
				}
			}
		case (opt == "--output" || strings.HasPrefix(t, "-") && strings.Contains(t, "o")) && (numberedOutput.MatchString(v) || numberedOutput.MatchString(t)):
			begin, _, _ := strings.Cut(v, "#")
			dir(shell.Word{Text: path.Join(to.Text, path.Dir(begin))})
		case opt == "--config", isLetters(t) && strings.Contains(t, "K"):
			dir(everywhere)
		}
	}
	return list
}

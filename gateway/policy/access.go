package policy

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"fairlead/gateway/peer/shell"
)

// access is a folder that a command accesses as a whole, or a file that it does not name.
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
	}
	switch name = unversionedName(name); name {
	case "python", "python2", "python3", "pypy", "pypy3":
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

// unkept are the verbs of accesses that a machine does not stop as a whole: of programs that pass
// files on or let something else use them, and of those that remove all that is not protected.
var unkept = set("service give show-container send show pass take remove clear reach rename")

// folderRule finds a rule about something in a folder that a command accesses as a whole. The
// folder's contents are unknown here, so the call needs an approval.
func (fm *fileMatcher) folderRule(c shell.Command) (v Verdict, match *rule, why string) {
	isKept := !isSeparate(baseName(c.Words[0].Text))
	for _, a := range accesses(c) {
		a.word = resolvePWD(a.word)
		list, known := fm.resolver.paths(a.word)
		if a.tree {
			list = fm.resolver.places.repository(list)
		}
		for _, r := range fm.set.fileRestrictions {
			tools := verbs[a.verb].tools
			if !fm.appliesToAny(r, tools) || isKept && !unkept[a.verb] && a.word != everywhere && fm.keeps(r, tools) || a.dotless && r.path.isAlwaysHidden() || a.only != "" && !r.path.endsWith(a.only) {
				continue
			}
			if a.word.Dynamic {
				return Ask, r, "The folder " + shorten(a.word.Text) + " is known only when the command runs, and " + r.label() + " restricts " + shorten(r.Path)
			}
			hit := !known && len(list) == 0 || fm.names(r, list, a.word.Glob && a.file)
			for _, f := range list {
				in := fm.resolver.places.within(r.path, f, a.word.Glob)
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

// findNames are the options of find that name the files that it finds.
var findNames = set("-name -iname -path -ipath -wholename -iwholename")

// changedByFind returns the folders in which find starts, and the names that it looks for, if it
// removes the files or starts a program that may change them.
func changedByFind(name string, words []shell.Word) (list []shell.Word) {
	isWriting := hasWord(words, "-delete") || slices.ContainsFunc(words, func(w shell.Word) bool { return execOptions[w.Text] }) && !accessChecks["reads"](words)
	if name != "find" && name != "gfind" || !isWriting {
		return nil
	}
	add := func(w shell.Word) {
		if strings.Trim(w.Text, "./~") != "" {
			w.Glob = w.Glob || hasWildcard(w.Text)
			list = append(list, w)
		}
	}
	for _, w := range findStarts(words) {
		add(w)
	}
	for k := 1; k < len(words); k++ {
		isNegated := k > 1 && (words[k-2].Text == "!" || words[k-2].Text == "-not")
		isPruned := k+1 < len(words) && words[k+1].Text == "-prune"
		if findNames[words[k-1].Text] && !isNegated && !isPruned && !words[k].Dynamic {
			add(words[k])
		}
	}
	return list
}

// volumeName matches the name of a container volume, which is not a folder of the machine.
var volumeName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]*$`)

// daemonSocket matches the socket of a service that can be made to access any file of the machine.
var daemonSocket = regexp.MustCompile(`(docker|podman|containerd|crio|buildkitd|dbus|systemd/private|snapd|libvirt)[^ ]*\.sock|/(system_)?bus(_socket)?$`)

// readOnly matches the options of a mount that a container can only read.
var readOnly = regexp.MustCompile(`(^|,)(ro|readonly)(=true)?(,|$)`)

// mountedFolders returns the machine's folders that docker's options give to a container.
func mountedFolders(words []shell.Word) (list []access) {
	add := func(w shell.Word, host, options string, isFolder bool) {
		verb := "give"
		if readOnly.MatchString(options) {
			verb = "show-container"
		}
		if isFolder || w.Dynamic || !volumeName.MatchString(host) {
			list = append(list, access{word: part(w, host), verb: verb})
		}
	}
	volumes := values(words, "-v,--volume")
	for _, w := range words {
		if i := strings.IndexByte(w.Text, 'v'); i > 1 && isLetters(w.Text) { // in combined options
			volumes = append(volumes, part(w, strings.TrimPrefix(w.Text[i+1:], "=")))
		}
	}
	for _, w := range volumes {
		start := 0
		if drive(w.Text) {
			start = 2
		}
		if host, rest, ok := strings.Cut(w.Text[start:], ":"); ok { // HOST:CONTAINER:OPTIONS
			_, options, _ := strings.Cut(rest, ":")
			add(w, w.Text[:start]+host, options, false)
		}
	}
	for _, w := range values(words, "--mount") { // type=bind,src=HOST,…
		for f := range strings.SplitSeq(w.Text, ",") {
			if key, host, _ := strings.Cut(f, "="); key == "src" || key == "source" {
				add(w, host, w.Text, strings.Contains(w.Text, "type=bind"))
			}
		}
	}
	return list
}

// arrivalRule finds a rule about the name that a copied file gets in its target folder. sure means
// that the target certainly is a folder and the name is not a pattern.
func (fm *fileMatcher) arrivalRule(c shell.Command, name string) (match *rule, sure bool, why string) {
	to, list := copyTargets(c, name)
	for _, at := range list {
		files, _ := fm.resolver.paths(at)
		for _, r := range fm.set.fileRestrictions {
			if fm.appliesToAny(r, writing) && fm.names(r, files, at.Glob) {
				return r, !at.Glob && strings.HasSuffix(to.Text, "/"), "May write " + shorten(at.Text) + ", which a rule restricts; " + r.reason
			}
		}
	}
	return nil, false, ""
}

// copyTargets returns the folder that a copy command may write to, and the files' names there.
func copyTargets(c shell.Command, name string) (to shell.Word, list []shell.Word) {
	if !copiers[name] {
		return to, nil
	}
	to, from, ok := copyArguments(withoutInputs(c.Words[1:]), "tSgmo", name != "rsync" && name != "scp")
	if !ok || to.Dynamic {
		return to, nil
	}
	for _, w := range from {
		if !w.Dynamic && w.Text != "" {
			at := to
			at.Text, at.Glob = path.Join(to.Text, path.Base(w.Text)), w.Glob || to.Glob
			list = append(list, at)
		}
	}
	return to, list
}

// copyArguments returns the target of a copy command, which is the value of -t if the command
// supports it or the last operand, and the sources. takes are the options with a value.
func copyArguments(words []shell.Word, takes string, hasTarget bool) (to shell.Word, from []shell.Word, ok bool) {
	from = operands(words, takes)
	if to, ok = valueOf(words, "-t,--target-directory"); ok && hasTarget {
		return to, from, true
	}
	if len(from) < 2 {
		return to, nil, false
	}
	return from[len(from)-1], from[:len(from)-1], true
}

// isLinking reports whether a command creates a link, by which its target can be read and written.
func isLinking(name string, words []shell.Word) bool {
	return len(tableAccesses("links:"+name, words)) > 0
}

// linkTargets returns the targets of relative links, which start at the last word or its folder.
func linkTargets(words []shell.Word) (list []shell.Word) {
	link, from, _ := copyArguments(words, "tS", true)
	for _, w := range from {
		if isAbs(w.Text) || w.Tilde || strings.HasPrefix(w.Text, "~") {
			continue
		}
		for _, dir := range []string{path.Dir(link.Text), link.Text} {
			list = append(list, combine(path.Join(dir, w.Text), link, w))
		}
	}
	return list
}

// combine returns a word with a text that consists of two words, of which the first starts it.
func combine(text string, first, second shell.Word) shell.Word {
	return shell.Word{
		Text: text, Dynamic: first.Dynamic || second.Dynamic, Ambiguous: first.Ambiguous || second.Ambiguous,
		Glob: first.Glob || second.Glob, Tilde: first.Tilde,
	}
}

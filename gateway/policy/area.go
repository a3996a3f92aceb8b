package policy

import (
	"slices"
	"strings"

	"fairlead/gateway/policy/shell"
)

// area is a folder that a command reads or writes as a whole; the command does not name the
// individual files.
type area struct {
	word  shell.Word
	tools []string // the tools whose rules apply to the access
	why   string   // what happens to the folder
	// dotless means that files whose names start with a dot are not included.
	dotless bool
	only    string // the suffix of the files' names; "" means any
	file    bool   // a file, or a pattern for file names, instead of a folder
	sure    bool   // only a rule that is certainly about something in it applies
	// with the folder's whole repository, which is the workspace if the folder is in it
	tree bool
}

var (
	reading = anyAccess[2:]
	writing = anyAccess[:2]
)

// areas returns the folders that a command accesses as a whole: those that it moves, copies,
// removes, packs or searches with everything in them, and those that it unpacks into.
func areas(c shell.Command) (list []area) {
	name := base(c.Words[0].Text)
	words := c.Words[1:]
	add := func(w shell.Word, tools []string, why string) {
		if folder(w) {
			list = append(list, area{word: w, tools: tools, why: why})
		}
	}
	all := func(tools []string, why string, values string) {
		for _, w := range operands(words, values) {
			add(w, tools, why)
		}
	}
	for _, w := range words {
		if tellsService(w.Text) {
			list = append(list, area{word: everywhere, tools: anyAccess, why: "may tell a service of the machine to open"})
		}
	}
	if list != nil {
		return list
	}
	if linking(name, words) {
		all(anyAccess, "would make another way to", "tSo")
		for _, w := range aims(words) {
			add(w, anyAccess, "would make another way to")
		}
		if !copiers[name] || name == "ln" {
			return list
		}
	}
	switch name {
	case "sort", "gsort":
		if hasBeginning(words, "--files0") {
			list = append(list, area{word: everywhere, tools: reading, why: "reads from a list"})
		}
	case "mv", "trash", "trash-put", "rmtrash", "gio", "gvfs-trash", "rename":
		all(anyAccess, "would take", "tS")
	case "rm", "srm", "chmod", "chown", "chgrp":
		if recursive(words) {
			all(writing, "would reach", "")
		}
	case "cp", "scp", "gcp", "rsync", "ditto", "rclone", "robocopy", "xcopy":
		list = copied(list, name, words)
	case "grep", "egrep", "fgrep", "rgrep", "diff", "rg", "ag", "ack":
		list = searched(name, words)
	case "find", "gfind", "fd", "fdfind":
		list = found(words)
	case "git":
		list = gitAreas(c)
	case "docker", "podman", "nerdctl", "docker-compose", "podman-compose":
		list = append(sent(name, words), boxed(name, words)...)
	case "kubectl", "oc", "aws", "gsutil", "s3cmd", "gcloud", "s5cmd", "mc", "b2", "ossutil", "swift":
		list = sent(name, words)
	case "serve", "http-server", "live-server", "httpd", "webfsd", "miniserve", "darkhttpd", "simple-http-server", "caddy", "php", "filebrowser":
		list = served(name, words)
	default:
		list = append(packed(name, c), written(plainName(name), c)...)
	}
	return list
}

// folder reports whether a word may be the name of a folder, judged by the word alone.
func folder(w shell.Word) bool { return !w.Dynamic && maybeFolder(w.Text) }

func recursive(words []shell.Word) bool {
	return given(glob{parts: []string{"-r"}}, words) || given(glob{parts: []string{"-a"}}, words) || given(glob{parts: []string{"--archive"}}, words)
}

// copied adds the folders that a copy command reads, and the last one, which it copies into. cp
// without -r skips folders.
func copied(list []area, name string, words []shell.Word) []area {
	values := "efBTM"
	if name == "cp" || name == "scp" || name == "gcp" {
		if !recursive(words) {
			return nil
		}
		values = "tSPioFcJlDX"
	}
	all := operands(words, values)
	add := func(w shell.Word, tools []string, why string) {
		if folder(w) {
			list = append(list, area{word: w, tools: tools, why: why})
		}
	}
	if name == "rsync" && hasBeginning(words, "--read-b") && len(all) > 0 {
		add(all[len(all)-1], writing, "may write")
	}
	from := reading
	if name == "rsync" && hasBeginning(words, "--remove-so") || name == "rclone" && len(all) > 0 && (all[0].Text == "move" || all[0].Text == "sync") {
		from = anyAccess
	}
	for _, w := range all[:max(len(all)-1, 0)] {
		add(w, from, "would copy")
	}
	if len(list) > 0 { // otherwise only files
		add(all[len(all)-1], writing, "may write")
	}
	return list
}

// served returns the folders that a web server would publish.
func served(name string, words []shell.Word) []area {
	if name == "php" && !hasLetter(words, "dczftr", 'S', "--server") {
		return nil
	}
	roots := append([]shell.Word{{Text: "."}}, operands(words, "Splc")...)
	roots = append(roots, values(words, 't', "--docroot")...)
	if name == "httpd" {
		roots = append(roots, values(words, 'h', "")...)
	}
	var list []area
	for _, w := range roots {
		list = append(list, area{word: w, tools: reading, why: "would show"})
	}
	return list
}

// plainName returns a program's name without its version, for programs with one in their name.
func plainName(name string) string {
	if plain := otherName(name); plain != "" {
		return plain
	}
	return name
}

// operands returns the words that are not options; values are the short options whose value is the
// next word.
func operands(words []shell.Word, values string) (list []shell.Word) {
	ended := false
	for i := 0; i < len(words); i++ {
		t := words[i].Text
		switch {
		case ended || !isFlag(t) || words[i].Dynamic:
			list = append(list, words[i])
		case t == "--":
			ended = true
		case len(t) == 2 && strings.Contains(values, t[1:]):
			i++
		}
	}
	return list
}

func hasOption(words []shell.Word, letter byte, long string) bool {
	for _, w := range words {
		name, _, _ := strings.Cut(w.Text, "=")
		if isFlag(w.Text) && w.Text[1] != '-' && strings.IndexByte(w.Text, letter) > 0 || len(name) > 3 && strings.HasPrefix(long, name) {
			return true
		}
	}
	return false
}

// hasLetter is hasOption for options of which some have their value in the same word.
func hasLetter(words []shell.Word, values string, letter byte, long string) bool {
	for _, w := range words {
		name, _, _ := strings.Cut(w.Text, "=")
		if isFlag(w.Text) && w.Text[1] != '-' && strings.IndexByte(cluster(w.Text[1:], values), letter) >= 0 || long != "" && len(name) > 3 && strings.HasPrefix(long, name) {
			return true
		}
	}
	return false
}

// covers finds a rule about something in a folder that a command accesses as a whole. The folder's
// contents are unknown here, so the call needs an approval.
func (j *judging) covers(c shell.Command) (v Verdict, found *rule, why string) {
	for _, a := range areas(c) {
		a.word = present(a.word)
		list, known := j.place.paths(a.word)
		if a.tree {
			list = j.place.repository(list)
		}
		for _, r := range j.paths {
			if !slices.ContainsFunc(a.tools, func(t string) bool { return j.applies(r, t) }) || a.dotless && r.path.dotted() || a.only != "" && !r.path.ends(a.only) {
				continue
			}
			if a.word.Dynamic {
				return Ask, r, "only the running shell knows which folder " + short(a.word.Text) + " is, and " + r.called() + " is about some: " + short(r.Path)
			}
			hit := !known && len(list) == 0
			for _, f := range list {
				hit = hit || j.place.match(r.path, f, true) || a.word.Glob && a.file && j.place.mayMeet(r.path, f)
				in := j.place.within(r.path, f, a.word.Glob)
				hit = hit || in == certain && !a.file || in == possible && !a.file && !a.sure
			}
			if hit {
				return Ask, r, "it " + a.why + " files that nobody can name from here, and " + r.called() + " is about some: " + short(r.Path)
			}
		}
	}
	return "", nil, ""
}

// present replaces a word that starts with the current folder, written $PWD or $(pwd), by its
// meaning.
func present(w shell.Word) shell.Word {
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

// takers are programs that remove or move away folders with everything in them.
var takers = set("rm mv trash trash-put gio rmtrash srm")

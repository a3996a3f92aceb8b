package policy

import (
	"net/url"
	"slices"
	"strings"

	"fairlead/gateway/peer/shell"
)

// fileWord is a word of a command that may name a file.
type fileWord struct {
	word         shell.Word
	tools        []string // the tools whose rules apply
	sure         bool     // the program certainly accesses it so
	withContents bool     // with everything below it
}

// fileWords returns the possible file names in a command's words, in any position.
func fileWords(name string, c shell.Command) (list []fileWord) {
	add := func(w shell.Word, tools []string, sure, withContents bool) {
		if w.Text != "" {
			w.Tilde = w.Tilde || strings.HasPrefix(w.Text, "~") && !w.Glob
			list = append(list, fileWord{w, tools, sure, withContents})
		}
	}
	if t := c.Words[0].Text; strings.Contains(t, "/") && !system(t) { // it is executed
		add(c.Words[0], reading, false, false)
	}
	isUser := readers[name] || viewers[name] || writers[name] || movers[name] || copiers[name]
	if backupMakers[name] {
		for _, w := range backups(c.Words[1:]) {
			add(w, writing, false, false)
		}
	}
	links := isLinking(name, c.Words[1:])
	if links {
		for _, w := range linkTargets(c.Words[1:]) {
			add(w, anyAccess, false, false) // if the last word is a folder, another file is written
		}
	}
	elsewhere := writesElsewhere(name, c.Words)
	for i, w := range c.Words[1:] {
		isLast := i == len(c.Words)-2
		tools, sure := wordAccess(name, w, isLast, elsewhere, links)
		if w.Dynamic || w.Ambiguous && w.Tilde {
			if isUser && !c.Guess {
				w.Dynamic = true
				add(w, tools, false, false)
			}
			continue
		}
		key, v, valued := strings.Cut(w.Text, "=")
		part := w
		switch attached := attachedValue(w.Text); {
		case attached != "":
			part.Text = attached
			add(part, tools, sure, false)
		case name == "dd" && key == "if" && valued:
			part.Text = v
			add(part, reading, true, false)
		case valued:
			part.Text = v
			add(part, tools, sure, false)
		case !isFlag(w.Text):
			add(w, tools, sure, movers[name] && !(name == "mv" && i > 0 && isLast && !elsewhere))
		}
		for _, t := range fileNamesIn(name, w.Text) {
			part.Text, part.Glob, part.Tilde = t, false, false
			add(part, anyAccess, false, false)
		}
	}
	return list
}

// wordAccess returns the tools whose rules apply to a word of a command, and whether the program
// certainly accesses a file of that name so. elsewhere and links are the results of
// writesElsewhere and isLinking for the command.
func wordAccess(name string, w shell.Word, isLast, elsewhere, links bool) (tools []string, sure bool) {
	isReader, isCopier := readers[name] || viewers[name], copiers[name] && name != "mv"
	switch {
	case elsewhere, attachedValue(w.Text) != "" && !isReader:
		return anyAccess, false // its options may do anything with it
	case links: // the target of a link can be read and written by the other name
		return anyAccess, true
	case isCopier && !isLast, isReader:
		return reading, true
	case isCopier, pureWriters[name]:
		return writing, true
	}
	return anyAccess, writers[name] || name == "mv" // in other positions it may be read
}

// system reports whether a program is in a system folder.
func system(p string) bool {
	return slices.ContainsFunc([]string{"/usr/", "/bin/", "/sbin/", "/opt/", "/nix/", "/snap/"}, func(dir string) bool { return strings.HasPrefix(p, dir) })
}

// fileNamesIn returns the parts of a word that may be file names: the text after an @, as curl's,
// elements of lists and pairs, and quoted texts in code that the program runs.
func fileNamesIn(name, text string) []string {
	if i := strings.Index(strings.ToLower(text), "file:"); i >= 0 {
		return fileAddress(text[i+len("file:"):])
	}
	isSed, isAwk := name == "sed" || guardedLike[name] == "sed", name == "awk" || guardedLike[name] == "awk"
	cut := "=,@:;<"
	switch {
	case strings.Contains(text, "://"):
		return nil
	case name == "curl":
		cut += "{}>"
	case isSed, isAwk, isVersionOf(name, interpreters): // it runs code in its arguments
		cut += " \t\n\"'`()[]{}|&>"
	}
	var script []string
	// its commands that open files may directly precede the name
	if isSed {
		for i, c := range text {
			if strings.ContainsRune("wWrR", c) {
				script = append(script, strings.TrimLeft(text[i+1:], " \t"))
			}
		}
	}
	if !strings.ContainsAny(text, cut) {
		return script
	}
	return append(script, strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(cut, r) })...)
}

// attachedValue returns the value of a short option in the same word, as in -osecrets/key.
func attachedValue(word string) string {
	if len(word) < 4 || word[0] != '-' || word[1] == '-' || strings.Contains(word, "=") {
		return ""
	}
	return word[2:]
}

// writesElsewhere reports whether options make a command write elsewhere than its words normally
// mean, such as a program that otherwise only reads.
func writesElsewhere(name string, words []shell.Word) bool {
	return len(tableAccesses("elsewhere:"+name, words[1:])) > 0
}

// fileAddress returns the files that the rest of a file: URL may mean, with and without a host.
func fileAddress(rest string) (list []string) {
	if plain, err := url.PathUnescape(rest); err == nil {
		rest = plain
	}
	list = append(list, rest)
	if host, ok := strings.CutPrefix(rest, "//"); ok {
		list = append(list, host)
		if i := strings.IndexByte(host, '/'); i >= 0 {
			list = append(list, host[i:])
		}
	}
	return list
}

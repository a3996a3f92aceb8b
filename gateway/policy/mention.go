package policy

import (
	"net/url"
	"slices"
	"strings"

	"fairlead/gateway/policy/shell"
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
	list = make([]fileWord, 0, len(c.Words)+2)
	add := func(w shell.Word, tools []string, sure, taken bool) {
		if w.Text != "" {
			w.Tilde = w.Tilde || strings.HasPrefix(w.Text, "~") && !w.Glob
			list = append(list, fileWord{w, tools, sure, taken})
		}
	}
	if t := c.Words[0].Text; strings.Contains(t, "/") && !system(t) { // it is executed
		add(c.Words[0], reading, false, false)
	}
	code := runsText(name)
	user := readers[name] || viewers[name] || writers[name] || movers[name] || copiers[name]
	elsewhere, link := writesElsewhere(name, c.Words), isLinking(name, c.Words[1:])
	if backupMakers[name] {
		for _, w := range backups(c.Words[1:]) {
			add(w, writing, false, false)
		}
	}
	if link {
		for _, w := range linkTargets(c.Words[1:]) {
			add(w, anyAccess, false, false) // if the last word is a folder, another file is written
		}
	}
	for i, w := range c.Words[1:] {
		tools, sure := anyAccess, false
		last := i == len(c.Words)-2
		switch {
		case elsewhere, attachedValue(w.Text) != "" && !readers[name] && !viewers[name]:
			// its options may do anything with it
		case link: // the target of a link can be read and written by the other name
			sure = true
		case copiers[name] && name != "mv" && !last, readers[name], viewers[name]:
			tools, sure = reading, true
		case pureWriters[name], copiers[name] && name != "mv":
			tools, sure = writing, true
		case writers[name], name == "mv": // in other positions it may be read
			sure = true
		}
		if w.Dynamic || w.Ambiguous && w.Tilde {
			if user && !c.Guess {
				w.Dynamic = true
				add(w, tools, false, false)
			}
			continue
		}
		flag := isFlag(w.Text)
		key, v, valued := strings.Cut(w.Text, "=")
		part := w
		switch {
		case attachedValue(w.Text) != "":
			part.Text = attachedValue(w.Text)
			add(part, tools, sure, false)
		case name == "dd" && key == "if":
			part.Text = v
			add(part, reading, true, false)
		case valued:
			part.Text = v
			add(part, tools, sure, false)
		case !flag:
			add(w, tools, sure, movers[name] && !(name == "mv" && i > 0 && last && !elsewhere))
		}
		for _, t := range fileNamesIn(name, w.Text, code) {
			part.Text, part.Glob, part.Tilde = t, false, false
			add(part, anyAccess, false, false)
		}
	}
	return list
}

// system reports whether a program is in a system folder.
func system(p string) bool {
	for _, dir := range []string{"/usr/", "/bin/", "/sbin/", "/opt/", "/nix/", "/snap/"} {
		if strings.HasPrefix(p, dir) {
			return true
		}
	}
	return false
}

// fileNamesIn returns the parts of a word that may be file names: the text after an @, as curl's,
// elements of lists and pairs, and quoted texts in code that the program runs.
func fileNamesIn(name, text string, code bool) []string {
	if strings.IndexByte(text, ':') >= 0 {
		if i := strings.Index(strings.ToLower(text), "file:"); i >= 0 {
			return fileAddress(text[i+len("file:"):])
		}
	}
	cut := "=,@:;<"
	switch {
	case strings.Contains(text, "://"):
		return nil
	case name == "curl":
		cut += "{}>"
	case code:
		cut += " \t\n\"'`()[]{}|&>"
	}
	var script []string
	// its commands that open files may directly precede the name
	if name == "sed" || guardedLike[name] == "sed" {
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

// runsText reports whether a program runs code in its arguments.
func runsText(name string) bool {
	return isVersionOf(name, interpreters) || name == "awk" || name == "sed" || guardedLike[name] == "awk" || guardedLike[name] == "sed"
}

// attachedValue returns the value of a short option in the same word, as in -osecrets/key.
func attachedValue(word string) string {
	if len(word) < 4 || word[0] != '-' || word[1] == '-' || strings.Contains(word, "=") {
		return ""
	}
	return word[2:]
}

// writesElsewhere reports whether a command's options make it write elsewhere than its words
// normally mean: into a folder before the sources, or, for a program that otherwise only reads,
// into a file.
func writesElsewhere(name string, words []shell.Word) bool {
	long, letter := "", byte(0)
	switch name {
	case "cp", "mv", "ln", "install":
		long, letter = "--target-directory", 't'
	case "sort":
		if hasLetter(words[1:], "kSt", 'T', "--temporary-directory") {
			return true
		}
		long, letter = "--output", 'o'
	case "yq":
		return hasLetter(words[1:], "opI", 'i', "--inplace") || hasLetter(words[1:], "", 's', "--split-exp")
	case "tree", "jq", "base64":
		long, letter = "--output", 'o'
	case "less":
		long, letter = "--log-file", 'o'
	case "gofmt":
		return hasOption(words[1:], 'w', "") || hasLong(words[1:], "--w")
	case "find":
		return slices.ContainsFunc(words[1:], func(w shell.Word) bool {
			return strings.HasPrefix(w.Text, "-f") && w.Text != "-follow" && w.Text != "-fstype"
		})
	case "uniq", "xxd":
		return len(words) > 2
	default:
		return false
	}
	for _, w := range words[1:] {
		opt, _, _ := strings.Cut(w.Text, "=")
		if len(opt) > 2 && strings.HasPrefix(long, opt) || len(w.Text) > 1 && w.Text[0] == '-' && w.Text[1] != '-' && strings.IndexByte(w.Text, letter) > 0 {
			return true
		}
	}
	return false
}

// fileAddress returns the files that the rest of a file: URL may mean, with and without a host,
// decoded.
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

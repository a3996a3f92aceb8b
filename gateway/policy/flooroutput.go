package policy

import (
	"path"
	"regexp"
	"strings"

	"fairlead/gateway/policy/shell"
)

// outputs matches the options that name output files and folders of programs.
var outputs = regexp.MustCompile(`(?i)^--?(o|.*out|.*out[-_.]?(put|file|dir|path|folder).*|.*(profile|trace|xml|log|report|stats|history|info|cache)([-_.]?(out|output|file|dir|path|location))?|` +
	`(write|dump|save|export|record)[-_a-z]*|.*(target|dest|destination)([-_.]?(dir|path|folder|file))?|.*cache[-_]?(file|dir|location)|debug|timings?|cov-report|junit-?xml)$`)

// outputReason returns the reason why a command that is not a known writer would write a file that
// the floor protects: by an output option, in place, or by the names of its pieces or backups.
func (fl *floor) outputReason(c shell.Command, name string) string {
	if readers[name] && !writesElsewhere(name, c.Words) || noFileArguments[name] || shellBuiltins[name] || name == "test" || name == "[" || name == "[[" {
		return ""
	}
	words := c.Words[1:]
	change := false
	for i, w := range words {
		if w.Dynamic || !isFlag(w.Text) {
			continue
		}
		change = change || inPlaceOptions[w.Text] && !viewers[name]
		opt, value, ok := optionAt(words, i)
		if !ok || fl.resolver.isHarmless(value) || !outputs.MatchString(opt) && !(opt == "-t" && strings.HasPrefix(name, "pip")) {
			continue
		}
		if k := strings.LastIndexByte(value.Text, ':'); k > 1 { // a type before it, as in xml:FILE
			if why := fl.wordReason(part(value, value.Text[k+1:])); why != "" {
				return why
			}
		}
		if why := fl.wordReason(value); why != "" {
			return why
		}
	}
	if change {
		for _, w := range operands(words, "") {
			if why := fl.wordReason(w); why != "" {
				return why
			}
		}
	}
	switch name {
	case "split", "gsplit", "csplit", "gcsplit":
		return fl.splitReason(name, words)
	}
	if backupMakers[name] {
		for _, w := range backups(words) {
			if why := fl.wordReason(w); why != "" {
				return why
			}
		}
	}
	return ""
}

// optionAt returns the option at an index with its value, in the same word or in the next; ok is
// false if it has none.
func optionAt(words []shell.Word, i int) (opt string, value shell.Word, ok bool) {
	opt, v, cut := strings.Cut(words[i].Text, "=")
	switch {
	case cut:
		return opt, part(words[i], v), true
	case i+1 == len(words) || isFlag(words[i+1].Text):
		return opt, value, false
	}
	return opt, words[i+1], true
}

// isHarmless is a fast check that a word certainly names nothing protected.
func (p *pathResolver) isHarmless(w shell.Word) bool {
	return w.Dynamic || !p.moved && !strings.ContainsAny(w.Text, "./~")
}

// wordReason is fileReason for a word.
func (fl *floor) wordReason(w shell.Word) string {
	if fl.resolver.isHarmless(w) {
		return ""
	}
	w.Tilde = w.Tilde || strings.HasPrefix(w.Text, "~")
	list, _ := fl.resolver.paths(w)
	return fl.fileReason(list)
}

// splitReason returns the reason why a piece of a split file may get a protected name.
func (fl *floor) splitReason(name string, words []shell.Word) string {
	prefix, ok := valueOf(words, 'f', "--prefix")
	if rest := operands(words, "abCnlt"); !strings.HasSuffix(name, "csplit") && len(rest) > 1 {
		prefix, ok = rest[1], true
	}
	if !ok || prefix.Dynamic {
		return ""
	}
	piece := prefix
	piece.Text += "x"
	if why := fl.wordReason(piece); why != "" {
		return why
	}
	begins := strings.ToLower(path.Base(piece.Text))
	begins = begins[:len(begins)-1]
	if len(begins) < 2 {
		return ""
	}
	for _, name := range protectedNames(begins) {
		piece.Text = path.Join(path.Dir(prefix.Text), name)
		if why := fl.wordReason(piece); why != "" {
			return "May write " + name + ": " + why
		}
	}
	return ""
}

// backups returns the names that a copy command may give to the previous files.
func backups(words []shell.Word) (list []shell.Word) {
	for _, suffix := range backupSuffixes(words) {
		for _, w := range operands(words, "S") {
			w.Text += suffix.Text
			w.Dynamic, w.Ambiguous, w.Glob = w.Dynamic || suffix.Dynamic, w.Ambiguous || suffix.Ambiguous, w.Glob || suffix.Glob
			list = append(list, w)
		}
	}
	return list
}

// backupSuffixes returns the suffixes that a copy command, or a program that edits in place, gives
// to the previous files.
func backupSuffixes(words []shell.Word) []shell.Word {
	list := append(values(words, 'S', "--suffix"), values(words, 0, "--in-place")...)
	for _, w := range words {
		if k := strings.IndexByte(w.Text, 'i'); k > 0 && k < len(w.Text)-1 && isFlag(w.Text) && w.Text[1] != '-' {
			list = append(list, part(w, w.Text[k+1:]))
		}
		if k := strings.IndexByte(w.Text, 'S'); k > 1 && k < len(w.Text)-1 && isFlag(w.Text) && strings.Trim(w.Text[1:k], "abdfiHLlnPpRrsTuvxZ") == "" {
			list = append(list, part(w, w.Text[k+1:])) // in combined options
		}
	}
	return list
}

// simpleRename matches the expressions of the perl program rename that only rename a file within
// its folder.
var simpleRename = regexp.MustCompile(`^((s|y|tr)/[^/\\$@{(]*/[^/\\$@{(]*/[gi]*|[A-Za-z0-9_. -]*)$`)

func guardRename(c shell.Command, _ *pathResolver, add func(int, bool, string)) {
	n := 0
	for i := 1; i < len(c.Words) && n < 2; i++ {
		w := c.Words[i]
		if isFlag(w.Text) && !w.Dynamic {
			if strings.HasPrefix(w.Text, "-e") || strings.HasPrefix(w.Text, "--exp") || strings.HasPrefix(w.Text, "-f") || strings.HasPrefix(w.Text, "--file") {
				add(i, true, "rename "+shorten(w.Text)+" may run any code")
			}
			continue
		}
		n++
		// The second word is a name for util-linux's program, and a file for perl's.
		if n == 1 && !simpleRename.MatchString(w.Text) || n == 2 && strings.Contains(w.Text, "/") && !strings.Contains(c.Words[i-1].Text, "/") {
			add(i, true, "rename "+shorten(w.Text)+" may run code or move files elsewhere")
		}
	}
}

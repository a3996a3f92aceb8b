package policy

import (
	"path"
	"regexp"
	"strings"

	"fairlead/gateway/approval/shell"
)

// outputs are the options by which programs are told where to put what they write, files and folders.
var outputs = regexp.MustCompile(`(?i)^--?(o|.*out|.*out[-_.]?(put|file|dir|path|folder).*|.*(profile|trace|xml|log|report|stats|history|info|cache)([-_.]?(out|output|file|dir|path|location))?|` +
	`(write|dump|save|export|record)[-_a-z]*|.*(target|dest|destination)([-_.]?(dir|path|folder|file))?|.*cache[-_]?(file|dir|location)|debug|timings?|cov-report|junit-?xml)$`)

// rewriting are the options by which programs change the files that they are given.
var rewriting = set("-w --write --fix -i --in-place --inplace --overwrite")

// kept says why a command that is no known writer would write what is asked about whatever the rules say: by an option that names it, in place, or by the
// names that it gives to pieces or to what was there before.
func (j *judging) kept(c shell.Command, name string) string {
	if readers[name] && !turned(name, c.Words) || silent[name] || inShell[name] || name == "test" || name == "[" || name == "[[" {
		return ""
	}
	words := c.Words[1:]
	plain := func(w shell.Word) bool { // it names nothing that is protected
		return w.Dynamic || !j.place.moved && !strings.ContainsAny(w.Text, "./~")
	}
	look := func(w shell.Word) string {
		if plain(w) {
			return ""
		}
		w.Tilde = w.Tilde || strings.HasPrefix(w.Text, "~")
		list, _ := j.place.paths(w)
		return j.protected(list)
	}
	change := false
	for i, w := range words {
		if w.Dynamic || !isFlag(w.Text) {
			continue
		}
		change = change || rewriting[w.Text] && !viewers[name]
		opt, v, cut := strings.Cut(w.Text, "=")
		value := part(w, v)
		if !cut {
			if i+1 == len(words) || isFlag(words[i+1].Text) {
				continue
			}
			value = words[i+1]
		}
		if plain(value) {
			continue
		}
		if !cut && opt == "-t" && strings.HasPrefix(name, "pip") || outputs.MatchString(opt) {
			if k := strings.LastIndexByte(value.Text, ':'); k > 1 { // a kind before it, as xml:FILE
				if why := look(part(value, value.Text[k+1:])); why != "" {
					return why
				}
			}
			if why := look(value); why != "" {
				return why
			}
		}
	}
	if change {
		for _, w := range operands(words, "") {
			if why := look(w); why != "" {
				return why
			}
		}
	}
	return j.named(name, words)
}

// named says why the names that a command makes from those it is given may be protected ones.
func (j *judging) named(name string, words []shell.Word) string {
	switch name {
	case "split", "gsplit", "csplit", "gcsplit":
		prefix, ok := valueOf(words, 'f', "--prefix")
		if !strings.HasSuffix(name, "csplit") {
			rest := operands(words, "abCnlt")
			if ok = len(rest) > 1; ok {
				prefix = rest[1]
			}
		}
		if !ok || prefix.Dynamic {
			return ""
		}
		prefix.Tilde = prefix.Tilde || strings.HasPrefix(prefix.Text, "~")
		begins := path.Base(prefix.Text)
		if strings.HasSuffix(prefix.Text, "/") {
			begins = ""
		}
		piece := prefix
		piece.Text += "x"
		list, _ := j.place.paths(piece)
		if why := j.protected(list); why != "" {
			return why
		}
		for p := range profiles {
			if len(begins) > 1 && strings.HasPrefix(p, strings.ToLower(begins)) {
				return "a piece may be called " + p + ", which decides what programs run later"
			}
		}
	case "cp", "mv", "ln", "install", "gcp", "ginstall", "patch":
		for _, suffix := range addedTo(words) {
			for _, w := range operands(words, "S") {
				w.Text += suffix.Text
				w.Tilde = w.Tilde || strings.HasPrefix(w.Text, "~")
				if list, _ := j.place.paths(w); !w.Dynamic {
					if why := j.protected(list); why != "" {
						return why
					}
				}
			}
		}
	}
	return ""
}

// addedTo are the suffixes that a copier gives to what was there before.
func addedTo(words []shell.Word) []shell.Word {
	list := values(words, 'S', "--suffix")
	for _, w := range words {
		if k := strings.IndexByte(w.Text, 'S'); k > 1 && k < len(w.Text)-1 && isFlag(w.Text) && strings.Trim(w.Text[1:k], "abdfiHLlnPpRrsTuvxZ") == "" {
			list = append(list, part(w, w.Text[k+1:])) // in a cluster
		}
	}
	return list
}

// simpleRename are the expressions of the perl program rename that give a file another name in its folder and do nothing else.
var simpleRename = regexp.MustCompile(`^((s|y|tr)/[^/\\$@{(]*/[^/\\$@{(]*/[gi]*|[A-Za-z0-9_. -]*)$`)

func guardRename(c shell.Command, _ *place, add func(int, bool, string)) {
	n := 0
	for i := 1; i < len(c.Words) && n < 2; i++ {
		w := c.Words[i]
		if isFlag(w.Text) && !w.Dynamic {
			if strings.HasPrefix(w.Text, "-e") || strings.HasPrefix(w.Text, "--exp") || strings.HasPrefix(w.Text, "-f") || strings.HasPrefix(w.Text, "--file") {
				add(i, true, "what rename "+short(w.Text)+" runs cannot be judged")
			}
			continue
		}
		n++
		// The second word is a name for util-linux's program, and a file for perl's.
		if n == 1 && !simpleRename.MatchString(w.Text) || n == 2 && strings.Contains(w.Text, "/") && !strings.Contains(c.Words[i-1].Text, "/") {
			add(i, true, "what rename "+short(w.Text)+" runs, or where it moves files to, cannot be judged")
		}
	}
}

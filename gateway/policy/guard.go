package policy

import (
	"slices"
	"strconv"
	"strings"

	"fairlead/gateway/policy/shell"
)

// guard is a word that changes what a program does: no rule covers the command without containing
// it.
type guard struct {
	at     int // index of the word, or one of the two constants below
	reason string
	opaque bool // the program runs code that cannot be checked
	// unknown means that the word is merely not known: a rule that contains it may be offered.
	unknown bool
	// goal means that the word is one of the program's goals: a rule that contains none of them
	// covers all.
	goal bool
}

const (
	noRule    = -1 // no rule covers it
	exactOnly = -2 // only a rule that contains every word covers it
)

// guardsOf lists the words of a command that its allow rule must contain.
func guardsOf(c shell.Command, p *pathResolver) []guard {
	var list []guard
	add := func(at int, opaque bool, why string) { list = append(list, guard{at: at, reason: why, opaque: opaque}) }
	w := c.Words
	name := baseName(w[0].Text)
	if s, ok := guardedLike[name]; ok {
		name = s
	}
	switch {
	case w[0].Dynamic:
		return nil
	case shell.IsShell(name):
		guardShell(c, add)
		return list
	case isVersionOf(name, interpreters):
		guardInterpreter(c, add)
		guardOptions(name, w, 1, p, func(h guard) { list = append(list, h) })
		if i := moduleAt(w); i > 0 && strings.HasPrefix(name, "py") {
			guardOptions(w[i].Text, w, i+1, p, func(h guard) { list = append(list, h) })
		}
		return list
	case shellBuiltins[name]:
		opaque := name == "eval" || name == "exec" || name == "enable" || name == "hash" || name == "autoload"
		// with such an option (autocd), the name of a folder alone changes to it
		if name == "setopt" || name == "shopt" {
			opaque = slices.ContainsFunc(w[1:], func(w shell.Word) bool { return w.Dynamic || strings.Contains(strings.ToLower(w.Text), "cd") })
		}
		add(noRule, opaque, name+" changes how the shell runs later commands")
		return list
	case shell.IsLauncher(name) && optionTables[name] == nil:
		for i := 1; i < len(w) && isFlag(w[i].Text); i++ {
			if !w[i].Dynamic {
				add(i, false, name+" "+shorten(w[i].Text)+" changes how the command is started")
			}
		}
	}
	if shell.IsLoader(name) {
		for i := 1; i < len(w) && isFlag(w[i].Text); i++ {
			add(i, true, name+" "+shorten(w[i].Text)+" may load code that is not in the command")
		}
	}
	if shellStarters[name] && !c.Starts {
		add(noRule, true, name+" starts a shell that runs its input")
	}
	from := 1
	if name == "git" {
		from = shell.GitSubcommand(w)
	}
	guardOptions(name, w, from, p, func(h guard) { list = append(list, h) })
	if f, ok := specialGuards[name]; ok {
		f(c, p, add)
	}
	if confinedPrograms[name] {
		guardWorkspace(c, p, add)
	}
	return list
}

// isVersionOf matches python3.12 and the like.
func isVersionOf(name string, m map[string]bool) bool {
	return m[name] || m[strings.TrimRight(name, "0123456789.-")]
}

// moduleAt returns the index of the word with the module that python runs, or 0.
func moduleAt(w []shell.Word) int {
	for i := 1; i+1 < len(w) && isFlag(w[i].Text); i++ {
		if w[i].Text == "-m" {
			return i + 1
		}
		if takesValue("python", w[i].Text) {
			i++
		}
	}
	return 0
}

func guardInterpreter(c shell.Command, add func(int, bool, string)) {
	w := c.Words
	name := baseName(w[0].Text)
	if codeArguments[name] {
		guardScripted(c, name, add)
	}
	if c.Piped || c.Stdin != nil {
		if len(w) == 1 || len(w) == 2 && w[1].Text == "-" || isFlag(w[1].Text) {
			add(noRule, true, name+" runs its input")
		}
	}
	if len(w) == 1 {
		add(exactOnly, true, name+" runs its input")
		return
	}
	if len(w) == 2 {
		switch w[1].Text {
		case "--version", "-V", "-v", "--help", "-h", "version":
			return
		}
	}
	guardScript(w, name, add)
}

// guardScripted guards interpreters of which every argument may be a text that they run.
func guardScripted(c shell.Command, name string, add func(int, bool, string)) {
	w := c.Words
	for i := 1; i < len(w); i++ {
		add(i, true, name+" "+shorten(w[i].Text)+" may run any code")
	}
	if c.Piped || c.Stdin != nil {
		add(noRule, true, name+" runs its input")
	}
	if !slices.ContainsFunc(w[1:], func(w shell.Word) bool { return isFlag(w.Text) }) && len(w) < 3 {
		add(exactOnly, true, name+" runs its input")
	}
}

// guardScript checks an interpreter's options up to the script or the text that it runs.
func guardScript(w []shell.Word, name string, add func(int, bool, string)) {
	for i := 1; i < len(w); i++ {
		t := w[i].Text
		text := isFlag(t) && !strings.HasPrefix(t, "--") && strings.ContainsAny(t, "ceErpn") || t == "-" || strings.HasPrefix(t, "--e") ||
			strings.HasPrefix(t, "--p") || t == "eval"
		add(i, text || w[i].Dynamic, name+" "+shorten(t)+" runs code that is not in the command")
		if !isFlag(t) {
			if shell.IsInput(t) {
				add(noRule, true, name+" runs its input")
			}
			return
		}
		if takesValue(name, t) && i+1 < len(w) { // the next word is not the script
			i++
			add(i, w[i].Dynamic, name+" "+shorten(t)+" "+shorten(w[i].Text)+" loads code that is not in the command")
			continue
		}
		switch t {
		case "-c", "-e", "-m", "-p", "-r", "--eval", "--print", "-E", "-pe", "-ne":
			if i+1 < len(w) {
				add(i+1, t != "-m" || inlineModules[w[i+1].Text], name+" "+t+" may run any code")
			}
			if t == "-m" || t == "-c" {
				return
			}
		}
	}
}

// takesValue reports whether an interpreter's option uses the next word as its value.
func takesValue(name, option string) bool {
	for _, n := range []string{name, strings.TrimRight(name, "0123456789.-")} {
		switch n {
		case "nodejs":
			n = "node"
		case "pypy":
			n = "python"
		case "luajit":
			n = "lua"
		}
		if hasValueOption(n, option) {
			return true
		}
	}
	return false
}

func isInteger(s string) bool { _, err := strconv.ParseInt(s, 10, 64); return err == nil }

func guardShell(c shell.Command, add func(int, bool, string)) {
	w := c.Words
	if c.Piped || c.Stdin != nil && (c.Stdin.Dynamic || c.Piped) {
		add(noRule, true, baseName(w[0].Text)+" runs the output of another command")
	}
	if len(w) == 1 {
		if c.Stdin == nil {
			add(exactOnly, true, baseName(w[0].Text)+" runs its input")
		}
		return
	}
	if o := w[1].Text; len(w) == 3 && (o == "-c" || o == "-lc") && w[2].Plain() {
		return // the script is checked separately
	}
	if len(w) == 2 && (w[1].Text == "--version" || w[1].Text == "--help") {
		return
	}
	for i := 1; i < len(w); i++ {
		t := w[i].Text
		text := isFlag(t) && !strings.HasPrefix(t, "--") && strings.ContainsAny(t, "csi") || shell.IsInput(t)
		add(i, text || w[i].Dynamic, baseName(w[0].Text)+" "+shorten(t)+" runs code that is not in the command")
	}
}

package shell

import (
	"cmp"
	"slices"
	"strings"
)

// BaseName returns a program's name in lower case, without folder and Windows extension.
func BaseName(name string) string {
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	name = strings.ToLower(name)
	for _, end := range []string{".exe", ".cmd", ".bat", ".ps1", ".com"} {
		if plain, ok := strings.CutSuffix(name, end); ok && plain != "" {
			return plain
		}
	}
	return name
}

// addStarted records the commands that a command starts.
func (a *analysis) addStarted(c Command, at, level int) {
	o := invocation{a: a, c: c, at: at, level: level, name: BaseName(c.Words[0].Text)}
	if !c.Words[0].Dynamic && !o.startSpecial() {
		o.startOthers()
	}
}

// startSpecial handles programs with ways of their own, and reports whether that is all they do.
func (o invocation) startSpecial() (isAll bool) {
	w := o.c.Words
	switch o.name {
	case "eval":
		o.startJoined(1)
		// an option in bash and zsh, a program in dash
		if len(w) > 1 && w[1].Text == "--" {
			o.startJoined(2)
		}
	case "trap":
		from := len(o.a.facts.Commands)
		if i := o.operand(1, ""); i < len(w) {
			o.script(w[i], "")
		}
		if !(tracer{o.a}).isCleanup(o.c, from) {
			o.a.addFinding(o.c.Text, "sets a trap")
		}
	case "alias":
		for _, x := range w[1:] {
			if _, v, ok := strings.Cut(x.Text, "="); ok {
				o.script(Word{Text: v, Dynamic: x.Dynamic}, "")
			}
		}
		if slices.ContainsFunc(w[1:], func(x Word) bool { return x.Dynamic || strings.Contains(x.Text, "=") }) {
			o.a.addFinding(o.c.Text, "defines an alias")
		}
	case "compgen", "complete", "fc":
		o.commandOptions()
	case ".", "source":
		f := Finding{Text: o.c.Text, Reason: "runs a file in this shell"}
		if i := o.operand(1, ""); i == 1 && len(w) > 1 && w[1].Plain() && !IsInput(w[1].Text) {
			f.File = w[1]
		}
		o.a.facts.Findings = append(o.a.facts.Findings, f)
	case "export", "declare", "typeset", "local", "readonly", "let", "read", "mapfile", "readarray", "unset", "printf", "test", "[", "wait",
		"getopts", "integer", "float", "nameref":
		o.evaluates()
		o.commandOptions()
	case "find", "gfind", "fd", "fdfind":
		o.find()
	case "xargs", "gxargs":
		o.xargs()
	case "command":
		return len(w) > 1 && (w[1].Text == "-v" || w[1].Text == "-V")
	default:
		o.startFirst()
		return false
	}
	return true
}

// startFirst handles programs that start others beside those that the tables list.
func (o invocation) startFirst() {
	switch o.name {
	case "git":
		o.git()
	case "tmux", "screen", "zellij", "byobu", "dtach":
		o.a.asGuess(o.terminal)
	case "hyperfine", "pee", "mispipe": // each of their words is a command line
		for i := o.skip(1, launchers[o.name]); i < len(o.c.Words); i++ {
			if t := o.c.Words[i].Text; len(t) < 2 || t[0] != '-' {
				o.script(o.c.Words[i], POSIX)
			}
		}
	case "setarch": // its first word may be an architecture, or the command
		o.startWords(o.skip(1, launchers[o.name]))
	}
}

// startOthers handles the options and arguments that the tables list.
func (o invocation) startOthers() {
	o.commandOptions()
	if k, ok := shellOf(o.name); ok {
		o.shell(k)
		return
	}
	if l, ok := launcherOf(o.name); ok {
		o.launch(l)
	}
	if subs := programs["exec "+o.name]; subs != nil {
		o.execSubcommand(subs)
	}
	if subs, ok := programs["remote "+o.name]; ok {
		o.remote(subs)
	}
}

// invocation is the state while the commands that one command starts are determined.
type invocation struct {
	a     *analysis
	c     Command
	at    int
	level int
	name  string
}

// execSubcommand handles exec and similar subcommands, as in yarn workspace a exec rake.
func (o invocation) execSubcommand(subs []string) {
	if i := o.subcommand(subs); i > 0 {
		o.startWords(o.operand(i+1, "p"))
		for j := i + 1; j < len(o.c.Words); j++ {
			o.scriptOption(launcher{script: "c"}, j)
		}
		return
	}
	for i, w := range o.c.Words[1:] {
		if slices.Contains(subs, w.Text) {
			o.a.asGuess(func() { o.startWords(o.operand(i+2, "p")) })
		}
	}
}

// operand returns the index of the first word from i on that is no option or value of one.
func (o invocation) operand(i int, values string) int {
	return o.skip(i, launcher{values: values})
}

// subcommand returns the index of one of the given words in a position where a program's subcommand
// may be: after options and their possible values. It returns 0 if none exists.
func (o invocation) subcommand(subs []string) int {
	for i := 1; i < len(o.c.Words); i++ {
		before := o.c.Words[i-1].Text
		switch t := o.c.Words[i].Text; {
		case slices.Contains(subs, t):
			return i
		case len(t) > 1 && t[0] == '-', i > 1 && before[0] == '-' && !strings.Contains(before, "="):
		default:
			return 0
		}
	}
	return 0
}

func (o invocation) skip(i int, l launcher) int {
	for ; i < len(o.c.Words); i++ {
		t := o.c.Words[i].Text
		switch {
		case t == "--":
			return i + 1
		case len(t) < 2 || t[0] != '-':
			return i
		case strings.HasPrefix(t, "--"):
			if !strings.Contains(t, "=") && slices.ContainsFunc(l.longs, func(s string) bool { return len(t) > 3 && strings.HasPrefix(s, t[2:]) }) {
				i++
			}
		default:
			for j := 1; j < len(t); j++ {
				if strings.IndexByte(l.values+l.script, t[j]) >= 0 {
					if j == len(t)-1 {
						i++
					}
					break
				}
			}
		}
	}
	return i
}

// startWords records the words from i on as a command.
func (o invocation) startWords(i int) {
	if i < 1 || i >= len(o.c.Words) {
		return
	}
	o.a.facts.Commands[o.at].Starts = true
	o.run(o.c.Words[i:], i, func(s *scope) {
		s.origin, s.piped, s.stdin = cmp.Or(o.c.Origin, "started by "+o.name), o.c.Piped, o.c.Stdin
	})
}

// run records words as a command; index is their position in the starting command, or 0.
func (o invocation) run(words []Word, index int, change func(*scope)) {
	c := Command{Words: words, Text: joinWords(words).Text, Parent: o.at, Via: o.name, WordIndex: index}
	o.a.inScope(change, func() { o.a.run(c, o.level) })
}

// joinWords joins words by spaces.
func joinWords(words []Word) (all Word) {
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.Text
		all.Dynamic = all.Dynamic || !w.Plain()
	}
	all.Text = strings.Join(texts, " ")
	return all
}

// startJoined analyzes the words from i on, joined by spaces, as a shell's text.
func (o invocation) startJoined(i int) {
	if i < len(o.c.Words) {
		o.script(joinWords(o.c.Words[i:]), "")
	}
}

// script analyzes a text as a shell would; k is "" for the current shell.
func (o invocation) script(w Word, k Kind) {
	o.a.facts.Commands[o.at].Starts = true
	was := o.a.trace
	defer func() { o.a.trace = was }()
	if k == "" {
		k = o.a.kind
	} else {
		o.a.trace.values = map[string]string{} // another shell has only the exported ones
	}
	o.a.inScope(func(s *scope) {
		s.origin, s.parent, s.via, s.stdin, s.piped = "text for "+o.name, o.at, o.name, nil, o.c.Piped
	}, func() {
		if w.Dynamic {
			o.a.asGuess(func() { o.a.script(strings.Trim(w.Text, `"`), k) })
		} else {
			o.a.script(w.Text, k)
		}
	})
}

// shell handles sh -c TEXT, and a shell that reads its script from a here-document or a pipe.
func (o invocation) shell(k Kind) {
	w := o.c.Words
	i, script := 1, false
	for ; i < len(w); i++ {
		t := w[i].Text
		if t == "--" || t == "-" {
			i++
			break
		}
		if len(t) < 2 || t[0] != '-' && t[0] != '+' {
			break
		}
		if strings.HasPrefix(t, "--") {
			if t == "--rcfile" || t == "--init-file" {
				i++
			}
			continue
		}
		script = script || t[0] == '-' && strings.Contains(t, "c")
		if strings.HasSuffix(t, "o") || strings.HasSuffix(t, "O") {
			i++
		}
	}
	switch {
	case script && i < len(w):
		o.script(w[i], k)
	case !script && o.c.Stdin != nil && (i >= len(w) || IsInput(w[i].Text)):
		o.script(*o.c.Stdin, k)
	}
}

// IsInput reports whether a file name means a program's standard input.
func IsInput(name string) bool {
	return name == "-" || strings.HasPrefix(name, "/dev/std") || strings.HasPrefix(name, "/dev/fd/") || strings.HasPrefix(name, "/proc/self/fd/")
}

// terminal handles a terminal multiplexer: its arguments are commands, texts or its own commands.
func (o invocation) terminal() {
	for i, w := range o.c.Words[1:] {
		switch t := w.Text; {
		case len(t) > 1 && t[0] == '-':
		case strings.ContainsAny(t, " >|;&"):
			o.script(w, POSIX)
		default:
			o.startWords(i + 1)
		}
	}
}

package shell

import (
	"slices"
	"strings"
)

// BaseName returns a program's name without folder, in lower case, and without .exe or the
// extension of a Windows script.
func BaseName(name string) string {
	if isBaseName(name) {
		return name
	}
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	name = strings.ToLower(name)
	if strings.IndexByte(name, '.') < 0 {
		return name
	}
	for _, end := range []string{".exe", ".cmd", ".bat", ".ps1", ".com"} {
		if plain, ok := strings.CutSuffix(name, end); ok && plain != "" {
			return plain
		}
	}
	return name
}

// isBaseName reports whether Base would certainly return a name unchanged. Most names are like
// that, and Base is called often.
func isBaseName(name string) bool {
	for i := 0; i < len(name); i++ {
		if c := name[i]; c == '/' || c == '\\' || c == '.' || c >= 'A' && c <= 'Z' || c >= 0x80 {
			return false
		}
	}
	return true
}

// addStarted records the commands that a command starts.
func (a *analysis) addStarted(c Command, at, level int) {
	if c.Words[0].Dynamic {
		return
	}
	o := invocation{a: a, c: c, at: at, level: level, name: BaseName(c.Words[0].Text)}
	switch o.name {
	case "eval":
		o.startJoined(1)
		// an option in bash and zsh, a program in dash
		if len(c.Words) > 1 && c.Words[1].Text == "--" {
			o.startJoined(2)
		}
		return
	case "trap":
		if i := o.operand(1, ""); i < len(c.Words) {
			o.script(c.Words[i], Kind(""))
		}
		a.addFinding(c.Text, "sets a trap")
		return
	case "alias":
		for _, w := range c.Words[1:] {
			if _, v, ok := strings.Cut(w.Text, "="); ok {
				o.script(Word{Text: v, Dynamic: w.Dynamic}, Kind(""))
			}
		}
		a.addFinding(c.Text, "defines an alias")
		return
	case "compgen", "complete", "fc":
		o.commandOptions()
		return
	case ".", "source":
		a.addFinding(c.Text, "runs a file in this shell")
		return
	case "export", "declare", "typeset", "local", "readonly", "let", "read", "mapfile", "readarray", "unset", "printf", "test", "[", "wait",
		"getopts", "integer", "float", "nameref":
		o.evaluates()
		o.commandOptions()
		return
	case "find", "gfind", "fd", "fdfind":
		o.find()
		return
	case "xargs", "gxargs":
		o.xargs()
		return
	case "git":
		o.git()
	case "cmake":
		o.cmake()
	case "tmux", "screen", "zellij", "byobu", "dtach":
		o.terminal()
	case "hyperfine": // each of its words is a command line
		for i := o.skip(1, launchers[o.name]); i < len(c.Words); i++ {
			if t := c.Words[i].Text; len(t) < 2 || t[0] != '-' {
				o.script(c.Words[i], POSIX)
			}
		}
	case "setarch": // its first word may be an architecture, or the command
		if i := o.skip(1, launchers[o.name]); i < len(c.Words) {
			o.startWords(i)
		}
	case "command":
		if len(c.Words) > 1 && (c.Words[1].Text == "-v" || c.Words[1].Text == "-V") {
			return
		}
	}
	o.commandOptions()
	if k, ok := shellOf(o.name); ok {
		o.shell(k)
		return
	}
	if l, ok := launcherOf(o.name); ok {
		o.launch(l)
	}
	if subs := programs["exec"][o.name]; subs != nil {
		o.execSubcommand(subs)
	}
	if subs, ok := programs["remote"][o.name]; ok {
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

// execSubcommand handles exec and similar subcommands, also after other words: yarn workspace a
// exec rake.
func (o invocation) execSubcommand(subs []string) {
	if i := o.subcommand(subs); i > 0 {
		o.startWords(o.operand(i+1, "p"))
		for j := i + 1; j < len(o.c.Words); j++ {
			o.scriptOption(launcher{script: "c"}, j)
		}
		return
	}
	was := o.a.guess
	o.a.guess = true
	for i, w := range o.c.Words[1:] {
		if slices.Contains(subs, w.Text) {
			o.startWords(o.operand(i+2, "p"))
		}
	}
	o.a.guess = was
}

// operand returns the index of the first word from i on that is not an option; values are the short
// options whose value is the next word.
func (o invocation) operand(i int, values string) int {
	return o.skip(i, launcher{values: values})
}

// subcommand returns the index of one of the given words in a position where a program's subcommand
// may be: after options and their possible values. It returns 0 if there is none.
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
	o.run(o.c.Words[i:], i)
}

func (o invocation) run(words []Word, spelled int) {
	o.a.facts.Commands[o.at].Starts = true
	texts := make([]string, len(words))
	for i, w := range words {
		texts[i] = w.Text
	}
	o.a.inScope(func(s *scope) { s.origin, s.piped, s.stdin = origin(o.c), o.c.Piped, o.c.Stdin }, func() {
		o.a.run(Command{Words: words, Text: strings.Join(texts, " "), Parent: o.at, Via: o.name, WordIndex: spelled}, o.level)
	})
}

func origin(c Command) string {
	if c.Origin != "" {
		return c.Origin
	}
	return "started by " + BaseName(c.Words[0].Text)
}

// startJoined analyzes the words from i on, joined by spaces, as a shell's text.
func (o invocation) startJoined(i int) {
	if i >= len(o.c.Words) {
		return
	}
	var w Word
	var texts []string
	for _, p := range o.c.Words[i:] {
		texts = append(texts, p.Text)
		w.Dynamic = w.Dynamic || !p.Plain()
	}
	w.Text = strings.Join(texts, " ")
	o.script(w, "")
}

// script analyzes a text as a shell would; k is "" for the current shell.
func (o invocation) script(w Word, k Kind) {
	if k == "" {
		k = o.a.kind
	}
	o.a.facts.Commands[o.at].Starts = true
	text, was := w.Text, o.a.guess
	if w.Dynamic {
		text = strings.Trim(text, `"`)
		o.a.guess = true
	}
	o.a.inScope(func(s *scope) {
		s.origin, s.parent, s.via, s.stdin, s.piped = "text for "+o.name, o.at, o.name, nil, o.c.Piped
	},
		func() { o.a.script(text, k) })
	o.a.guess = was
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

// cmake handles cmake -E, a set of small programs and launchers.
func (o invocation) cmake() {
	w := o.c.Words
	for i := 1; i+1 < len(w); i++ {
		if w[i].Text != "-E" {
			continue
		}
		if w[i+1].Text == "chdir" {
			i += 2
		}
		o.startWords(i + 1)
		return
	}
}

// terminal handles the commands that a terminal multiplexer runs or types, as guesses, because they
// are mixed with its own commands.
func (o invocation) terminal() {
	was := o.a.guess
	o.a.guess = true
	for i, w := range o.c.Words[1:] {
		switch t := w.Text; {
		case len(t) > 1 && t[0] == '-':
		case strings.ContainsAny(t, " >|;&"):
			o.script(w, POSIX)
		default:
			o.startWords(i + 1)
		}
	}
	o.a.guess = was
}

package shell

import (
	"regexp"
	"slices"
	"strings"
)

// find handles -exec and similar options.
func (o invocation) find() {
	w := o.c.Words
	for i := 1; i < len(w); i++ {
		switch w[i].Text {
		case "-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch":
		default:
			if long, v, ok := strings.Cut(w[i].Text, "="); ok && (long == "--exec" || long == "--exec-batch") {
				o.script(Word{Text: v, Dynamic: w[i].Dynamic}, POSIX)
			}
			continue
		}
		var inner []Word
		for i++; i < len(w) && w[i].Text != ";" && !(w[i].Text == "+" && len(inner) > 0 && inner[len(inner)-1].Text == "{}"); i++ {
			x := w[i]
			x.Dynamic = x.Dynamic || strings.Contains(x.Text, "{}")
			inner = append(inner, x)
		}
		if len(inner) > 0 {
			o.startInLoop(inner)
		}
	}
}

// xargs appends its input to the command's words.
func (o invocation) xargs() {
	i := o.skip(1, launcher{values: "adEIJLnPRSs", longs: []string{
		"arg-file", "delimiter", "max-lines", "max-args", "max-procs", "max-chars",
		"process-slot-var",
	}})
	if i >= len(o.c.Words) {
		return
	}
	inner := append(slices.Clone(o.c.Words[i:]), Word{Text: "…", Dynamic: true})
	o.startInLoop(inner)
}

func (o invocation) startInLoop(words []Word) {
	o.run(words, 0, func(s *scope) { s.origin, s.loop = "started by "+o.name, true })
}

// git handles -c name=!command, bisect run, submodule foreach, and the ext:: transport.
func (o invocation) git() {
	w := o.c.Words
	for i, x := range w[1:] {
		i++
		if v, ok := strings.CutPrefix(x.Text, "ext::"); ok {
			o.script(Word{Text: v, Dynamic: x.Dynamic}, POSIX)
		}
		if (x.Text == "-c" || x.Text == "--config") && i+1 < len(w) {
			if name, v, ok := strings.Cut(w[i+1].Text, "="); ok && runsValue(name, v) {
				o.script(Word{Text: strings.TrimPrefix(v, "!"), Dynamic: w[i+1].Dynamic}, POSIX)
			}
		}
	}
	i := GitSubcommand(w)
	if i+1 >= len(w) {
		return
	}
	switch {
	case w[i].Text == "bisect" && w[i+1].Text == "run":
		o.startWords(i + 2)
	case w[i].Text == "submodule" && w[i+1].Text == "foreach":
		o.startJoined(o.operand(i+2, ""))
	case w[i].Text == "config":
		for j, x := range w[i+1:] {
			if j += i + 1; j+1 < len(w) && runsValue(x.Text, w[j+1].Text) {
				o.script(Word{Text: strings.TrimPrefix(w[j+1].Text, "!"), Dynamic: w[j+1].Dynamic}, POSIX)
			}
		}
	}
}

// runsValue reports whether git may run the value of a setting.
func runsValue(name, value string) bool {
	name = strings.ToLower(name)
	if strings.HasPrefix(value, "!") {
		return true
	}
	return slices.ContainsFunc(programs["settings begin"], func(s string) bool { return strings.HasPrefix(name, s) }) ||
		slices.ContainsFunc(programs["settings end"], func(s string) bool { return strings.HasSuffix(name, s) })
}

// GitSubcommand returns the index of git's subcommand; len(words) if none exists.
func GitSubcommand(words []Word) int {
	for i := 1; i < len(words); i++ {
		switch t := words[i].Text; {
		case t == "-C" || t == "-c" || t == "--git-dir" || t == "--work-tree" || t == "--namespace" ||
			t == "--super-prefix" || t == "--config-env" || t == "--attr-source" || t == "--list-cmds":
			i++
		case strings.HasPrefix(t, "-"):
		default:
			return i
		}
	}
	return len(words)
}

// commandOptions handles options with a command, such as tar's --checkpoint-action=exec=sh.
func (o invocation) commandOptions() {
	flags, marks := programs["options "+o.name], ""
	if marked := programs["marked "+o.name]; marked != nil {
		marks = marked[0]
	}
	w, subcommand := o.c.Words, ""
	if k := GitSubcommand(w); k < len(w) {
		subcommand = w[k].Text
	}
	for i := 1; i < len(w); i++ {
		for _, f := range flags {
			if o.name == "git" && f == "-x" && !execsWords[subcommand] {
				continue
			}
			v, has := optionValue(w, i, f)
			if !has && o.name != "git" && len(f) == 2 && i+1 < len(w) && letters.MatchString(w[i].Text) && strings.HasSuffix(w[i].Text, f[1:]) {
				v, has = w[i+1], true // the last of combined options
			}
			if !has || marks != "" && !v.Dynamic && !strings.ContainsAny(v.Text, marks) {
				continue
			}
			for _, p := range []string{"|", "exec=", "ProxyCommand=", "ProxyCommand ", "LocalCommand=", "KnownHostsCommand=", ":!", "!", "shell ", `\!`} {
				v.Text = strings.TrimPrefix(v.Text, p)
			}
			if strings.TrimSpace(v.Text) != "" {
				o.script(v, POSIX)
			}
		}
	}
}

// execsWords are the subcommands of git whose option -x has a command as its value.
var execsWords = map[string]bool{"rebase": true, "difftool": true}

// letters matches combined options, of which the last may have a value.
var letters = regexp.MustCompile(`^-[A-Za-z]{2,5}$`)

// optionValue returns the value of option f if word i is that option, also abbreviated.
func optionValue(w []Word, i int, f string) (Word, bool) {
	name, v, attached := strings.Cut(w[i].Text, "=")
	isOption := name == f || len(name) >= 4 && strings.HasPrefix(f, name)
	if len(f) == 2 {
		v, isOption = strings.CutPrefix(w[i].Text, f)
		attached = v != ""
	}
	switch {
	case !isOption:
	case attached:
		return Word{Text: v, Dynamic: w[i].Dynamic}, true
	case i+1 < len(w):
		return w[i+1], true
	}
	return Word{}, false
}

// remote handles ssh HOST COMMAND and docker exec BOX COMMAND.
func (o invocation) remote(subs []string) {
	const skip = 1 // the container, or the host
	if len(subs) > 0 {
		if i := slices.IndexFunc(o.c.Words, func(w Word) bool { return w.Text == "--" }); i > 0 && (o.name == "kubectl" || o.name == "oc") {
			o.a.asGuess(func() { o.startWords(i + 1) })
			return
		}
		i := o.operand(1, "cHln")
		if i < len(o.c.Words) && o.c.Words[i].Text == "compose" {
			i = o.operand(i+1, "fp")
		}
		if i >= len(o.c.Words) || !slices.Contains(subs, o.c.Words[i].Text) {
			return
		}
		i = o.skip(i+1, launcher{values: "eulvwpcnhm", longs: []string{
			"env", "user", "volume", "workdir", "name", "network", "entrypoint", "publish",
			"namespace", "container", "mount", "platform", "memory", "cpus",
		}}) + skip
		if i < len(o.c.Words) && o.c.Words[i].Text == "--" {
			i++
		}
		o.a.asGuess(func() { o.startWords(i) }) // in a container the same words may have another meaning
		return
	}
	i := o.operand(1, "bcDEeFIiJLlmOopQRSWw") + skip
	o.startJoined(o.operand(i, "bcDEeFIiJLlmOopQRSWw"))
}

// evaluates analyzes builtins that run a quoted substitution, as bash 5.2 in array subscripts.
func (o invocation) evaluates() {
	o.setVariables()
	for _, w := range o.c.Words[1:] {
		if !w.Dynamic && (strings.Contains(w.Text, "$(") || strings.Contains(w.Text, "`")) {
			o.a.eval.evaluatedText(w.Text)
			if o.name != "printf" && o.name != "read" || strings.Contains(w.Text, "[") {
				o.a.addFinding(o.c.Text, "contains a quoted substitution that the shell may run")
			}
		}
	}
}

// setVariables records the variables that a builtin sets: read PATH, unset IFS, printf -v ENV.
func (o invocation) setVariables() {
	set := func(name string, w Word) {
		if name != "" {
			o.a.setNumber(name, false)
			o.a.facts.Assigns = append(o.a.facts.Assigns, Assign{Name: name, Value: Word{Text: w.Text, Dynamic: true}, Text: o.c.Text, Guess: o.a.guess, Local: o.name == "read" || o.name == "unset"})
		}
	}
	for i, w := range o.c.Words[1:] {
		name, _, _ := strings.Cut(strings.TrimPrefix(w.Text, "-v"), "=")
		name, _, _ = strings.Cut(strings.TrimSuffix(name, "+"), "[")
		switch {
		case o.name == "printf" && (i > 1 || !strings.HasPrefix(o.c.Words[1].Text, "-v")), o.name == "test", o.name == "[", o.name == "let":
		case w.Dynamic:
			set("PATH", w) // it may be any variable
		case variableName.MatchString(name):
			set(name, w)
		}
	}
}

// variableName matches the name of a variable.
var variableName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

package shell

import (
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
			o.startInLoop("started by "+o.name, inner)
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
	o.startInLoop("started by "+o.name, inner)
}

func (o invocation) startInLoop(origin string, inner []Word) {
	o.a.inScope(func(s *scope) { s.origin = origin; s.loop = true }, func() {
		texts := make([]string, len(inner))
		for i, w := range inner {
			texts[i] = w.Text
		}
		o.a.run(Command{Words: inner, Text: strings.Join(texts, " "), Parent: o.at, Via: o.name}, o.level)
	})
}

// git handles -c name=!command, bisect run, submodule foreach, and the ext:: transport.
func (o invocation) git() {
	w := o.c.Words
	for i, x := range w[1:] {
		i++
		if v, ok := strings.CutPrefix(x.Text, "ext::"); ok {
			o.script(Word{Text: v, Dynamic: x.Dynamic}, POSIX)
		}
		if v, ok := strings.CutPrefix(x.Text, "--config-env="); ok && v != "" {
			continue
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
	for _, s := range []string{
		"core.pager", "core.editor", "core.sshcommand", "core.fsmonitor", "core.askpass", "core.gitproxy", "diff.external",
		"sequence.editor", "gpg.program", "gpg.ssh.program", "credential.helper", "uploadpack.packobjectshook", "interactive.difffilter",
		"sendemail.smtpserver", "init.templatedir", "core.hookspath", "browser.", "help.browser",
	} {
		if strings.HasPrefix(name, s) {
			return true
		}
	}
	for _, s := range []string{
		".cmd", ".command", ".textconv", ".clean", ".smudge", ".process", ".driver", ".uploadpack", ".receivepack", ".proxy",
		".path", ".program",
	} {
		if strings.HasSuffix(name, s) {
			return true
		}
	}
	return strings.HasPrefix(name, "pager.")
}

// GitSubcommand returns the index of git's subcommand, after its global options; len(words) if
// there is none.
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

// commandOptions handles options whose value is a command, such as tar's
// --checkpoint-action=exec=sh.
func (o invocation) commandOptions() {
	flags, marks := programs["options"][o.name], ""
	if marked := programs["marked"][o.name]; marked != nil {
		marks = marked[0]
	}
	w := o.c.Words
	for i := 1; i < len(w); i++ {
		for _, f := range flags {
			v, has := optionValue(w, i, f)
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

// optionValue returns the value of option f if word i is that option: "--name=v", "--name v",
// "--nam v", "-fv", "-f v".
func optionValue(w []Word, i int, f string) (Word, bool) {
	t := w[i].Text
	next := func() (Word, bool) {
		if i+1 < len(w) {
			return w[i+1], true
		}
		return Word{}, false
	}
	if len(f) > 2 {
		name, v, ok := strings.Cut(t, "=")
		if len(name) < 4 && name != f || !strings.HasPrefix(f, name) {
			return Word{}, false
		}
		if ok {
			return Word{Text: v, Dynamic: w[i].Dynamic}, true
		}
		return next()
	}
	if t == f {
		return next()
	}
	if strings.HasPrefix(t, f) && !strings.HasPrefix(t, "--") {
		return Word{Text: t[2:], Dynamic: w[i].Dynamic}, true
	}
	return Word{}, false
}

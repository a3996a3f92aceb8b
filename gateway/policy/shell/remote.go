package shell

import (
	"slices"
	"strings"
)

// remote handles ssh HOST COMMAND and docker exec BOX COMMAND.
func (o invocation) remote(subs []string) {
	const skip = 1 // the container, or the host
	if len(subs) > 0 {
		if i := slices.IndexFunc(o.c.Words, func(w Word) bool { return w.Text == "--" }); i > 0 && (o.name == "kubectl" || o.name == "oc") {
			was := o.a.guess
			o.a.guess = true
			o.startWords(i + 1)
			o.a.guess = was
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
		was := o.a.guess // in a container the same words may have another meaning
		o.a.guess = true
		o.startWords(i)
		o.a.guess = was
		return
	}
	i := o.operand(1, "bcDEeFIiJLlmOopQRSWw") + skip
	o.startJoined(o.operand(i, "bcDEeFIiJLlmOopQRSWw"))
}

// evaluates analyzes the arguments of builtins that run a substitution inside a quoted argument, as
// bash 5.2 does for array subscripts.
func (o invocation) evaluates() {
	o.setVariables()
	for _, w := range o.c.Words[1:] {
		if !w.Dynamic && (strings.Contains(w.Text, "$(") || strings.Contains(w.Text, "`")) {
			o.a.evaluatedText(w.Text)
			if o.name != "printf" && o.name != "read" || strings.Contains(w.Text, "[") {
				o.a.addFinding(o.c.Text, "contains a quoted substitution that the shell may run")
			}
		}
	}
}

// setVariables records the variables that a builtin sets by its arguments: read PATH, unset IFS,
// printf -v ENV, builtin export PATH=x.
func (o invocation) setVariables() {
	set := func(name string, w Word) {
		if name != "" {
			o.a.setNumber(name, false)
			o.a.facts.Assigns = append(o.a.facts.Assigns, Assign{Name: name, Value: Word{Text: w.Text, Dynamic: true}, Text: o.c.Text, Guess: o.a.guess})
		}
	}
	for i, w := range o.c.Words[1:] {
		name, _, _ := strings.Cut(strings.TrimPrefix(w.Text, "-v"), "=")
		name, _, _ = strings.Cut(strings.TrimSuffix(name, "+"), "[")
		switch {
		case o.name == "printf" && (i > 1 || !strings.HasPrefix(o.c.Words[1].Text, "-v")), o.name == "test", o.name == "[", o.name == "let":
		case w.Dynamic:
			set("PATH", w) // it may be any variable
		case isName(name):
			set(name, w)
		}
	}
}

func isName(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; !(c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || i > 0 && c >= '0' && c <= '9') {
			return false
		}
	}
	return s != ""
}

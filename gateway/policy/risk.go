package policy

import (
	"cmp"
	_ "embed"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"fairlead/gateway/peer/shell"
)

//go:embed programs/risks.txt
var risksText string

// riskLine describes calls of a program that are dangerous, with the danger in words.
type riskLine struct {
	accessLine
	text string
}

var riskLines = sync.OnceValue(func() map[string][]riskLine {
	m := map[string][]riskLine{}
	for _, line := range shell.TableLines(risksText) {
		l, programs, text := parseHead(line)
		for _, p := range programs {
			m[p] = append(m[p], riskLine{l, strings.TrimSpace(text)})
		}
	}
	return m
})

// tableRisk returns the text of the first line that fits a command, and whether there is one.
func tableRisk(prefix, name string, words []shell.Word) (text string, ok bool) {
	if riskLines()[prefix+name] == nil {
		return "", false
	}
	in := newInvocation(name, words)
	i := slices.IndexFunc(riskLines()[prefix+name], func(l riskLine) bool { return in.meets(l.accessLine) })
	if i < 0 {
		return "", false
	}
	return riskLines()[prefix+name][i].text, true
}

// risks describes the parts of a call for the person. It decides nothing.
type risks struct {
	ev       *evaluation
	children map[int][]int // the commands that each command starts, by index; nil until needed
}

// describe completes the part of command i for the person: its place in the text, the programs that
// it starts, its risk, and what the sandbox will stop.
func (k *risks) describe(i int, c shell.Command, p *Part) {
	p.From, p.To = c.From, c.To
	p.Starts, p.Started = k.started(i, 0), c.Parent >= 0
	for _, w := range c.Words[1:] {
		k.addBlocked(p, w)
	}
	if c.Words[0].Dynamic {
		p.Risk = "which program this runs is known only when the command runs"
		return
	}
	name, words := unversionedName(baseName(c.Words[0].Text)), c.Words[1:]
	if name == "python" || name == "python3" {
		if module := moduleWords(words); module != nil {
			name, words = "python-m", module
		}
	}
	if k.ev.call.NoNetwork {
		_, p.NoNetwork = tableRisk("network:", name, words)
	}
	if p.Verdict == Allow {
		return
	}
	if from, why := k.inputRisk(i, c, name); why != "" {
		p.Risk = why
		if c.To > 0 && from.To > 0 && from.From < c.From {
			p.From, p.Text = from.From, k.ev.call.Command[from.From:c.To]
		}
		return
	}
	known, _ := tableRisk("", name, words)
	floor := ""
	if p.Floor {
		floor = uncapital(p.Reason)
	}
	p.Risk = cmp.Or(k.removalRisk(c, name), k.targetRisk(c, name), known, floor)
	if userSwitchers[name] {
		p.Risk = floor
	}
}

// Limits of the programs that are named for one part.
const maxStartedDepth, maxStartedNames = 4, 8

// started names the programs that command i starts: "env → make" or "make, ls".
func (k *risks) started(i, depth int) string {
	if k.children == nil {
		k.children = make(map[int][]int)
		for j, c := range k.ev.facts.Commands {
			if !c.Guess && len(k.children[c.Parent]) < maxStartedNames {
				k.children[c.Parent] = append(k.children[c.Parent], j)
			}
		}
	}
	if depth == maxStartedDepth {
		return ""
	}
	var list []string
	for _, j := range k.children[i] {
		name := shorten(baseName(k.ev.facts.Commands[j].Words[0].Text))
		if more := k.started(j, depth+1); more != "" {
			name += " → " + more
		}
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	return strings.Join(list, ", ")
}

// inputRisk returns the risk of a program that runs its input, or text from a substitution, and the
// command from which that comes, if it is in the text.
func (k *risks) inputRisk(i int, c shell.Command, name string) (from shell.Command, why string) {
	runsText := shell.IsShell(name) || interpreters[name] || name == "eval" || name == "source" || name == "."
	if !runsText {
		return from, ""
	}
	const downloaded = "runs a script from the internet that nobody has read"
	if c.Piped && runsStdin(c) {
		for _, d := range slices.Backward(k.ev.facts.Commands[:i]) {
			if isDownload(d) {
				return d, downloaded
			}
		}
		return from, "runs the output of another command as a script"
	}
	for _, w := range c.Words[1:] {
		if !w.Dynamic {
			continue
		}
		for _, d := range k.ev.facts.Commands {
			if isDownload(d) && strings.Contains(w.Text, d.Text) {
				return from, downloaded
			}
		}
	}
	return from, ""
}

// runsStdin reports whether a shell or an interpreter gets no script in its words.
func runsStdin(c shell.Command) bool {
	return !slices.ContainsFunc(c.Words[1:], func(w shell.Word) bool {
		return !isFlag(w.Text) && !shell.IsInput(w.Text) || w.Text == "-c" || w.Text == "-e" || w.Text == "-m"
	}) || slices.ContainsFunc(c.Words[1:], func(w shell.Word) bool { return w.Text == "-s" })
}

var webPrograms = set("curl wget wget2 fetch http https xh aria2c axel lynx w3m")

func isDownload(c shell.Command) bool { return webPrograms[baseName(c.Words[0].Text)] }

// removalRisk says that a command deletes something outside the workspace.
func (k *risks) removalRisk(c shell.Command, name string) string {
	var targets []shell.Word
	switch {
	case removers[name]:
		targets = operands(c.Words[1:], "ns")
	case name == "find" && slices.ContainsFunc(c.Words, func(w shell.Word) bool { return w.Text == "-delete" }):
		targets = findStarts(c.Words[1:])
	}
	for _, w := range targets {
		switch list := k.ev.resolver.pathsOf(w); {
		case w.Dynamic:
			return "what it deletes is known only when the command runs"
		case k.outside(list) != "":
			return "deletes " + shorten(w.Text) + ", which is outside the workspace"
		}
	}
	return ""
}

// targetRisk says that a command writes a file outside the workspace.
func (k *risks) targetRisk(c shell.Command, name string) string {
	var targets []shell.Word
	switch {
	case copiers[name]:
		to, _ := copyTargets(c, name)
		targets = append(targets, to)
	case name == "tee" || name == "truncate" || name == "sponge":
		targets = operands(c.Words[1:], "sr")
	}
	for _, w := range targets {
		if w.Text != "" && !w.Dynamic && !strings.Contains(w.Text, ":") {
			if why := k.writeRisk(k.ev.resolver.pathsOf(w)); why != "" {
				return why
			}
		}
	}
	return ""
}

// writeRisk says that one of these files is outside the workspace and not a temporary one.
func (k *risks) writeRisk(list []string) string {
	f := k.outside(list)
	if f == "" || harmlessDevices[f] || slices.ContainsFunc(scratch, func(dir string) bool { return isIn(f, dir) }) {
		return ""
	}
	return "changes " + shorten(f) + ", which is outside the workspace"
}

// outside returns the first path that is not in the workspace, or "".
func (k *risks) outside(list []string) string {
	for _, f := range list {
		if real := k.ev.resolver.places.realPath(f); k.ev.resolver.places.root != "" && !isIn(real, k.ev.resolver.places.root) {
			return f
		}
	}
	return ""
}

// describeRedirect completes the part of a redirect to or from one of these files.
func (k *risks) describeRedirect(r shell.Redirect, list []string, p *Part) {
	p.From, p.To = r.From, r.To
	k.addBlocked(p, r.Path)
	switch {
	case p.Verdict == Allow:
	case p.Floor:
		p.Risk = uncapital(p.Reason)
	case r.Write:
		p.Risk = k.writeRisk(list)
	}
}

// addBlocked adds the folders that the sandbox blocks and that a word names.
func (k *risks) addBlocked(p *Part, w shell.Word) {
	for place, f := range k.ev.call.Blocked {
		if slices.Contains(p.Blocked, place) || w.Dynamic {
			continue
		}
		for _, s := range possiblePaths(w) {
			if slices.ContainsFunc(k.ev.resolver.pathsOf(s), func(at string) bool {
				at = k.ev.resolver.places.realPath(at)
				return isIn(at, clean(f.Path)) && !isIn(at, k.ev.resolver.places.root)
			}) {
				p.Blocked = append(p.Blocked, place)
				break
			}
		}
	}
}

// uncapital returns a reason as a part of a sentence, without its first capital letter.
func uncapital(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError {
		return s
	}
	return string(unicode.ToLower(r)) + s[n:]
}

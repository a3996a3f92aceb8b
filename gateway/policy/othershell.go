package policy

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"fairlead/gateway/peer/shell"
)

// plainText matches a text that every shell splits into the same words.
var plainText = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_./:+-]*( [A-Za-z0-9_./:+=-]+)*$`)

// decideForeign decides about a command for another shell, such as PowerShell: by exact match.
func (ev *evaluation) decideForeign() {
	name := path.Base(strings.ReplaceAll(ev.call.Shell, `\`, "/"))
	p := Part{Kind: "command", Text: ev.call.Command, Verdict: Ask, Reason: "No rule allows exactly this command for " + shorten(name)}
	if ev.set.fallback == Deny {
		p.Verdict, p.Reason = Deny, ev.rules.defaultReason("")
	}
	if !plainText.MatchString(ev.call.Command) {
		ev.unread = "Commands for " + shorten(name) + " cannot be read"
	}
	switch {
	case ev.foreignRestriction(&p):
		ev.offers.isBarred = true
	case !ev.foreignPermission(shellName(name), &p) && !plainText.MatchString(ev.call.Command):
		ev.offers.isBarred = true
	}
	ev.addPart(p)
}

// foreignRestriction applies the strict rules wherever a command may start, and the floor, and
// reports whether one matched. It denies if the text is plain or starts with the program.
func (ev *evaluation) foreignRestriction(p *Part) (found bool) {
	text := ev.call.Command
	plain := plainText.MatchString(text)
	for _, words := range splitCommands(text) {
		one := *p
		c := shell.Command{Words: words, Guess: !plain && !startsWithWord(text, words[0].Text)}
		if ev.applyStrictRules(c, &one) && (!found || one.Verdict.rank() > p.Verdict.rank()) {
			*p, found = one, true
		}
		if why := ev.floor.foreignReason(c); why != "" && p.Verdict != Deny && !found {
			p.Floor, found = true, true
			p.set(Ask, "", why)
			ev.lifts.add(p, ev.floor.protectedFiles(c))
		}
	}
	p.byRule = false // whether the shell runs such a command is uncertain
	if first, _, _ := strings.Cut(text, " "); !found && userSwitchers[baseName(first)] {
		p.Floor, found = true, true
		p.set(Ask, "", "Runs as another user ("+baseName(first)+")")
	}
	return found
}

// foreignReason returns the reason why a command of another shell may change a protected file, or "".
func (fl *floor) foreignReason(c shell.Command) string {
	if why := fl.reason(c); why != "" {
		return why
	}
	name := baseName(c.Words[0].Text)
	r := readingOf(name, c.Words[1:])
	for k, w := range c.Words[1:] {
		if r.whole || r.covers(c.Words[1:], k) {
			continue
		}
		for _, p := range mentionedPaths(name, w, false) {
			if why := fl.mentionedReason(name, p); why != "" {
				return why
			}
		}
	}
	return ""
}

// foreignPermission allows exactly the text that a grant or a rule contains.
func (ev *evaluation) foreignPermission(name string, p *Part) bool {
	text := ev.call.Command
	g, ok := ev.rules.findGrant("Bash", func(g Grant) bool {
		return g.covers(ev.call) && g.Shell != "" && shellName(g.Shell) == name && ev.resolver.isOnlyIn(g.Cwd)
	})
	if ok {
		p.set(Allow, g.ID, exactlyAllowed)
		return true
	}
	if !plainText.MatchString(text) {
		return false
	}
	words := strings.Split(text, " ")
	for _, r := range ev.set.allow[words[0]] {
		if ev.rules.applies(r, "Bash") && slices.EqualFunc(r.argv, words, func(g wordGlob, w string) bool { return g.literal() && g.parts[0] == w }) {
			p.set(Allow, r.ID, r.reason)
			p.Argv = words
			return true
		}
	}
	return false
}

// shellName returns the name of a shell, which may be a path of Windows.
func shellName(path string) string { return baseName(strings.ReplaceAll(path, `\`, "/")) }

func startsWithWord(text, word string) bool {
	return strings.HasPrefix(strings.TrimLeft(text, " \t\r\n&(\"'@"), word)
}

// splitCommands splits a text into words without quotes wherever a shell may start a command.
func splitCommands(text string) [][]shell.Word {
	var list [][]shell.Word
	if len(text) > 32<<10 {
		text = text[:32<<10]
	}
	text = strings.NewReplacer("^", "", "`", "", `"`, "", "'", "").Replace(text)
	for _, p := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(";&|\n\r(){}", r) }) {
		var words []shell.Word
		for _, f := range strings.Fields(p) {
			words = append(words, shell.Word{Text: f, Dynamic: strings.ContainsAny(f, "$%")})
		}
		for len(words) > 0 && (words[0].Text == "." || words[0].Text == "@") {
			words = words[1:]
		}
		if len(words) > 0 {
			list = append(list, words)
		}
	}
	return list
}

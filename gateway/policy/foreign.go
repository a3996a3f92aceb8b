package policy

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"fairlead/gateway/policy/shell"
)

// simple matches a text that every shell splits into the same words.
var simple = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_./:+-]*( [A-Za-z0-9_./:+=-]+)*$`)

// foreign judges a command for a shell that is not parsed: PowerShell, cmd, fish and all others.
// Only an exact match allows it.
func (j *judging) foreign() {
	name := path.Base(strings.ReplaceAll(j.call.Shell, `\`, "/"))
	p := Part{Kind: "command", Text: j.call.Command, Verdict: Ask, Reason: fmt.Sprintf("No rule allows exactly this command for %s", short(name))}
	if j.def == Deny {
		p.Verdict, p.Reason = Deny, j.defaultReason("")
	}
	switch {
	case j.foreignStrict(&p):
		j.barred = true
	case !j.foreignAllow(name, &p) && !simple.MatchString(j.call.Command):
		j.barred = true
	}
	j.add(p)
}

// foreignStrict applies deny rules about commands, rules about files, then ask rules about
// commands, at every position where a command may start, and the floor. It reports whether one
// matched.
func (j *judging) foreignStrict(p *Part) bool {
	text := j.call.Command
	plain := simple.MatchString(text)
	all := pieces(text)
	asked := j.foreignRule(all, Deny, plain, p)
	if asked && p.Verdict == Deny {
		return true
	}
	for _, words := range all {
		v, r, why := j.touches(shell.Command{Words: words})
		if r == nil || asked && !(v == Deny && plain) {
			continue
		}
		if !plain {
			v = Ask
		}
		p.Verdict, p.Rule, p.Reason, asked = v, r.ID, why, true
		if v == Deny {
			return true
		}
	}
	if asked || j.foreignRule(all, Ask, plain, p) {
		return true
	}
	if userSwitchers[strings.ToLower(strings.SplitN(text, " ", 2)[0])] || strings.HasPrefix(strings.ToLower(text), "runas ") {
		p.Verdict, p.Rule, p.Reason, p.Floor = Ask, "", "Runs a command as another user", true
		return true
	}
	return false
}

// foreignRule applies the rules of one verdict about commands. A denial is certain if the whole
// text is plain, or starts with the program.
func (j *judging) foreignRule(all [][]shell.Word, v Verdict, plain bool, p *Part) bool {
	for _, words := range all {
		g, r := j.against(shell.Command{Words: words}, v)
		if g == none {
			continue
		}
		if v == Deny && !(g == certain && (plain || starts(j.call.Command, words[0].Text))) {
			v = Ask
		}
		p.Verdict, p.Rule, p.Reason = v, r.ID, ruleReason(r)
		return true
	}
	return false
}

// foreignAllow allows exactly the text that a grant or a rule contains.
func (j *judging) foreignAllow(name string, p *Part) bool {
	text := j.call.Command
	for _, g := range j.grants {
		if g.covers(j.call) && sameShell(g.Shell, name) && len(j.place.dirs) == 1 && j.place.is(j.place.dirs[0], clean(g.Cwd), false, false) && j.granted(g, "Bash") {
			p.Verdict, p.Rule, p.Reason = Allow, g.ID, "You allowed exactly this command in this folder"
			return true
		}
	}
	if !simple.MatchString(text) {
		return false
	}
	words := strings.Split(text, " ")
	for _, r := range j.allow[words[0]] {
		same := j.applies(r, "Bash") && slices.EqualFunc(r.argv, words, func(g glob, w string) bool { return g.literal() && g.parts[0] == w })
		if same {
			p.Verdict, p.Rule, p.Reason, p.Argv = Allow, r.ID, ruleReason(r), words
			j.profile = r.Profile
			return true
		}
	}
	return false
}

// sameShell compares the shell of a grant with the one that will run.
func sameShell(want, have string) bool {
	trim := func(s string) string {
		return shell.Base(strings.ReplaceAll(s, `\`, "/"))
	}
	return want != "" && trim(want) == trim(have)
}

func starts(text, word string) bool {
	return strings.HasPrefix(strings.TrimLeft(text, " \t\r\n&(\"'@"), word)
}

// pieces splits a text wherever some shell may start a command, and each piece into words without
// quotes.
func pieces(text string) [][]shell.Word {
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

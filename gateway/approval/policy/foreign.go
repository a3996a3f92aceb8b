package policy

import (
	"fmt"
	"path"
	"regexp"
	"strings"

	"fairlead/gateway/approval/shell"
)

// simple is a text that every shell takes for the same words.
var simple = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_./:+-]*( [A-Za-z0-9_./:+=-]+)*$`)

// foreign judges a command for a shell that is not taken apart: PowerShell, cmd, fish and all others. Only an exact match allows.
func (j *judging) foreign() {
	name := path.Base(strings.ReplaceAll(j.call.Shell, `\`, "/"))
	p := Part{Kind: "command", Text: j.call.Command, Verdict: Ask, Reason: fmt.Sprintf("commands for %s are allowed only word for word", short(name))}
	if j.def == Deny {
		p.Verdict, p.Reason = Deny, j.defaultReason("")
	}
	defer func() { j.add(p) }()
	stop := func(v Verdict, rule, reason string) { p.Verdict, p.Rule, p.Reason, j.barred = v, rule, reason, true }
	text := j.call.Command
	plain := simple.MatchString(text)
	certainly := certain
	if !plain {
		certainly = possible
	}
	// Rules that deny, then those about files, then those that ask are tried at every place where a command may start.
	all := pieces(text)
	strict := func(v Verdict) bool {
		for _, words := range all {
			g, r := j.against(shell.Command{Words: words}, v)
			if g == none {
				continue
			}
			if v == Deny && min(g, certainly) != certain && !(g == certain && starts(text, words[0].Text)) {
				v = Ask
			}
			stop(v, r.ID, ruleReason(r))
			return true
		}
		return false
	}
	if strict(Deny) && p.Verdict == Deny {
		return
	}
	asked := j.barred
	for _, words := range all {
		if v, r, why := j.touches(shell.Command{Words: words}); r != nil && (v == Deny && plain || !asked) {
			if v != Deny || !plain {
				v = Ask
			}
			stop(v, r.ID, why)
			asked = true
			if v == Deny {
				return
			}
		}
	}
	if asked || strict(Ask) {
		return
	}
	if otherUsers[strings.ToLower(strings.SplitN(text, " ", 2)[0])] || strings.HasPrefix(strings.ToLower(text), "runas ") {
		p.Floor = true
		stop(Ask, "", "it acts as another user")
		return
	}
	if p.Verdict == Deny {
		p.Verdict = Ask // an exact match still allows, see below; the default is put back otherwise
		defer func() {
			if p.Verdict == Ask {
				p.Verdict = Deny
			}
		}()
	}
	for _, g := range j.grants {
		if g.covers(j.call) && sameShell(g.Shell, name) && len(j.place.dirs) == 1 && j.place.is(j.place.dirs[0], clean(g.Cwd), false, false) && j.granted(g,
			"Bash") {
			p.Verdict, p.Rule, p.Reason = Allow, g.ID, "you allowed exactly this here"
			return
		}
	}
	if !plain {
		j.barred = true
		return
	}
	words := strings.Split(text, " ")
	for _, r := range j.allow[words[0]] {
		if !j.applies(r, "Bash") || len(r.argv) != len(words) {
			continue
		}
		same := true
		for i, g := range r.argv {
			same = same && g.literal() && g.parts[0] == words[i]
		}
		if same {
			p.Verdict, p.Rule, p.Reason, p.Argv = Allow, r.ID, ruleReason(r), words
			j.profile = r.Profile
			return
		}
	}
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

// pieces splits a text wherever some shell may start a command, and its pieces into words without quotes.
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

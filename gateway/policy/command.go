package policy

import (
	"fmt"
	"slices"
	"strings"

	"fairlead/gateway/policy/shell"
)

// command judges the commands that a shell would run.
func (j *judging) command(k shell.Kind) {
	j.facts = shell.Analyze(j.call.Command, k)
	j.parts = make([]Part, 0, len(j.facts.Commands)+len(j.facts.Redirects))
	start := j.place.dirs
	for _, c := range j.facts.Commands {
		if c.Loop && !c.Guess && (c.Name() == "cd" || c.Name() == "pushd" || c.Name() == "popd") {
			j.place.dirs, start = nil, nil // the second round starts in an unknown folder
		}
	}
	at := make([]folders, len(j.facts.Commands))
	for i, c := range j.facts.Commands {
		j.place.startedIn(j.facts.Commands, c)
		at[i] = j.place.dirs
		if p, ok := j.one(i, c); ok {
			j.add(p)
		}
		j.note(c)
		j.place.follow(c)
	}
	all := j.place.dirs
	if j.place.moved && all != nil {
		all = append(slices.Clone(start), all...)
	}
	for _, a := range j.facts.Assigns {
		j.assignment(a)
	}
	for _, r := range j.facts.Redirects {
		j.place.dirs = all
		if r.Command >= 0 && r.Command < len(at) {
			j.place.dirs = at[r.Command]
		}
		j.redirect(r)
	}
	if len(j.facts.Commands) == 0 {
		j.bare()
	}
	for _, f := range j.facts.Findings {
		if f.Soft && j.def == Allow && !j.control {
			continue
		}
		j.barred = true
		what := "The command"
		if f.Text != "" {
			what = short(f.Text)
		}
		j.add(Part{Kind: "finding", Text: f.Text, Verdict: Ask, Reason: what + " " + f.Reason})
	}
}

// bare judges a text without a command, such as a single redirect, by the rules about every
// command.
func (j *judging) bare() {
	for _, v := range []Verdict{Deny, Ask} {
		for _, r := range j.wide {
			if r.argv == nil && r.path == nil && r.Verdict == v && j.applies(r, "Bash") {
				j.barred = true
				j.add(Part{Kind: "call", Text: j.call.Command, Verdict: v, Rule: r.ID, Reason: ruleReason(r), ruled: true})
				return
			}
		}
	}
}

// coverage records which of a command's words its allow rule contains.
type coverage struct {
	spelled []bool
	exact   bool // the rule contains every word, and nothing may follow
}

func (c coverage) has(i int) bool { return i >= 0 && i < len(c.spelled) && c.spelled[i] }

// one judges command i. ok is false for a guess that no rule is against.
func (j *judging) one(i int, c shell.Command) (Part, bool) {
	why := j.floor(c)
	p, ok := j.byRules(i, c)
	if why == "" || ok && p.Verdict == Deny || j.def == Deny && !p.ruled && (!ok || p.Verdict == Ask) {
		return p, ok
	}
	j.barred = true
	p.ruled = true
	p.Verdict, p.Rule, p.Reason, p.Floor = Ask, "", why, true
	return p, true
}

func (j *judging) byRules(i int, c shell.Command) (p Part, ok bool) {
	p = Part{Kind: "command", Text: c.Text, Origin: c.Origin, Argv: texts(c.Words)}
	ask := func(rule, reason string) { p.Verdict, p.Rule, p.Reason = Ask, rule, reason; j.barred = true }
	grade, r := j.against(c, Deny)
	if grade == certain && !c.Guess {
		j.barred = true
		p.Verdict, p.Rule, p.Reason = Deny, r.ID, ruleReason(r)
		return p, true
	}
	if v, r, why := j.touches(c); r != nil {
		if v == Deny && !c.Guess {
			j.barred = true
			p.Verdict, p.Rule, p.Reason = Deny, r.ID, why
			return p, true
		}
		ask(r.ID, why)
		return p, true
	}
	if grade != none {
		ask(r.ID, fmt.Sprintf("May run a command that %s denies", r.called()))
		return p, true
	}
	if grade, r := j.against(c, Ask); grade != none {
		p.ruled = grade == certain
		ask(r.ID, ruleReason(r))
		return p, true
	}
	if c.Guess {
		return p, false
	}
	why := "" // a more useful reason than that no rule matches
	for _, r := range j.allow[c.Name()] {
		if c.Words[0].Dynamic || !j.applies(r, "Bash") {
			continue
		}
		if r.cwd == "" && j.displaced(c) {
			why = "After changing the folder, the command may affect other files than the rule allows"
			continue
		}
		cover, no := j.allows(r, c)
		if no == "" {
			no = j.inOtherRepository(c, r)
		}
		if no == "" {
			j.covered[i] = cover
			p.Verdict, p.Rule, p.Reason = Allow, r.ID, ruleReason(r)
			if j.profile == "" {
				j.profile = r.Profile
			}
			return p, true
		}
		if no != notMatched {
			why = no
		}
	}
	if parent, has := j.covered[c.Parent]; has && c.Parent >= 0 && (parent.exact || c.Spelled > 0 && parent.has(c.Spelled)) && static(c) {
		h, doubt := j.unspelled(c, func(at int) bool { return parent.exact || at >= 0 && parent.has(c.Spelled+at) })
		if !doubt {
			j.covered[i] = coverage{exact: parent.exact}
			p.Verdict, p.Rule, p.Reason = Allow, "", "The rule for the command that starts it includes this command"
			return p, true
		}
		why = h.why
	}
	if g, has := j.grant(c); has {
		j.covered[i] = coverage{exact: true}
		p.Verdict, p.Rule, p.Reason = Allow, g.ID, "You allowed exactly this command in this folder"
		return p, true
	}
	p.Verdict, p.Reason = j.def, j.defaultReason(p.Text)
	if why != "" {
		p.Reason = why
	}
	if j.def == Allow {
		if doubt := j.doubtful(c); doubt != "" {
			ask("", doubt)
			return p, true
		}
		if r, why := j.unheld(c); r != nil {
			ask(r.ID, why)
			return p, true
		}
		p.Reason = j.defaultReason("")
	}
	if p.Verdict == Ask {
		if other := j.inOtherRepository(c, nil); why == "" && other != "" {
			why, p.Reason = other, other
		}
		j.offer(c, why)
	}
	return p, true
}

// anywhere are programs that do the same in every folder.
var anywhere = func() map[string]bool {
	m := set("cd pwd mkdir touch cp mv rm chmod tee sort uniq find true false test [ printf sleep date which exit sed tar stat file less")
	for name := range readers {
		m[name] = true
	}
	return m
}()

// displaced reports whether a change of folder in the text gives a command another meaning than the
// rule's author knew: outside the workspace, the folder's files determine what most programs do,
// and a script with a relative name is a different file in every folder.
func (j *judging) displaced(c shell.Command) bool {
	name := c.Words[0].Text
	if j.place.moved && (strings.Contains(name, "/") && !isAbs(name) || readsProgram(c) || versioned(base(name), interpreters)) {
		return true
	}
	return !anywhere[base(name)] && j.place.away()
}

// doubtful returns the reason why a command may be one that a rule denies or asks about, with a
// default that allows; "" if it may not.
func (j *judging) doubtful(c shell.Command) string {
	if !j.control && len(j.paths) == 0 {
		return ""
	}
	if c.Words[0].Dynamic || c.Words[0].Odd || c.Words[0].Glob {
		return "The program " + short(c.Words[0].Text) + " is known only when the command runs"
	}
	for _, h := range guards(c, j.place) {
		if h.opaque && (j.control || !j.filesSeen(c)) {
			return h.why
		}
	}
	named := len(j.strict[base(c.Words[0].Text)]) > 0
	for _, r := range j.wide {
		named = named || r.argv != nil && r.argv[0].match(base(c.Words[0].Text))
	}
	if named {
		for _, w := range c.Words[1:] {
			if w.Dynamic || w.Odd || w.Glob {
				return unknownValue(w) + ", and a rule restricts " + base(c.Words[0].Text)
			}
		}
	}
	return ""
}

// grant returns the grant for exactly this command in this folder.
func (j *judging) grant(c shell.Command) (Grant, bool) {
	if len(j.place.dirs) != 1 || !static(c) || c.Piped && readsProgram(c) || c.Stdin != nil && readsProgram(c) {
		return Grant{}, false
	}
	for _, g := range j.grants {
		if len(g.Argv) > 0 && slices.Equal(g.Argv, texts(c.Words)) && j.place.is(j.place.dirs[0], clean(g.Cwd), false, false) && j.granted(g, "Bash") {
			return g, true
		}
	}
	return Grant{}, false
}

// readsProgram reports whether a command executes its input.
func readsProgram(c shell.Command) bool {
	n := base(c.Words[0].Text)
	return shell.Shells(n) || interpreters[n]
}

func static(c shell.Command) bool {
	for _, w := range c.Words {
		if !w.Plain() {
			return false
		}
	}
	return true
}

func texts(words []shell.Word) []string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = w.Text
	}
	return list
}

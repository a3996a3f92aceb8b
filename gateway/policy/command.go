package policy

import (
	"fmt"
	"slices"
	"strings"

	"fairlead/gateway/policy/shell"
)

// decideCommands decides about the commands that a shell would run.
func (ev *evaluation) decideCommands(k shell.Kind) {
	ev.facts = shell.Analyze(ev.call.Command, k)
	ev.parts = make([]Part, 0, len(ev.facts.Commands)+len(ev.facts.Redirects))
	start := ev.resolver.dirs
	for _, c := range ev.facts.Commands {
		if c.Loop && !c.Guess && (c.Name() == "cd" || c.Name() == "pushd" || c.Name() == "popd") {
			ev.resolver.dirs, start = nil, nil // the second round starts in an unknown folder
		}
	}
	at := make([]folders, len(ev.facts.Commands))
	for i, c := range ev.facts.Commands {
		ev.resolver.enterLaunched(ev.facts.Commands, c)
		at[i] = ev.resolver.dirs
		if p, ok := ev.decideCommand(i, c); ok {
			ev.addPart(p)
		}
		ev.recordCode(c)
		ev.resolver.changeFolder(c)
	}
	all := ev.resolver.dirs
	if ev.resolver.moved && all != nil {
		all = append(slices.Clone(start), all...)
	}
	for _, a := range ev.facts.Assigns {
		ev.decideAssignment(a)
	}
	for _, r := range ev.facts.Redirects {
		ev.resolver.dirs = all
		if r.Command >= 0 && r.Command < len(at) {
			ev.resolver.dirs = at[r.Command]
		}
		ev.decideRedirect(r)
	}
	if len(ev.facts.Commands) == 0 {
		ev.decideEmpty()
	}
	for _, f := range ev.facts.Findings {
		if f.Soft && ev.fallback == Allow && !ev.hasCommandRules {
			continue
		}
		ev.noOffers = true
		what := "The command"
		if f.Text != "" {
			what = shorten(f.Text)
		}
		ev.addPart(Part{Kind: "finding", Text: f.Text, Verdict: Ask, Reason: what + " " + f.Reason})
	}
}

// decideEmpty decides about a text without a command, such as a single redirect, by the rules about
// every command.
func (ev *evaluation) decideEmpty() {
	for _, v := range []Verdict{Deny, Ask} {
		for _, r := range ev.anyProgram {
			if r.argv == nil && r.path == nil && r.Verdict == v && ev.applies(r, "Bash") {
				ev.noOffers = true
				ev.addPart(Part{Kind: "call", Text: ev.call.Command, Verdict: v, Rule: r.ID, Reason: reasonOf(r), byRule: true})
				return
			}
		}
	}
}

// coverage records which of a command's words its allow rule contains.
type coverage struct {
	named []bool
	exact bool // the rule contains every word, and nothing may follow
}

func (c coverage) has(i int) bool { return i >= 0 && i < len(c.named) && c.named[i] }

// decideCommand decides about command i. ok is false for a guess that no rule is against.
func (ev *evaluation) decideCommand(i int, c shell.Command) (Part, bool) {
	why := ev.floor.reason(c)
	p, ok := ev.decideByRules(i, c)
	if why == "" || ok && p.Verdict == Deny || ev.fallback == Deny && !p.byRule && (!ok || p.Verdict == Ask) {
		return p, ok
	}
	ev.noOffers = true
	p.byRule = true
	p.Verdict, p.Rule, p.Reason, p.Floor = Ask, "", why, true
	return p, true
}

func (ev *evaluation) decideByRules(i int, c shell.Command) (p Part, ok bool) {
	p = Part{Kind: "command", Text: c.Text, Origin: c.Origin, Argv: wordTexts(c.Words)}
	ask := func(rule, reason string) { p.Verdict, p.Rule, p.Reason = Ask, rule, reason; ev.noOffers = true }
	grade, r := ev.strictest(c, Deny)
	if grade == certain && !c.Guess {
		ev.noOffers = true
		p.Verdict, p.Rule, p.Reason = Deny, r.ID, reasonOf(r)
		return p, true
	}
	if v, r, why := ev.fileRules.decide(c); r != nil {
		if v == Deny && !c.Guess {
			ev.noOffers = true
			p.Verdict, p.Rule, p.Reason = Deny, r.ID, why
			return p, true
		}
		ask(r.ID, why)
		return p, true
	}
	if grade != none {
		ask(r.ID, fmt.Sprintf("May run a command that %s denies", r.label()))
		return p, true
	}
	if grade, r := ev.strictest(c, Ask); grade != none {
		p.byRule = grade == certain
		ask(r.ID, reasonOf(r))
		return p, true
	}
	if c.Guess {
		return p, false
	}
	why := "" // a more useful reason than that no rule matches
	for _, r := range ev.allow[c.Name()] {
		if c.Words[0].Dynamic || !ev.applies(r, "Bash") {
			continue
		}
		if r.cwd == "" && ev.isDisplaced(c) {
			why = "After changing the folder, the command may affect other files than the rule allows"
			continue
		}
		cover, no := ev.covers(r, c)
		if no == "" {
			no = ev.otherRepositoryReason(c, r)
		}
		if no == "" {
			ev.covered[i] = cover
			p.Verdict, p.Rule, p.Reason = Allow, r.ID, reasonOf(r)
			if ev.profile == "" {
				ev.profile = r.Profile
			}
			return p, true
		}
		if no != notMatched {
			why = no
		}
	}
	if parent, has := ev.covered[c.Parent]; has && c.Parent >= 0 && (parent.exact || c.WordIndex > 0 && parent.has(c.WordIndex)) && isStatic(c) {
		h, doubt := ev.missingWord(c, func(at int) bool { return parent.exact || at >= 0 && parent.has(c.WordIndex+at) })
		if !doubt {
			ev.covered[i] = coverage{exact: parent.exact}
			p.Verdict, p.Rule, p.Reason = Allow, "", "The rule for the command that starts it includes this command"
			return p, true
		}
		why = h.reason
	}
	if g, has := ev.commandGrant(c); has {
		ev.covered[i] = coverage{exact: true}
		p.Verdict, p.Rule, p.Reason = Allow, g.ID, "You allowed exactly this command in this folder"
		return p, true
	}
	p.Verdict, p.Reason = ev.fallback, ev.defaultReason(p.Text)
	if why != "" {
		p.Reason = why
	}
	if ev.fallback == Allow {
		if doubt := ev.concealReason(c); doubt != "" {
			ask("", doubt)
			return p, true
		}
		if r, why := ev.fileRules.unenforced(c); r != nil {
			ask(r.ID, why)
			return p, true
		}
		p.Reason = ev.defaultReason("")
	}
	if p.Verdict == Ask {
		if other := ev.otherRepositoryReason(c, nil); why == "" && other != "" {
			why, p.Reason = other, other
		}
		ev.addOffers(c, why)
	}
	return p, true
}

// sameEverywhere are programs that do the same in every folder.
var sameEverywhere = func() map[string]bool {
	m := set("cd pwd mkdir touch cp mv rm chmod tee sort uniq find true false test [ printf sleep date which exit sed tar stat file less")
	for name := range readers {
		m[name] = true
	}
	return m
}()

// isDisplaced reports whether a change of folder in the text gives a command another meaning than
// the rule's author knew: outside the workspace, the folder's files determine what most programs
// do, and a script with a relative name is a different file in every folder.
func (ma *matcher) isDisplaced(c shell.Command) bool {
	name := c.Words[0].Text
	if ma.resolver.moved && (strings.Contains(name, "/") && !isAbs(name) || runsInput(c) || isVersionOf(baseName(name), interpreters)) {
		return true
	}
	return !sameEverywhere[baseName(name)] && ma.resolver.isOutside()
}

// concealReason returns the reason why a command may be one that a rule denies or asks about, with
// a default that allows; "" if it may not.
func (ma *matcher) concealReason(c shell.Command) string {
	if !ma.hasCommandRules && len(ma.fileRestrictions) == 0 {
		return ""
	}
	if c.Words[0].Dynamic || c.Words[0].Ambiguous || c.Words[0].Glob {
		return "The program " + shorten(c.Words[0].Text) + " is known only when the command runs"
	}
	for _, h := range guardsOf(c, ma.resolver) {
		if h.opaque && (ma.hasCommandRules || !ma.namesItsFiles(c)) {
			return h.reason
		}
	}
	named := len(ma.strict[baseName(c.Words[0].Text)]) > 0
	for _, r := range ma.anyProgram {
		named = named || r.argv != nil && r.argv[0].match(baseName(c.Words[0].Text))
	}
	if named {
		for _, w := range c.Words[1:] {
			if w.Dynamic || w.Ambiguous || w.Glob {
				return unknownValue(w) + ", and a rule restricts " + baseName(c.Words[0].Text)
			}
		}
	}
	return ""
}

// commandGrant returns the grant for exactly this command in this folder.
func (ma *matcher) commandGrant(c shell.Command) (Grant, bool) {
	if len(ma.resolver.dirs) != 1 || !isStatic(c) || c.Piped && runsInput(c) || c.Stdin != nil && runsInput(c) {
		return Grant{}, false
	}
	for _, g := range ma.grants {
		if len(g.Argv) > 0 && slices.Equal(g.Argv, wordTexts(c.Words)) && ma.resolver.is(ma.resolver.dirs[0], clean(g.Cwd), false, false) && ma.grantApplies(g, "Bash") {
			return g, true
		}
	}
	return Grant{}, false
}

// runsInput reports whether a command executes its input.
func runsInput(c shell.Command) bool {
	n := baseName(c.Words[0].Text)
	return shell.IsShell(n) || interpreters[n]
}

func isStatic(c shell.Command) bool {
	for _, w := range c.Words {
		if !w.Plain() {
			return false
		}
	}
	return true
}

func wordTexts(words []shell.Word) []string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = w.Text
	}
	return list
}

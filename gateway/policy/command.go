package policy

import (
	"cmp"
	"slices"
	"strings"

	"fairlead/gateway/peer/shell"
)

func (ev *evaluation) decideCommands(k shell.Kind) {
	ev.facts = shell.Analyze(ev.call.Command, k)
	at := make([]folders, len(ev.facts.Commands))
	for i, c := range ev.facts.Commands {
		ev.resolver.enter(c.Possible)
		ev.resolver.enterLaunched(ev.facts.Commands, c)
		at[i] = ev.resolver.dirs
		ev.rules.isFound = ev.rules.getsFiles(ev.facts.Commands, c)
		if p, ok := ev.decideCommand(i, c); ok {
			ev.risks.describe(i, c, &p)
			ev.addPart(p)
		}
		ev.recordCode(c)
	}
	ev.resolver.enter(ev.facts.Last)
	all := ev.resolver.dirs
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
	ev.lifts.addRecords(ev.facts, at)
	for _, f := range ev.facts.Findings {
		if f.Soft && ev.set.fallback == Allow && !ev.set.hasCommandRules || f.File.Text != "" && ev.rules.isFree() && ev.resolver.isInside(f.File) {
			continue
		}
		ev.offers.isBarred = true
		if !f.Soft {
			ev.unread = cmp.Or(ev.unread, cmp.Or(shorten(f.Text), "The command")+" "+f.Reason)
		}
		ev.addPart(Part{Kind: "finding", Text: f.Text, Verdict: Ask, Reason: cmp.Or(shorten(f.Text), "The command") + " " + f.Reason})
	}
}

// getsFiles reports whether the words of a command that are known only when it runs can do no harm:
// because find gives it files of the workspace, or because the machine contains commands.
func (ma *matcher) getsFiles(all []shell.Command, c shell.Command) bool {
	if c.Via == "xargs" || c.Via == "gxargs" {
		return ma.call.Contained && !ma.set.hasCommandRules && takesAnyWord(c.Name())
	}
	if c.Via != "find" || c.Parent < 0 || c.Parent >= len(all) {
		return false
	}
	words := all[c.Parent].Words[1:]
	return takesAnyWord(c.Name()) && !hasWord(words, "-L", "-H", "-follow", "-execdir", "-okdir", "-files0-from") &&
		!slices.ContainsFunc(findStarts(words), func(w shell.Word) bool { return !ma.resolver.isInside(w) })
}

// decideEmpty decides about a text without a command by the rules about every command.
func (ev *evaluation) decideEmpty() {
	for _, v := range []Verdict{Deny, Ask} {
		for _, r := range ev.set.anyProgram {
			if r.argv == nil && r.Verdict == v && ev.rules.applies(r, "Bash") {
				ev.offers.isBarred = true
				ev.addPart(Part{Kind: "call", Text: ev.call.Command, Verdict: v, Rule: r.ID, Reason: r.reason, byRule: true})
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
	if _, isCovered := ev.covered[i]; !isCovered && !c.Guess {
		ev.unread = cmp.Or(ev.unread, ev.rules.unreadReason(c))
	}
	if doubt := ev.mentionReason(i, c); doubt != "" && why == "" && p.Verdict != Deny {
		ev.mentions = cmp.Or(ev.mentions, doubt)
		ev.lifts.add(&p, ev.floor.protectedFiles(c))
		if p.Verdict == Allow {
			p.set(Ask, "", doubt)
			p.byRule = ev.set.fallback == Deny
			ev.offers.addFor(c, "", ev.mentionReason(i, c) != "")
		}
	}
	if cover, isCovered := ev.covered[i]; isCovered && p.Verdict == Allow {
		if doubt := ev.paths.secretReason(c, cover); doubt != "" {
			p.set(Ask, "", doubt)
			ev.offers.addFor(c, "", ev.mentionReason(i, c) != "")
		}
	}
	if why == "" || ok && p.Verdict == Deny || ev.set.fallback == Deny && !p.byRule && (!ok || p.Verdict == Ask) {
		return p, ok
	}
	ev.offers.isBarred = true
	p.set(Ask, "", why)
	p.byRule, p.Floor = true, true
	ev.lifts.add(&p, ev.floor.protectedFiles(c))
	return p, true
}

func (ev *evaluation) decideByRules(i int, c shell.Command) (p Part, ok bool) {
	p = Part{Kind: "command", Text: c.Text, Origin: c.Origin, Argv: wordTexts(c.Words)}
	if ev.applyStrictRules(c, &p) {
		ev.offers.isBarred = true
		return p, true
	}
	if c.Guess {
		return p, false
	}
	cover, why := ev.applyAllowRules(c, &p)
	if p.Verdict == Allow {
		ev.covered[i] = cover
		return p, true
	}
	p.set(ev.set.fallback, "", cmp.Or(why, ev.rules.defaultReason(p.Text)))
	switch ev.set.fallback {
	case Allow:
		p.Reason = ev.rules.defaultReason("")
		if doubt := ev.rules.concealReason(c); doubt != "" {
			ev.offers.isBarred = true
			p.set(Ask, "", doubt)
		} else if r, why := ev.paths.unenforcedRule(c); r != nil {
			ev.offers.isBarred = true
			p.set(Ask, r.ID, why)
		}
	case Ask:
		if other := ev.rules.otherRepositoryReason(c, nil); why == "" && other != "" {
			why, p.Reason = other, other
		}
		ev.offers.addFor(c, why, ev.mentionReason(i, c) != "")
	}
	return p, true
}

// applyStrictRules applies the rules that deny or ask, and reports whether one matches.
func (ev *evaluation) applyStrictRules(c shell.Command, p *Part) bool {
	grade, denied := ev.rules.strictest(c, Deny)
	if grade == certain && !c.Guess {
		p.set(Deny, denied.ID, denied.reason)
		return true
	}
	if v, r, why := ev.paths.decideFileRules(c); r != nil {
		if c.Guess {
			v = Ask
		}
		p.set(v, r.ID, why)
		return true
	}
	if grade != none {
		p.set(Ask, denied.ID, "May run a command that "+denied.label()+" denies")
		return true
	}
	grade, asked := ev.rules.strictest(c, Ask)
	if grade != none {
		p.byRule = grade == certain
		p.set(Ask, asked.ID, asked.reason)
	}
	return grade != none
}

// applyAllowRules applies the rules and grants that allow. why may say why none does.
func (ev *evaluation) applyAllowRules(c shell.Command, p *Part) (cover coverage, why string) {
	for _, r := range ev.set.allow[c.Name()] {
		if !ev.rules.applies(r, "Bash") {
			continue
		}
		if r.cwd == "" && ev.rules.isDisplaced(c) {
			why = "After changing the folder, the command may affect other files than the rule allows"
			continue
		}
		cover, no := ev.rules.covers(r, c)
		if no == "" {
			no = ev.rules.otherRepositoryReason(c, r)
		}
		if no == "" {
			p.set(Allow, r.ID, r.reason)
			return cover, ""
		}
		if no != notMatched {
			why = no
		}
	}
	if parent, has := ev.covered[c.Parent]; has && (parent.exact || c.WordIndex > 0 && parent.has(c.WordIndex)) && isStatic(c) {
		missing := ev.rules.missingWords(c, func(at int) bool { return parent.exact || at >= 0 && parent.has(c.WordIndex+at) })
		if len(missing) == 0 {
			p.set(Allow, "", "The rule for the command that starts it includes this command")
			return coverage{exact: parent.exact}, ""
		}
		why = missing[0].reason
	}
	if isStatic(c) && !((c.Piped || c.Stdin != nil) && runsInput(c)) {
		g, ok := ev.rules.findGrant("Bash", func(g Grant) bool {
			return len(g.Argv) > 0 && slices.Equal(g.Argv, p.Argv) && ev.resolver.isOnlyIn(g.Cwd)
		})
		if ok {
			p.set(Allow, g.ID, exactlyAllowed)
			return coverage{exact: true}, ""
		}
	}
	return cover, why
}

// sameEverywhere are programs that do the same in every folder.
var sameEverywhere = set("cd pushd popd pwd mkdir touch cp mv rm chmod tee sort uniq find true false test [ printf sleep date which exit sed tar stat file less")

// isDisplaced reports whether a change of folder in the text gives a command another meaning than
// the rule's author knew: outside the workspace, the folder's files determine what most programs
// do, and a script with a relative name is a different file in every folder.
func (ma *matcher) isDisplaced(c shell.Command) bool {
	name := baseName(c.Words[0].Text)
	if ma.resolver.moved && (strings.Contains(c.Words[0].Text, "/") && !isAbs(c.Words[0].Text) || runsInput(c) || isVersionOf(name, interpreters)) {
		return true
	}
	return !sameEverywhere[name] && !readers[name] && ma.resolver.isOutside()
}

// unreadReason returns the reason why a command may do more than its words show, or "".
func (ma *matcher) unreadReason(c shell.Command) string {
	if c.Words[0].Dynamic {
		return "The program " + shorten(c.Words[0].Text) + " is known only when the command runs"
	}
	if why := runsCode(c); why != "" {
		return why
	}
	for _, h := range guardsOf(c, ma.resolver) {
		if h.opaque {
			return h.reason
		}
	}
	return ""
}

// concealReason returns the reason why a command may be one that a rule restricts, or "".
func (ma *matcher) concealReason(c shell.Command) string {
	if !ma.set.hasCommandRules && len(ma.set.fileRestrictions) == 0 {
		return ""
	}
	isUnknown := func(w shell.Word) bool { return w.Dynamic || w.Ambiguous || w.Glob }
	if isUnknown(c.Words[0]) {
		return "The program " + shorten(c.Words[0].Text) + " is known only when the command runs"
	}
	for _, h := range guardsOf(c, ma.resolver) {
		if h.opaque && (ma.set.hasCommandRules || !namesItsFiles(c)) {
			return h.reason
		}
	}
	name := baseName(c.Words[0].Text)
	isRestricted := len(ma.set.strict[name]) > 0 || slices.ContainsFunc(ma.set.anyProgram, func(r *rule) bool { return r.argv != nil && r.argv[0].match(name) })
	if i := slices.IndexFunc(c.Words, isUnknown); i > 0 && isRestricted {
		return unknownValue(c.Words[i]) + ", and a rule restricts " + name
	}
	return ""
}

func runsInput(c shell.Command) bool {
	n := baseName(c.Words[0].Text)
	return shell.IsShell(n) || isVersionOf(n, interpreters) || inputRunners[n]
}

func isStatic(c shell.Command) bool {
	return !slices.ContainsFunc(c.Words, func(w shell.Word) bool { return !w.Plain() })
}

func wordTexts(words []shell.Word) []string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = w.Text
	}
	return list
}

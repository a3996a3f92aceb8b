package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/peer/shell"
	"fairlead/gateway/protocol"
)

// evaluation decides about one call. It asks the rules and the floor about each part.
type evaluation struct {
	set      *Set
	call     *Call
	resolver *pathResolver
	rules    *matcher
	paths    *fileMatcher
	floor    floor

	parts      []Part
	facts      shell.Facts
	covered    map[int]coverage // by index of the command
	risks      *risks
	offers     *offers
	enforced   []string
	unenforced []string
	lifts      lifts
	denied     *protocol.CommandRules
	mentions   string // see [Decision]
	unread     string // see [Decision]
}

// matcher compares the rules about commands, and grants, with a call.
type matcher struct {
	set      *Set
	call     *Call
	resolver *pathResolver
	now      time.Time
	// isFound means that {} in the command that is decided about stands for files of the workspace.
	isFound bool
}

// fileMatcher compares the rules about files with a call, and knows what the machine enforces.
type fileMatcher struct {
	set      *Set
	call     *Call
	resolver *pathResolver
	rules    *matcher
}

// floor finds the calls that need an approval whatever the rules say, and why.
type floor struct {
	call     *Call
	resolver *pathResolver
	zsh      bool
}

// Decide returns the verdict on a call. It asks about what it cannot check; a nil Set about all.
func (s *Set) Decide(c Call) Decision {
	if s == nil {
		const reason = "No rule allows this"
		return Decision{Verdict: Ask, Reason: reason, Parts: []Part{{Kind: "call", Text: c.Tool, Verdict: Ask, Reason: reason}}}
	}
	if c.Now.IsZero() {
		c.Now = time.Now()
	}
	k, known := shell.ParseKind(c.Shell)
	resolver := newPathResolver(&c)
	m := &matcher{set: s, call: &c, resolver: resolver, now: c.Now}
	ev := &evaluation{
		set: s, call: &c, resolver: resolver, rules: m, paths: &fileMatcher{set: s, call: &c, resolver: resolver, rules: m},
		floor: floor{&c, resolver, k == shell.Zsh}, covered: map[int]coverage{},
	}
	ev.risks = &risks{ev: ev}
	ev.offers = &offers{rules: m, resolver: resolver}
	if c.User != "" {
		ev.addPart(Part{Kind: "call", Text: c.User, Verdict: Ask, Floor: true, Reason: "Runs as another user (" + shorten(c.User) + ")", byRule: true})
	}
	if c.Command != "" {
		ev.denied = ev.paths.commandRules()
	}
	ev.lifts.floor = &ev.floor
	for _, p := range ev.lifts.requestedParts(c.Changes) {
		ev.addPart(p)
	}
	switch {
	case c.Server:
		ev.decideServer()
	case c.Input != nil:
		ev.decideInput()
	case c.Command == "" && c.Tool != "Bash":
		ev.decideFiles()
	case strings.TrimSpace(c.Command) == "":
		ev.addPart(Part{Kind: "command", Text: c.Command, Verdict: Ask, Reason: "The command is empty"})
	case !known && readsLikeBash(c.Shell, c.Command):
		ev.decideCommands(shell.Bash)
	case !known:
		ev.decideForeign()
	default:
		ev.decideCommands(k)
	}
	return ev.result()
}

// concealedReason returns the reason why a command may contain something that a rule restricts, or
// "". It is for a caller that allows every call that no rule names, such as a trusted chat.
func (s *Set) concealedReason(c Call) string {
	if s == nil || c.Command == "" || !s.hasCommandRules && len(s.fileRestrictions) == 0 && s.doubt == "" {
		return ""
	}
	allowing := *s
	allowing.fallback = Allow
	if d := allowing.Decide(c); d.Verdict != Allow {
		return d.Reason
	}
	return ""
}

// addPart adds a part. With a default that denies, it denies what asks only because of doubts.
func (ev *evaluation) addPart(p Part) {
	if p.Verdict == Ask && ev.set.fallback == Deny && !p.byRule {
		p.Verdict = Deny
	}
	ev.parts = append(ev.parts, p)
}

func (ev *evaluation) result() Decision {
	if len(ev.parts) == 0 { // a comment, or only harmless redirects
		ev.addPart(Part{Kind: "call", Text: ev.call.Command, Verdict: Ask, Reason: "The command does nothing that a rule could allow"})
	}
	first := ev.parts[0]
	r := Decision{
		Verdict: first.Verdict, Rule: first.Rule, Reason: first.Reason, Floor: first.Floor, Parts: ev.parts,
		Enforced: ev.enforced, Unenforced: ev.unenforced, Lifts: ev.lifts.paths, Records: ev.lifts.records, Rules: ev.denied, mentions: ev.mentions, unread: ev.unread,
	}
	for _, p := range ev.parts[1:] {
		floor := p.Floor && !r.Floor // the floor is the reason that no rule can remove
		r.Floor = r.Floor || p.Floor
		if p.Verdict.rank() > r.Verdict.rank() || floor && p.Verdict == r.Verdict {
			r.Verdict, r.Rule, r.Reason = p.Verdict, p.Rule, p.Reason
		}
	}
	r.Reason = ev.summary(r.Reason)
	if g, ok := ev.textGrant(r); ok {
		r.Verdict, r.Rule, r.Reason = Allow, g.ID, exactlyAllowed
	}
	if r.Verdict == Allow && ev.set.doubt != "" {
		r.Verdict, r.Rule, r.Reason = Ask, "", ev.set.doubt
		r.Parts = append(r.Parts, Part{Kind: "call", Text: ev.call.Tool, Verdict: Ask, Reason: ev.set.doubt})
	}
	if r.Verdict == Ask && !ev.offers.isBarred && !r.Floor {
		r.Offers = ev.offers.list
	}
	return r
}

// summary returns the reason for the whole command. If that is the lack of a rule for one part, it
// counts the parts that lack one, and names the only one of several.
func (ev *evaluation) summary(reason string) string {
	lacking, total := 0, 0
	isLack := false
	for _, p := range ev.parts {
		if p.Kind != "command" {
			continue
		}
		total++
		if p.Verdict == Ask && p.Reason == ev.rules.defaultReason(p.Text) {
			lacking++
			isLack = isLack || p.Reason == reason
		}
	}
	switch {
	case !isLack || lacking == 1 && total > 1:
		return reason
	case lacking == total:
		return "No rule allows this command"
	}
	return fmt.Sprintf("No rule allows %d of its %d parts", lacking, total)
}

// exactlyAllowed is the reason of a grant for a command.
const exactlyAllowed = "You allowed exactly this command in this folder"

// textGrant returns the grant for the complete text of a parsed command. It replaces missing allow
// rules, but overrides neither an ask or deny rule nor the floor.
func (ev *evaluation) textGrant(r Decision) (Grant, bool) {
	if r.Verdict == Allow || r.Floor || slices.ContainsFunc(r.Parts, func(p Part) bool { return p.Verdict != Allow && (p.Rule != "" || p.byRule) }) {
		return Grant{}, false
	}
	at := newPathResolver(ev.call) // the folder in which it starts
	return ev.rules.findGrant("Bash", func(g Grant) bool {
		return isSameShell(g.Shell, ev.call.Shell) && g.covers(ev.call) && at.isOnlyIn(g.Cwd)
	})
}

// isSameShell reports whether a grant for one shell holds for another. One without a shell holds
// for those whose language the policy can parse.
func isSameShell(granted, name string) bool {
	a, knownA := shell.ParseKind(granted)
	b, knownB := shell.ParseKind(name)
	return knownA && knownB && (granted == "" || a == b) || !knownA && !knownB && shellName(granted) == shellName(name)
}

// findGrant returns the first grant for a tool of which all conditions are met.
func (ma *matcher) findGrant(tool string, fits func(Grant) bool) (Grant, bool) {
	for _, g := range ma.set.grants {
		if g.Tool == tool && !isExpired(g.Expires, ma.now) && matchesExactly(g.Node, string(ma.call.Node), false) &&
			matchesExactly(g.Session, string(ma.call.Session), false) && fits(g) {
			return g, true
		}
	}
	return Grant{}, false
}

func (ma *matcher) defaultReason(what string) string {
	switch {
	case ma.set.fallback == Allow:
		return "No rule applies, and the default is to allow"
	case ma.set.fallback == Deny:
		return "No rule allows this, and the default is to deny"
	case what == "":
		return "No rule allows this"
	}
	return "No rule allows: " + shorten(what)
}

func unknownValue(w shell.Word) string {
	return "The value of " + shorten(w.Text) + " is known only when the command runs"
}

// shorten cuts a text for use in a sentence.
func shorten(s string) string {
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) > 60 {
		return string(r[:57]) + "…"
	}
	return string(r)
}

// unnamedRule stands for a rule with a generated ID in a sentence.
const unnamedRule = "your rule"

// label returns the name of a rule for a sentence: its own name, not a generated ID.
func (r *rule) label() string {
	if len(r.ID) == 36 && strings.Count(r.ID, "-") == 4 {
		return unnamedRule
	}
	return r.ID
}

// describe returns the reason that a rule gives for its verdict.
func (r *rule) describe() string {
	if r.Reason != "" {
		return r.Reason
	}
	what := cmp.Or(strings.Join(r.Argv, " "), r.Path, "every "+r.Tool)
	name := r.label()
	if name == unnamedRule {
		name = "Your rule"
	}
	return fmt.Sprintf("%s: %s %s", name, map[Verdict]string{Allow: "allow", Ask: "ask about", Deny: "deny"}[r.Verdict], shorten(what))
}

package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/policy/shell"
)

// evaluation is the state of one decision.
type evaluation struct {
	*matcher
	fileRules fileRules
	floor     floor

	parts      []Part
	facts      shell.Facts
	covered    map[int]coverage // by index of the command
	profile    string
	offers     []Offer
	noOffers   bool // more than a missing rule prevents an allow
	enforced   []string
	unenforced []string
}

// matcher compares rules and grants with a call.
type matcher struct {
	*Set
	call     *Call
	resolver *pathResolver
	now      time.Time
}

// fileRules applies the rules about files to commands.
type fileRules struct{ *matcher }

// floor finds the calls that need an approval whatever the rules say. Its methods return the
// reason, or "".
type floor struct {
	call     *Call
	resolver *pathResolver
	zsh      bool
}

// Decide returns the verdict on a call. It never fails: a call that it cannot check needs an
// approval. A nil Set asks about everything.
func (s *Set) Decide(c Call) Decision {
	if s == nil {
		return Decision{Verdict: Ask, Reason: "No rule allows this", Parts: []Part{{
			Kind: "call", Text: c.Tool, Verdict: Ask,
			Reason: "No rule allows this",
		}}}
	}
	ev := newEvaluation(s, &c)
	switch k, known := shell.ParseKind(c.Shell); {
	case c.Command == "" && c.Tool == "Bash":
		ev.addPart(Part{Kind: "command", Verdict: Ask, Reason: "The command is empty"})
	case c.Command == "":
		ev.decideFiles()
	case strings.TrimSpace(c.Command) == "":
		ev.addPart(Part{Kind: "command", Text: c.Command, Verdict: Ask, Reason: "The command is empty"})
	case !known:
		ev.decideForeign()
	default:
		ev.decideCommands(k)
	}
	return ev.result()
}

func newEvaluation(s *Set, c *Call) *evaluation {
	m := &matcher{Set: s, call: c, resolver: newPathResolver(c), now: c.Now}
	if m.now.IsZero() {
		m.now = time.Now()
	}
	k, _ := shell.ParseKind(c.Shell)
	return &evaluation{
		matcher: m, fileRules: fileRules{m}, floor: floor{call: c, resolver: m.resolver, zsh: k == shell.Zsh},
		covered: map[int]coverage{},
	}
}

// Doubted returns that reason, also if a strict rule of the set fails its own examples; it is ""
// for a nil Set.
func (s *Set) Doubted() string {
	if s == nil {
		return ""
	}
	return s.doubt
}

// concealed returns the reason why a command may contain something that a rule asks about or
// denies; "" if it does not. It is for a caller that allows every call that no rule names, such as
// a trusted chat.
func (s *Set) concealed(c Call) string {
	if s == nil || c.Command == "" || !s.hasCommandRules && len(s.fileRestrictions) == 0 && s.doubt == "" {
		return ""
	}
	if d := s.allowing().Decide(c); d.Verdict != Allow {
		return d.Reason
	}
	return ""
}

// allowing returns the same rules with a default that allows.
func (s *Set) allowing() *Set {
	a := *s
	a.fallback = Allow
	return &a
}

// addPart adds a part. A part that would ask only because it cannot be checked is denied if the
// default denies.
func (ev *evaluation) addPart(p Part) {
	if p.Verdict == Ask && ev.fallback == Deny && !p.byRule {
		p.Verdict = Deny
	}
	ev.parts = append(ev.parts, p)
}

func (ev *evaluation) result() Decision {
	r := Decision{Verdict: Allow, Parts: ev.parts}
	if len(ev.parts) == 0 { // a comment, or only harmless redirects
		ev.addPart(Part{Kind: "call", Text: ev.call.Command, Verdict: Ask, Reason: "The command does nothing that a rule could allow"})
		r.Parts = ev.parts
	}
	r.Reason = ev.parts[0].Reason
	r.Rule = ev.parts[0].Rule
	first := true
	for _, p := range ev.parts {
		floor := p.Floor && !r.Floor // the floor is the reason that no rule can remove
		r.Floor = r.Floor || p.Floor
		if first || p.Verdict.rank() > r.Verdict.rank() || floor && p.Verdict == r.Verdict {
			r.Verdict, r.Rule, r.Reason = p.Verdict, p.Rule, p.Reason
			first = false
		}
	}
	r.Enforced, r.Unenforced = ev.enforced, ev.unenforced
	if g, ok := ev.textGrant(r); ok {
		r.Verdict, r.Rule, r.Reason = Allow, g.ID, "You allowed exactly this command in this folder"
	}
	if r.Verdict == Allow && ev.doubt != "" {
		r.Verdict, r.Rule, r.Reason = Ask, "", ev.doubt
		r.Parts = append(r.Parts, Part{Kind: "call", Text: ev.call.Tool, Verdict: Ask, Reason: ev.doubt})
	}
	if r.Verdict == Allow {
		r.Profile = ev.profile
	}
	if r.Verdict == Ask && !ev.noOffers && !r.Floor {
		r.Offers = ev.offers
	}
	return r
}

// textGrant returns the grant for the complete text of a parsed command. It replaces missing allow
// rules, but overrides neither an ask or deny rule nor the floor.
func (ev *evaluation) textGrant(r Decision) (Grant, bool) {
	kind, known := shell.ParseKind(ev.call.Shell)
	if len(ev.grants) == 0 || r.Verdict == Allow || r.Floor || !known {
		return Grant{}, false
	}
	at := newPathResolver(ev.call) // the folder in which it starts
	if len(at.dirs) != 1 {
		return Grant{}, false
	}
	for _, p := range r.Parts {
		if p.Verdict != Allow && (p.Rule != "" || p.byRule) {
			return Grant{}, false
		}
	}
	for _, g := range ev.grants {
		if k, _ := shell.ParseKind(g.Shell); (g.Shell == "" || k == kind) && g.covers(ev.call) && at.is(at.dirs[0], clean(g.Cwd), false, false) && ev.grantApplies(g, "Bash") {
			return g, true
		}
	}
	return Grant{}, false
}

// decideAccess decides about a tool's access to files, which are all possible meanings of one path;
// ok is false if there may be others.
func (ev *evaluation) decideAccess(tool, kind, text string, paths []string, ok bool) Part {
	p := Part{Kind: kind, Text: text, Verdict: ev.fallback, Reason: ev.defaultReason(text)}
	var allowed *rule
	asked := false
	for _, r := range ev.files {
		if !ev.applies(r, tool) && (r.Verdict == Allow || tool != "Grep" || !ev.applies(r, "Read")) {
			continue
		}
		if r.Verdict == Allow {
			if allowed == nil && ok && ev.allowsFiles(r, kind, paths) {
				allowed = r
			}
			continue
		}
		switch v, reason := ev.strictOnFiles(r, tool, paths); {
		case v == Deny:
			ev.noOffers = true
			p.Verdict, p.Rule, p.Reason = Deny, r.ID, reason
			return p
		case v == Ask:
			asked, p.byRule = true, true
			p.Verdict, p.Rule, p.Reason = Ask, r.ID, reason
		case !ok && !asked:
			asked = true
			p.Verdict, p.Rule, p.Reason = Ask, "", fmt.Sprintf("The file %s is known only when the command runs, and %s restricts some files", text, r.label())
		}
	}
	switch {
	case asked:
		ev.noOffers = true
	case allowed != nil:
		p.Verdict, p.Rule, p.Reason = Allow, allowed.ID, reasonOf(allowed)
	default:
		for _, g := range ev.grants {
			if g.Path != "" && ok && ev.resolver.areOnly(paths, clean(g.Path)) && ev.grantApplies(g, tool) {
				p.Verdict, p.Rule, p.Reason = Allow, g.ID, "You allowed this"
			}
		}
	}
	if p.Verdict == Ask {
		ev.noOffers = true
	}
	return p
}

// allowsFiles reports whether an allow rule covers all of the files. A file that a shell opens
// needs a rule with a path.
func (ma *matcher) allowsFiles(r *rule, kind string, paths []string) bool {
	if r.path == nil {
		return kind != "redirect"
	}
	return len(paths) > 0 && !slices.ContainsFunc(paths, func(f string) bool { return !ma.resolver.match(r.path, f, false) })
}

// strictOnFiles returns the verdict of an ask or deny rule on a tool's access to files: "" if it
// applies to none of them.
func (ma *matcher) strictOnFiles(r *rule, tool string, paths []string) (v Verdict, reason string) {
	about := func(f string) bool { return ma.resolver.match(r.path, f, true) }
	if r.path == nil || slices.ContainsFunc(paths, about) {
		return r.Verdict, reasonOf(r)
	}
	if !ma.call.Whole && tool != "Grep" {
		return "", ""
	}
	inside := none
	for _, f := range paths {
		inside = max(inside, ma.resolver.within(r.path, f, false))
	}
	switch {
	case inside == none:
		return "", ""
	case tool == "Grep":
		return Ask, "Searches all files there; " + reasonOf(r)
	case inside == possible:
		return Ask, containsReason(r)
	}
	return r.Verdict, containsReason(r)
}

// grantApplies checks all conditions of a grant except its subject.
func (ma *matcher) grantApplies(g Grant, tool string) bool {
	return g.Tool == tool && !isExpired(g.Expires, ma.now) && matchesExactly(g.Node, string(ma.call.Node), false) && matchesExactly(g.Session, string(ma.call.Session), false)
}

func (ma *matcher) defaultReason(what string) string {
	switch ma.fallback {
	case Allow:
		return "No rule applies, and the default is to allow"
	case Deny:
		return "No rule allows this, and the default is to deny"
	}
	if what == "" {
		return "No rule allows this"
	}
	return "No rule allows: " + shorten(what)
}

// unknownValue is the reason for a word that is not in the text of the command.
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

// reasonOf returns the reason that a rule gives for its verdict.
func reasonOf(r *rule) string { return r.reason }

// describe builds that reason once, because it is used for every part of every command.
func (r *rule) describe() string {
	if r.Reason != "" {
		return r.Reason
	}
	what := r.Path
	if r.Argv != nil {
		what = strings.Join(r.Argv, " ")
	} else if what == "" {
		what = "every " + r.Tool
	}
	name := r.label()
	if name == unnamedRule {
		name = "Your rule"
	}
	return fmt.Sprintf("%s: %s %s", name, map[Verdict]string{Allow: "allow", Ask: "ask about", Deny: "deny"}[r.Verdict], shorten(what))
}

package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/policy/shell"
)

// judging is the state of one judgement.
type judging struct {
	*Set
	call    *Call
	place   *place
	now     time.Time
	parts   []Part
	facts   shell.Facts
	covered map[int]coverage // by index of the command
	profile string
	offers  []Offer
	barred  bool // more than a missing rule prevents an allow
	held    []string
	loose   []string
}

// Decide returns the verdict on a call. It never fails: a call that it cannot judge needs an
// approval. A nil Set asks about everything.
func (s *Set) Decide(c Call) Decision {
	if s == nil {
		return Decision{Verdict: Ask, Reason: "No rule allows this", Parts: []Part{{
			Kind: "call", Text: c.Tool, Verdict: Ask,
			Reason: "No rule allows this",
		}}}
	}
	j := &judging{Set: s, call: &c, now: c.Now, covered: map[int]coverage{}}
	if j.now.IsZero() {
		j.now = time.Now()
	}
	j.place = newPlace(&c)
	switch k, known := shell.ParseKind(c.Shell); {
	case c.Command == "" && c.Tool == "Bash":
		j.add(Part{Kind: "command", Verdict: Ask, Reason: "The command is empty"})
	case c.Command == "":
		j.file()
	case strings.TrimSpace(c.Command) == "":
		j.add(Part{Kind: "command", Text: c.Command, Verdict: Ask, Reason: "The command is empty"})
	case !known:
		j.foreign()
	default:
		j.command(k)
	}
	return j.result()
}

// Doubted returns that reason, also if a strict rule of the set fails its own examples; it is ""
// for a nil Set.
func (s *Set) Doubted() string {
	if s == nil {
		return ""
	}
	return s.doubt
}

// concealed returns the reason why a command may contain something that a rule asks about or denies;
// "" if it does not. It is for a caller that allows every call that no rule names, such as a
// trusted chat.
func (s *Set) concealed(c Call) string {
	if s == nil || c.Command == "" || !s.control && len(s.paths) == 0 && s.doubt == "" {
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
	a.def = Allow
	return &a
}

// add adds a part. A part that would ask only because it cannot be judged is denied if the default
// denies.
func (j *judging) add(p Part) {
	if p.Verdict == Ask && j.def == Deny && !p.ruled {
		p.Verdict = Deny
	}
	j.parts = append(j.parts, p)
}

func (j *judging) result() Decision {
	r := Decision{Verdict: Allow, Parts: j.parts}
	if len(j.parts) == 0 { // a comment, or only harmless redirects
		j.add(Part{Kind: "call", Text: j.call.Command, Verdict: Ask, Reason: "The command does nothing that a rule could allow"})
		r.Parts = j.parts
	}
	r.Reason = j.parts[0].Reason
	r.Rule = j.parts[0].Rule
	first := true
	for _, p := range j.parts {
		floor := p.Floor && !r.Floor // the floor is the reason that no rule can remove
		r.Floor = r.Floor || p.Floor
		if first || p.Verdict.rank() > r.Verdict.rank() || floor && p.Verdict == r.Verdict {
			r.Verdict, r.Rule, r.Reason = p.Verdict, p.Rule, p.Reason
			first = false
		}
	}
	r.Held, r.Loose = j.held, j.loose
	if g, ok := j.whole(r); ok {
		r.Verdict, r.Rule, r.Reason = Allow, g.ID, "You allowed exactly this command in this folder"
	}
	if r.Verdict == Allow && j.doubt != "" {
		r.Verdict, r.Rule, r.Reason = Ask, "", j.doubt
		r.Parts = append(r.Parts, Part{Kind: "call", Text: j.call.Tool, Verdict: Ask, Reason: j.doubt})
	}
	if r.Verdict == Allow {
		r.Profile = j.profile
	}
	if r.Verdict == Ask && !j.barred && !r.Floor {
		r.Offers = j.offers
	}
	return r
}

// whole returns the grant for the complete text of a parsed command. It replaces missing allow
// rules, but overrides neither an ask or deny rule nor the floor.
func (j *judging) whole(r Decision) (Grant, bool) {
	kind, known := shell.ParseKind(j.call.Shell)
	if len(j.grants) == 0 || r.Verdict == Allow || r.Floor || !known {
		return Grant{}, false
	}
	at := newPlace(j.call) // the folder in which it starts
	if len(at.dirs) != 1 {
		return Grant{}, false
	}
	for _, p := range r.Parts {
		if p.Verdict != Allow && (p.Rule != "" || p.ruled) {
			return Grant{}, false
		}
	}
	for _, g := range j.grants {
		if k, _ := shell.ParseKind(g.Shell); (g.Shell == "" || k == kind) && g.covers(j.call) && at.is(at.dirs[0], clean(g.Cwd), false, false) && j.granted(g, "Bash") {
			return g, true
		}
	}
	return Grant{}, false
}

// open judges a tool's access to files, which are all possible meanings of one path; ok is false if
// there may be others.
func (j *judging) open(tool, kind, text string, paths []string, ok bool) Part {
	p := Part{Kind: kind, Text: text, Verdict: j.def, Reason: j.defaultReason(text)}
	var allowed *rule
	asked := false
	for _, r := range j.files {
		if !j.applies(r, tool) && (r.Verdict == Allow || tool != "Grep" || !j.applies(r, "Read")) {
			continue
		}
		if r.Verdict == Allow {
			if allowed == nil && ok && j.lets(r, kind, paths) {
				allowed = r
			}
			continue
		}
		switch v, reason := j.strictOn(r, tool, paths); {
		case v == Deny:
			j.barred = true
			p.Verdict, p.Rule, p.Reason = Deny, r.ID, reason
			return p
		case v == Ask:
			asked, p.ruled = true, true
			p.Verdict, p.Rule, p.Reason = Ask, r.ID, reason
		case !ok && !asked:
			asked = true
			p.Verdict, p.Rule, p.Reason = Ask, "", fmt.Sprintf("The file %s is known only when the command runs, and %s restricts some files", text, r.called())
		}
	}
	switch {
	case asked:
		j.barred = true
	case allowed != nil:
		p.Verdict, p.Rule, p.Reason = Allow, allowed.ID, ruleReason(allowed)
	default:
		for _, g := range j.grants {
			if g.Path != "" && ok && j.place.only(paths, clean(g.Path)) && j.granted(g, tool) {
				p.Verdict, p.Rule, p.Reason = Allow, g.ID, "You allowed this"
			}
		}
	}
	if p.Verdict == Ask {
		j.barred = true
	}
	return p
}

// lets reports whether an allow rule covers all of the files. A file that a shell opens needs a
// rule with a path.
func (j *judging) lets(r *rule, kind string, paths []string) bool {
	if r.path == nil {
		return kind != "redirect"
	}
	return len(paths) > 0 && !slices.ContainsFunc(paths, func(f string) bool { return !j.place.match(r.path, f, false) })
}

// strictOn returns the verdict of an ask or deny rule on a tool's access to files: "" if it applies
// to none of them.
func (j *judging) strictOn(r *rule, tool string, paths []string) (v Verdict, reason string) {
	about := func(f string) bool { return j.place.match(r.path, f, true) }
	if r.path == nil || slices.ContainsFunc(paths, about) {
		return r.Verdict, ruleReason(r)
	}
	if !j.call.Whole && tool != "Grep" {
		return "", ""
	}
	inside := none
	for _, f := range paths {
		inside = max(inside, j.place.within(r.path, f, false))
	}
	switch {
	case inside == none:
		return "", ""
	case tool == "Grep":
		return Ask, "Searches all files there; " + ruleReason(r)
	case inside == possible:
		return Ask, insideReason(r)
	}
	return r.Verdict, insideReason(r)
}

// granted checks all conditions of a grant except its subject.
func (j *judging) granted(g Grant, tool string) bool {
	return g.Tool == tool && !expired(g.Expires, j.now) && exact(g.Node, string(j.call.Node), false) && exact(g.Session, string(j.call.Session), false)
}

func (j *judging) defaultReason(what string) string {
	switch j.def {
	case Allow:
		return "No rule applies, and the default is to allow"
	case Deny:
		return "No rule allows this, and the default is to deny"
	}
	if what == "" {
		return "No rule allows this"
	}
	return "No rule allows: " + short(what)
}

// unknownValue is the reason for a word that is not in the text of the command.
func unknownValue(w shell.Word) string {
	return "The value of " + short(w.Text) + " is known only when the command runs"
}

// short cuts a text for use in a sentence.
func short(s string) string {
	r := []rune(strings.Join(strings.Fields(s), " "))
	if len(r) > 60 {
		return string(r[:57]) + "…"
	}
	return string(r)
}

// unnamedRule stands for a rule with a generated ID in a sentence.
const unnamedRule = "your rule"

// called returns the name of a rule for a sentence: its own name, not a generated ID.
func (r *rule) called() string {
	if len(r.ID) == 36 && strings.Count(r.ID, "-") == 4 {
		return unnamedRule
	}
	return r.ID
}

// ruleReason returns the reason that a rule gives for its verdict.
func ruleReason(r *rule) string { return r.why }

// says builds that reason once, because it is used for every part of every command.
func (r *rule) says() string {
	if r.Reason != "" {
		return r.Reason
	}
	what := r.Path
	if r.Argv != nil {
		what = strings.Join(r.Argv, " ")
	} else if what == "" {
		what = "every " + r.Tool
	}
	name := r.called()
	if name == unnamedRule {
		name = "Your rule"
	}
	return fmt.Sprintf("%s: %s %s", name, map[Verdict]string{Allow: "allow", Ask: "ask about", Deny: "deny"}[r.Verdict], short(what))
}

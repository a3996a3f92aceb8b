package policy

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"fairlead/gateway/peer/shell"
)

// fileDecision is the result of the rules about files for a command so far.
type fileDecision struct {
	verdict     Verdict
	rule        *rule
	reason      string
	unknownWord string // the word that led to it, if its file is unknown
}

// decideFileRules applies the strict rules about files to a command's words: with their verdict for
// programs that are known to read or write the files in their arguments; for others it asks.
func (fm *fileMatcher) decideFileRules(c shell.Command) (v Verdict, match *rule, why string) {
	if len(fm.set.fileRestrictions) == 0 || c.Words[0].Dynamic {
		return "", nil, ""
	}
	name := baseName(c.Words[0].Text)
	if noFileArguments[name] {
		return "", nil, ""
	}
	var t fileDecision
	for _, m := range fileWords(name, c) {
		fm.checkMention(m, !isSeparate(name), &t)
	}
	if t.verdict == Deny {
		return t.verdict, t.rule, t.reason
	}
	if r, sure, reason := fm.arrivalRule(c, name); r != nil && (t.rule == nil || t.unknownWord != "" || sure) {
		t = fileDecision{verdict: Ask, rule: r, reason: reason}
		if sure && r.Verdict == Deny {
			t.verdict = Deny
		}
	}
	if t.rule == nil {
		t.verdict, t.rule, t.reason = fm.folderRule(c)
	}
	if t.unknownWord != "" {
		t.reason = "The file " + shorten(t.unknownWord) + " is known only when the command runs, and " + t.rule.label() + " restricts " + shorten(t.rule.Path)
	}
	return t.verdict, t.rule, t.reason
}

// checkMention handles one word. isKept means that the program has only what the machine leaves it.
func (fm *fileMatcher) checkMention(m fileWord, isKept bool, t *fileDecision) {
	var list []string
	if !m.word.Dynamic {
		m.word = fm.resolver.expandShortNames(m.word)
		list, _ = fm.resolver.paths(m.word)
	}
	if m.word.Dynamic || len(list) == 0 && m.sure { // or the folder is unknown
		i := slices.IndexFunc(fm.set.fileRestrictions, func(r *rule) bool { return fm.appliesToAny(r, m.tools) && !(isKept && fm.keeps(r, m.tools)) })
		if i >= 0 && t.rule == nil {
			t.verdict, t.rule, t.unknownWord = Ask, fm.set.fileRestrictions[i], m.word.Text
		}
		return
	}
	for _, r := range fm.set.fileRestrictions {
		if !fm.appliesToAny(r, m.tools) {
			continue
		}
		hit := fm.names(r, list, m.word.Glob)
		if hit || m.withContents && slices.ContainsFunc(list, func(f string) bool { return fm.resolver.places.within(r.path, f, m.word.Glob) == certain }) {
			t.apply(r, m, hit)
		}
	}
}

// apply handles a word that names a file of a rule, or, if hit is false, a folder that contains it.
func (t *fileDecision) apply(r *rule, m fileWord, hit bool) {
	got := Ask
	if m.sure && r.Verdict == Deny && !m.word.Glob {
		got = Deny
	}
	if t.rule != nil && t.unknownWord == "" && !(got == Deny && t.verdict != Deny) {
		return
	}
	*t = fileDecision{verdict: got, rule: r, reason: r.reason}
	switch {
	case !hit:
		t.reason = containsReason(r)
	case got == Ask:
		t.reason = "May open " + shorten(r.Path) + ", which " + r.label() + " restricts"
	}
}

// appliesToAny reports whether a rule applies to calls of one of the tools.
func (fm *fileMatcher) appliesToAny(r *rule, tools []string) bool {
	return slices.ContainsFunc(tools, func(t string) bool { return fm.rules.applies(r, t) })
}

// names reports whether a rule is about one of the files, or may be if they are shell patterns.
func (fm *fileMatcher) names(r *rule, files []string, arePatterns bool) bool {
	return slices.ContainsFunc(files, func(f string) bool {
		return fm.resolver.places.match(r.path, f, true) || arePatterns && fm.resolver.places.mayMeet(r.path, f)
	})
}

// containsReason is the reason of a rule that applies to a folder because of its possible contents.
func containsReason(r *rule) string { return "Includes " + shorten(r.Path) + "; " + r.reason }

// namesItsFiles reports whether the rules about files can check a program although it runs
// something that cannot be checked: a command that xargs starts is checked separately, another
// machine has other files, and a database query names the files that it opens.
func namesItsFiles(c shell.Command) bool {
	switch baseName(c.Words[0].Text) {
	case "xargs", "gxargs", "parallel", "ssh", "scp", "sftp", "mosh":
		return c.Starts || len(c.Words) > 1
	}
	words := c.Words[1:]
	isCode := func(w shell.Word) bool {
		return w.Dynamic || startsCode.MatchString(w.Text) || strings.HasPrefix(w.Text, "--fi") ||
			w.Text == "-f" || w.Text == "-i" || w.Text == "-init"
	}
	return !c.Piped && c.Stdin == nil && !slices.ContainsFunc(words, isCode) &&
		len(tableAccesses("query:"+baseName(c.Words[0].Text), words)) > 0
}

// startsCode matches words with which database clients run scripts, code or programs.
var startsCode = regexp.MustCompile(`(?i)[|\\]|load|\.(re|sh|sy|ex|in)|system|program|source|edit|^--.$`)

func (ev *evaluation) decideFiles() {
	if len(ev.call.Paths) == 0 {
		ev.addPart(ev.decideAccess(ev.call.Tool, "call", ev.call.Tool, nil, true))
	}
	write, floor, protected := mayWrite(ev.call.Tool), false, ev.floor.fileReason
	if ev.call.Whole {
		protected = ev.floor.folderReason
	}
	for _, p := range ev.call.Paths {
		list, ok := ev.resolver.paths(shell.Word{Text: p})
		part := ev.decideAccess(ev.call.Tool, "file", p, list, ok)
		if why := cmp.Or(ev.call.Keep, protected(list)); write && why != "" && part.Verdict != Deny {
			floor, part.byRule, part.Floor = true, true, true
			part.set(Ask, "", why)
		}
		ev.addPart(part)
	}
	if !write || floor || ev.call.Named == "" {
		return
	}
	if why := protected(ev.resolver.pathsOf(shell.Word{Text: ev.call.Named})); why != "" {
		ev.addPart(Part{Kind: "file", Text: ev.call.Named, Verdict: Ask, Floor: true, Reason: why, byRule: true})
	}
}

// mayWrite reports whether a file tool is not known to be read-only.
func mayWrite(tool string) bool { return tool != "Read" && tool != "Glob" && tool != "Grep" }

// decideAccess decides about an access to the meanings of one path; without ok there may be others.
func (ev *evaluation) decideAccess(tool, kind, text string, paths []string, ok bool) Part {
	p := Part{Kind: kind, Text: text, Verdict: ev.set.fallback, Reason: ev.rules.defaultReason(text)}
	var allowed *rule
	asked := false
	for _, r := range ev.set.files {
		if !ev.rules.applies(r, tool) && (r.Verdict == Allow || tool != "Grep" || !ev.rules.applies(r, "Read")) {
			continue
		}
		if r.Verdict == Allow {
			if allowed == nil && ok && ev.paths.allowsFiles(r, kind, paths) {
				allowed = r
			}
			continue
		}
		switch v, reason := ev.paths.strictOnFiles(r, tool, paths); {
		case v == Deny:
			ev.offers.isBarred = true
			p.set(Deny, r.ID, reason)
			return p
		case v == Ask:
			asked, p.byRule = true, true
			p.set(Ask, r.ID, reason)
		case !ok && !asked && !(kind == "redirect" && ev.paths.keeps(r, []string{tool})):
			asked = true
			p.set(Ask, "", fmt.Sprintf("The file %s is known only when the command runs, and %s restricts some files", text, r.label()))
		}
	}
	switch {
	case asked:
	case allowed != nil:
		p.set(Allow, allowed.ID, allowed.reason)
	case ok && len(paths) > 0:
		g, ok := ev.rules.findGrant(tool, func(g Grant) bool {
			return g.Path != "" && !slices.ContainsFunc(paths, func(f string) bool {
				return ev.resolver.places.realPath(f) != ev.resolver.places.realPath(clean(g.Path))
			})
		})
		if ok {
			p.set(Allow, g.ID, "You allowed this")
		}
	}
	ev.offers.isBarred = ev.offers.isBarred || p.Verdict == Ask
	return p
}

// allowsFiles reports whether an allow rule covers all files. Redirects need a rule with a path.
func (fm *fileMatcher) allowsFiles(r *rule, kind string, paths []string) bool {
	if r.path == nil {
		return kind != "redirect"
	}
	return len(paths) > 0 && !slices.ContainsFunc(paths, func(f string) bool { return !fm.resolver.places.match(r.path, f, false) })
}

// strictOnFiles returns the verdict of an ask or deny rule on files, or "".
func (fm *fileMatcher) strictOnFiles(r *rule, tool string, paths []string) (v Verdict, reason string) {
	if r.path == nil || fm.names(r, paths, false) {
		return r.Verdict, r.reason
	}
	if !fm.call.Whole && tool != "Grep" {
		return "", ""
	}
	inside := none
	for _, f := range paths {
		inside = max(inside, fm.resolver.places.within(r.path, f, false))
	}
	switch {
	case inside == none:
		return "", ""
	case tool == "Grep":
		return Ask, "Searches all files there; " + r.reason
	case inside == possible:
		return Ask, containsReason(r)
	}
	return r.Verdict, containsReason(r)
}

func (ev *evaluation) decideRedirect(r shell.Redirect) {
	w := r.Path
	if w.Plain() && harmlessDevices[w.Text] {
		return
	}
	tool := "Read"
	if r.Write {
		tool = "Write"
	}
	list, ok := ev.resolver.paths(ev.resolver.expandShortNames(w))
	p := ev.decideAccess(tool, "redirect", r.Text, list, ok && !r.Guess)
	switch why := ev.floor.fileReason(list); {
	case p.Verdict == Deny && r.Guess:
		p.Verdict, p.Reason = Ask, "May open a file that a rule denies"
	case p.Verdict == Deny:
	case strings.HasPrefix(w.Text, "/dev/tcp/") || strings.HasPrefix(w.Text, "/dev/udp/"):
		p.set(Ask, "", "Opens a network connection")
	case r.Write && why != "":
		p.byRule, p.Floor = true, true
		p.set(Ask, "", why)
		ev.lifts.add(&p, list)
	case r.Write && !ok && (w.Dynamic || w.Ambiguous || ev.resolver.dirs == nil):
		p.set(Ask, "", "The file it writes is known only when the command runs")
	}
	ev.offers.isBarred = ev.offers.isBarred || p.Verdict != Allow
	ev.risks.describeRedirect(r, list, &p)
	ev.addPart(p)
}

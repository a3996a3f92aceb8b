package policy

import (
	"fmt"
	"slices"
	"strings"

	"fairlead/gateway/policy/shell"
)

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
		if why := protected(list); write && why != "" && part.Verdict != Deny {
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
			p.set(Deny, r.ID, reason)
			return p
		case v == Ask:
			asked, p.byRule = true, true
			p.set(Ask, r.ID, reason)
		case !ok && !asked:
			asked = true
			p.set(Ask, "", fmt.Sprintf("The file %s is known only when the command runs, and %s restricts some files", text, r.label()))
		}
	}
	switch {
	case asked:
	case allowed != nil:
		p.set(Allow, allowed.ID, allowed.reason)
	case ok && len(paths) > 0:
		g, ok := ev.findGrant(tool, func(g Grant) bool {
			return g.Path != "" && !slices.ContainsFunc(paths, func(f string) bool { return ev.resolver.realPath(f) != ev.resolver.realPath(clean(g.Path)) })
		})
		if ok {
			p.set(Allow, g.ID, "You allowed this")
		}
	}
	ev.noOffers = ev.noOffers || p.Verdict == Ask
	return p
}

// allowsFiles reports whether an allow rule covers all files. Redirects need a rule with a path.
func (ma *matcher) allowsFiles(r *rule, kind string, paths []string) bool {
	if r.path == nil {
		return kind != "redirect"
	}
	return len(paths) > 0 && !slices.ContainsFunc(paths, func(f string) bool { return !ma.resolver.match(r.path, f, false) })
}

// strictOnFiles returns the verdict of an ask or deny rule on files, or "".
func (ma *matcher) strictOnFiles(r *rule, tool string, paths []string) (v Verdict, reason string) {
	if r.path == nil || ma.names(r, paths, false) {
		return r.Verdict, r.reason
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
		return Ask, "Searches all files there; " + r.reason
	case inside == possible:
		return Ask, containsReason(r)
	}
	return r.Verdict, containsReason(r)
}

func (ev *evaluation) decideRedirect(r shell.Redirect) {
	w := r.Path
	if w.Plain() {
		switch w.Text {
		case "/dev/null", "/dev/stdout", "/dev/stderr":
			return
		}
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
	case r.Write && !ok && (w.Dynamic || w.Ambiguous || ev.resolver.dirs == nil):
		p.set(Ask, "", "The file it writes is known only when the command runs")
	}
	ev.noOffers = ev.noOffers || p.Verdict != Allow
	ev.addPart(p)
}

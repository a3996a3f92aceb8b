package policy

import (
	"regexp"
	"slices"
	"strings"

	"fairlead/gateway/peer/shell"
)

// decideInput decides about a text for the input of a running command. A shell that reads complete
// lines runs them as commands. What another program does with the text is unknown: it needs an
// approval, unless the person allowed everything that is typed into that command. Rules that deny
// and the floor apply to it as if a shell read it.
func (ev *evaluation) decideInput() {
	in := ev.call.Input
	own := ev.decideAccess(ev.call.Tool, "call", ev.call.Tool, nil, true) // rules about the tool itself
	ev.offers.isBarred = false
	if own.Rule != "" && own.Verdict != Allow {
		ev.addPart(own)
	}
	if k, known := shell.ParseKind(in.Shell); known && in.Shell != "" && !history.MatchString(in.Text) && ev.follow(shell.Analyze(in.Before, k)) {
		ev.decideCommands(k)
		return
	}
	as := *ev.call
	as.Input, as.Shell = nil, string(shell.Bash)
	for _, p := range ev.set.Decide(as).Parts {
		if p.Verdict == Deny && p.Rule != "" || p.Floor {
			ev.addPart(p)
		}
	}
	p := Part{Kind: "call", Text: ev.call.Command, Verdict: Ask, Reason: "It may run the text as code"}
	if own.Rule != "" && own.Verdict == Allow {
		p.set(Allow, own.Rule, own.Reason)
	} else {
		ev.mentions = p.Reason
	}
	ev.offers.isBarred = true
	ev.addPart(p)
}

// history matches lines that a shell may complete from its history, if that is on.
var history = regexp.MustCompile(`![^\s=(]|(?m:^\^)`)

// follow repeats the changes of the folder by earlier input. It reports whether the shell still
// reads commands as usual, with no new meaning of a name or a variable.
func (ev *evaluation) follow(before shell.Facts) bool {
	isChange := func(c shell.Command) bool { return shellBuiltins[baseName(c.Words[0].Text)] || c.Words[0].Dynamic }
	isSensitive := func(a shell.Assign) bool {
		return sensitiveVariable.MatchString(a.Name) || sensitiveZshVariable.MatchString(a.Name)
	}
	if slices.ContainsFunc(before.Findings, func(f shell.Finding) bool { return !f.Soft }) ||
		slices.ContainsFunc(before.Commands, isChange) || slices.ContainsFunc(before.Assigns, isSensitive) {
		return false
	}
	ev.resolver.enter(before.Last)
	ev.resolver.starts = ev.resolver.dirs
	return true
}

// InputMatch is the prefix of the text of a chat's permission to type into a running command,
// before the command's ID.
const InputMatch = "input "

// typesInto names the running command that a call types into.
func typesInto(command string) string {
	return "Types into “" + shorten(strings.TrimSpace(command)) + "”"
}

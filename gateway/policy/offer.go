package policy

import (
	"path"
	"slices"
	"strings"

	"fairlead/gateway/policy/shell"
)

// addOffers adds the rules that would have allowed a command.
func (ev *evaluation) addOffers(c shell.Command, why string) {
	name := baseName(c.Words[0].Text)
	hits := guardsOf(c, ev.resolver)
	// A rule that contains the merely unknown words may be offered.
	barred := why != "" && !slices.ContainsFunc(hits, func(h guard) bool { return h.reason == why })
	lead := ev.leadingCount(c)
	switch {
	case barred, !isStatic(c), c.Parent >= 0, c.Origin != "", slices.ContainsFunc(hits, func(h guard) bool { return !h.unknown }),
		name != c.Words[0].Text || strings.Contains(c.Words[0].Text, "="):
		ev.noOffers = ev.noOffers || why != "" || c.Parent >= 0
		return
	case shell.IsShell(name), shell.IsLauncher(name), isVersionOf(name, interpreters), shellBuiltins[name], userSwitchers[name], name == "xargs",
		name == "find" && len(c.Words) < 2, optionTables[name].runsCode() && len(c.Words) < 2:
		return
	case needSubcommand[name] && (len(c.Words) < lead+2 || isFlag(c.Words[lead+1].Text)):
		return
	}
	words := wordTexts(c.Words)
	argv := escapeStars(words)
	ev.addOffer(argv, "exactly "+strings.Join(words, " "))
	words = append(words[:1], words[1+lead:]...)
	for _, u := range openOffers {
		outside := func(h guard) bool { return h.at <= lead || h.at >= lead+len(u) }
		if len(words) >= len(u) && slices.Equal(words[:len(u)], u) && !slices.ContainsFunc(hits, outside) {
			ev.addOffer(append(escapeStars(u), "**"), strings.Join(u, " ")+" with any arguments")
			break
		}
	}
}

func (ev *evaluation) addOffer(argv []string, text string) {
	for _, o := range ev.offers {
		if strings.Join(o.Rule.Argv, "\x00") == strings.Join(argv, "\x00") {
			return
		}
	}
	r := Rule{Tool: "Bash", Argv: argv, Verdict: Allow, Source: SourceUser, Node: string(ev.call.Node)}
	if ev.resolver.root != "" {
		r.Cwd = path.Clean(ev.resolver.root) + "/**"
		if ev.resolver.root == "/" {
			r.Cwd = ""
		}
	}
	ev.offers = append(ev.offers, Offer{Rule: r, Text: text})
}

// escapeStars escapes words so that a pattern matches them literally.
func escapeStars(words []string) []string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = strings.ReplaceAll(w, "*", `\*`)
	}
	return list
}

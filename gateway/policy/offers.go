package policy

import (
	"slices"
	"strings"

	"fairlead/gateway/peer/shell"
)

// offers are the rules that the answer to a question can create.
type offers struct {
	rules    *matcher
	resolver *pathResolver
	list     []Offer
	isBarred bool // more than a missing rule prevents an allow
}

// addFor adds the rules that would allow a command for which a rule is missing, or which is doubted
// because of why. exactOnly means that only a rule with all of its words covers it.
func (o *offers) addFor(c shell.Command, why string, exactOnly bool) {
	name := baseName(c.Words[0].Text)
	hits := guardsOf(c, o.resolver)
	// A rule that contains the merely unknown words may be offered.
	barred := why != "" && !slices.ContainsFunc(hits, func(h guard) bool { return h.reason == why })
	lead := leadingOptions(c.Name(), c.Words, o.resolver)
	switch {
	case barred, !isStatic(c), c.Parent >= 0, c.Origin != "", slices.ContainsFunc(hits, func(h guard) bool { return !h.unknown }),
		name != c.Words[0].Text || strings.Contains(c.Words[0].Text, "="):
		o.isBarred = o.isBarred || why != "" || c.Parent >= 0
		return
	case shell.IsShell(name), shell.IsLauncher(name), isVersionOf(name, interpreters), shellBuiltins[name], userSwitchers[name], name == "xargs",
		name == "find" && len(c.Words) < 2, optionTables()[name].runsCode() && len(c.Words) < 2:
		return
	case needSubcommand[name] && (len(c.Words) < lead+2 || isFlag(c.Words[lead+1].Text)):
		return
	}
	words := wordTexts(c.Words)
	argv := escapeStars(words)
	o.add(argv, "exactly "+strings.Join(words, " "))
	if exactOnly {
		return
	}
	for _, pattern := range valueOffers {
		spelled := func(at int) bool { return at >= 0 && at < len(pattern) && pattern[at] != "*" }
		if matchesOffer(pattern, c.Words) && len(o.rules.missingWords(c, spelled)) == 0 {
			o.add(pattern, strings.Join(pattern, " "))
			break
		}
	}
	if wordOffers[name] && len(c.Words) > 1 && len(hits) == 0 {
		o.add([]string{name, "**"}, name+" with any arguments")
	}
	words = append(words[:1], words[1+lead:]...)
	for _, u := range openOffers {
		outside := func(h guard) bool { return h.at <= lead || h.at >= lead+len(u) }
		if len(words) >= len(u) && slices.Equal(words[:len(u)], u) && !slices.ContainsFunc(hits, outside) {
			o.add(append(escapeStars(u), "**"), strings.Join(u, " ")+" with any arguments")
			break
		}
	}
}

// matchesOffer reports whether a command has the words of an offer, with any value that is not an
// option for each *.
func matchesOffer(pattern []string, words []shell.Word) bool {
	return slices.EqualFunc(pattern, words, func(p string, w shell.Word) bool {
		return p == w.Text || p == "*" && !isFlag(w.Text)
	})
}

func (o *offers) add(argv []string, text string) {
	if slices.ContainsFunc(o.list, func(x Offer) bool { return slices.Equal(x.Rule.Argv, argv) }) {
		return
	}
	r := Rule{Tool: "Bash", Argv: argv, Verdict: Allow, Source: SourceUser, Node: string(o.rules.call.Node)}
	o.list = append(o.list, Offer{Rule: r, Text: text})
}

func escapeStars(words []string) []string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = strings.ReplaceAll(w, "*", `\*`)
	}
	return list
}

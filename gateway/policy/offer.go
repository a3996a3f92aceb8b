package policy

import (
	"path"
	"slices"
	"strings"

	"fairlead/gateway/policy/shell"
)

// offer adds the rules that would have allowed a command.
func (j *judging) offer(c shell.Command, why string) {
	name := base(c.Words[0].Text)
	hits := guards(c, j.place)
	// A rule that contains the merely unknown words may be offered.
	barred := why != "" && !slices.ContainsFunc(hits, func(h hit) bool { return h.why == why })
	lead := j.leading(c)
	switch {
	case barred, !static(c), c.Parent >= 0, c.Origin != "", slices.ContainsFunc(hits, func(h hit) bool { return !h.unknown }),
		name != c.Words[0].Text || strings.Contains(c.Words[0].Text, "="):
		j.barred = j.barred || why != "" || c.Parent >= 0
		return
	case shell.Shells(name), shell.Launches(name), versioned(name, interpreters), shellBuiltins[name], userSwitchers[name], name == "xargs",
		name == "find" && len(c.Words) < 2, optionTables[name].runsCode() && len(c.Words) < 2:
		return
	case needSubcommand[name] && (len(c.Words) < lead+2 || isFlag(c.Words[lead+1].Text)):
		return
	}
	words := texts(c.Words)
	argv := escaped(words)
	j.propose(argv, "exactly "+strings.Join(words, " "))
	words = append(words[:1], words[1+lead:]...)
	for _, u := range openOffers {
		outside := func(h hit) bool { return h.at <= lead || h.at >= lead+len(u) }
		if len(words) >= len(u) && slices.Equal(words[:len(u)], u) && !slices.ContainsFunc(hits, outside) {
			j.propose(append(escaped(u), "**"), strings.Join(u, " ")+" with any arguments")
			break
		}
	}
}

func (j *judging) propose(argv []string, text string) {
	for _, o := range j.offers {
		if strings.Join(o.Rule.Argv, "\x00") == strings.Join(argv, "\x00") {
			return
		}
	}
	r := Rule{Tool: "Bash", Argv: argv, Verdict: Allow, Source: SourceUser, Node: string(j.call.Node)}
	if j.place.root != "" {
		r.Cwd = path.Clean(j.place.root) + "/**"
		if j.place.root == "/" {
			r.Cwd = ""
		}
	}
	j.offers = append(j.offers, Offer{Rule: r, Text: text})
}

// escaped escapes words so that a pattern matches them literally.
func escaped(words []string) []string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = strings.ReplaceAll(w, "*", `\*`)
	}
	return list
}

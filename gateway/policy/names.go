package policy

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"fairlead/gateway/policy/shell"
)

// fullName returns the subcommand that a word means, or the word.
func (v vocabulary) fullName(word string) string {
	if f, ok := v.aliases[word]; ok {
		return f
	}
	if !v.prefixes || v.names == nil || word == "" {
		return word
	}
	// npm accepts cleanInstall for clean-install
	word = upper.ReplaceAllStringFunc(word, func(s string) string { return "-" + strings.ToLower(s) })
	if slices.Contains(v.names, word) {
		return word
	}
	found := map[string]bool{}
	for _, n := range v.names {
		found[n] = found[n] || strings.HasPrefix(n, word)
	}
	for alias, n := range v.aliases {
		found[n] = found[n] || strings.HasPrefix(alias, word)
	}
	maps.DeleteFunc(found, func(_ string, begins bool) bool { return !begins })
	for n := range found {
		if len(found) == 1 {
			return n
		}
	}
	return word // unknown, or ambiguous: the program accepts none
}

var upper = regexp.MustCompile(`[A-Z]`)

// matchAlias compares the words after the program with those of a strict rule, as aliases.
func matchAlias(name string, pattern []glob, words []shell.Word) certainty {
	v, ok := vocabularies[name]
	if !ok {
		return none
	}
	// the rule's subcommand
	at := slices.IndexFunc(pattern, func(g glob) bool { return g.literal() && !isFlag(g.parts[0]) })
	if at < 0 {
		return none
	}
	said := pattern[at].parts[0]
	want := v.fullName(said)
	best := none
	for i, w := range words {
		if w.Dynamic || isFlag(w.Text) || w.Text == "" || w.Text == said {
			continue
		}
		sure := certain
		if v.fullName(w.Text) != want {
			if !v.prefixes || v.names != nil || !strings.HasPrefix(want, strings.ToLower(w.Text)) {
				continue
			}
			sure = possible
		}
		as := slices.Clone(words)
		as[i].Text = said
		best = max(best, min(sure, strictRest(name, pattern, as)))
	}
	return best
}

// withoutCommandGroup returns a program's words without one that changes nothing: a toolchain's
// name, or the command group. It returns nil if there is no such word.
func withoutCommandGroup(program string, words []shell.Word) []shell.Word {
	if len(words) < 2 || words[0].Dynamic {
		return nil
	}
	first := words[0].Text
	switch program {
	case "cargo", "rustc", "rustdoc", "rustfmt":
		if strings.HasPrefix(first, "+") {
			return words[1:]
		}
	case "docker", "podman", "nerdctl":
		for i, w := range words[:len(words)-1] { // docker --context x container run
			switch w.Text {
			case "container", "image", "builder", "buildx", "system":
				return slices.Delete(slices.Clone(words), i, i+1)
			}
		}
	case "yarn":
		switch {
		case first == "npm":
			return words[1:]
		case first == "workspace" && len(words) > 2: // yarn workspace NAME publish
			if words[2].Text == "npm" && len(words) > 3 {
				return words[3:]
			}
			return words[2:]
		}
	case "pnpm":
		if first == "recursive" || first == "multi" {
			return words[1:]
		}
	}
	return nil
}

// unversionedName returns a program's name without its version, as for python3.12 or npm@latest.
func unversionedName(name string) string {
	if s, ok := scriptNames[name]; ok {
		return s
	}
	if plain, ok := strings.CutPrefix(name, "zf_"); ok { // zsh's own
		return plain
	}
	if plain, _, ok := strings.Cut(name, "@"); ok && plain != "" {
		return plain
	}
	plain := strings.TrimRight(name, "0123456789.-")
	if plain != name && versionedNames[plain] {
		return plain
	}
	return name
}

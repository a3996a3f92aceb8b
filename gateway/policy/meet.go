package policy

import (
	"path"
	"strings"
)

// mayMeet reports whether a shell's pattern, as a path, may match a file that g matches.
func (g pathGlob) mayMeet(pattern, root, home string) bool {
	if _, surely := below(pattern, root); surely && g.outside {
		return false
	}
	parts := g.low
	switch { // wildcards may stand for the folders above, too: /ho*/ann
	case g.home && home == "":
		return true
	case g.home:
		parts = inFull(home, parts)
	case !g.outside && !g.abs && root != "":
		parts = inFull(root, parts)
	case !g.outside && !g.abs:
		return false
	}
	return meetParts(parts, strings.Split(strings.TrimPrefix(fold(pattern), "/"), "/"))
}

// inFull joins a pattern's parts to those of the folder that it is relative to.
func inFull(dir string, parts []string) []string {
	full := strings.Split(strings.Trim(fold(dir), "/"), "/")
	for i, p := range full {
		full[i] = literal.Replace(p)
	}
	return append(full, parts...)
}

// literal escapes a name so that it is a pattern for itself.
var literal = strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`)

// meetParts reports whether some path matches both a rule's parts and those of a shell's pattern.
func meetParts(rule, words []string) bool {
	switch {
	case len(words) > 0 && words[0] == "**":
		// depending on the shell's options, any number of folders
		return true
	case len(rule) == 0:
		return len(words) == 0
	case rule[0] == "**":
		for i := range len(words) + 1 {
			if meetParts(rule[1:], words[i:]) {
				return true
			}
		}
		return false
	case len(words) == 0:
		return false
	}
	return meetPart(rule[0], words[0]) && meetParts(rule[1:], words[1:])
}

// meetPart compares one part of each. If both are patterns, they meet unless their beginnings or
// ends differ.
func meetPart(rule, word string) bool {
	// zsh's own patterns, which may match anything
	if i := strings.IndexAny(word, "^#~"); i >= 0 && !strings.Contains(word, "[^") {
		word = word[:i] + "*"
	}
	word = strings.ReplaceAll(word, "[!", "[^")
	if !strings.ContainsAny(rule, `*?[\`) {
		ok, err := path.Match(word, rule)
		return ok || err != nil
	}
	if !strings.ContainsAny(word, `*?[\`) {
		ok, err := path.Match(rule, word)
		return ok || err != nil
	}
	a, b := rule[:strings.IndexAny(rule, `*?[\`)], word[:strings.IndexAny(word, `*?[\`)]
	if !strings.HasPrefix(a, b) && !strings.HasPrefix(b, a) {
		return false
	}
	a, b = rule[strings.LastIndexAny(rule, `*?]\`)+1:], word[strings.LastIndexAny(word, `*?]\`)+1:]
	return strings.HasSuffix(a, b) || strings.HasSuffix(b, a)
}

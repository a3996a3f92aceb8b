// Package glob matches paths with the patterns of rules, which the gateway judges and a node
// enforces.
package glob

import "path"

// Match reports whether the parts of a pattern match all parts of a path. A part is one of
// [path.Match]; "**" stands for any number of parts, also for none.
func Match(pattern, parts []string) bool {
	switch {
	case len(pattern) == 0:
		return len(parts) == 0
	case pattern[0] == "**":
		return len(pattern) == 1 || len(parts) > 0 && (Match(pattern[1:], parts) || Match(pattern, parts[1:]))
	case len(parts) == 0:
		return false
	}
	ok, err := path.Match(pattern[0], parts[0])
	return ok && err == nil && Match(pattern[1:], parts[1:])
}

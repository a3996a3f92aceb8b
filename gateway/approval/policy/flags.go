package policy

import (
	"strings"

	"fairlead/gateway/approval/shell"
)

func isFlag(s string) bool { return len(s) > 1 && s[0] == '-' }

// given reports whether the words give option f: itself, with a value, shortened, or as letters of other options.
func given(f glob, words []shell.Word) bool {
	var letters strings.Builder
	want := f.parts1()
	for _, w := range words {
		if w.Text == "--" && !w.Dynamic {
			break
		}
		if !isFlag(w.Text) || w.Dynamic {
			continue
		}
		if f.match(w.Text) {
			return true
		}
		if !strings.HasPrefix(w.Text, "--") {
			letters.WriteString(w.Text[1:])
			continue
		}
		name, value, _ := strings.Cut(w.Text, "=")
		for c, long := range twins {
			if len(name) > 3 && strings.HasPrefix(long, name) {
				letters.WriteByte(c)
			}
		}
		if wantName, wantValue, valued := strings.Cut(want, "="); f.literal() && len(name) > 3 && strings.HasPrefix(wantName, name) &&
			(!valued || value == wantValue) {
			return true
		}
	}
	if !f.literal() || longDash(want) {
		return false
	}
	have := letters.String()
	if strings.HasPrefix(want, "--") {
		for c, long := range twins {
			if long == want && strings.IndexByte(have, c) >= 0 {
				return true
			}
		}
		return false
	}
	for i := 1; i < len(want); i++ {
		c := want[i]
		if strings.IndexByte(have, c) < 0 && !(c == 'r' && strings.Contains(have, "R")) && !(c == 'R' && strings.Contains(have, "r")) {
			return false
		}
	}
	return true
}

// longDash reports whether an option with one dash is a word, as find's -delete, and not a cluster of letters.
func longDash(s string) bool { return len(s) > 4 && s[0] == '-' && s[1] != '-' }

// twins are the long forms of short options that deny rules are mostly about.
var twins = map[byte]string{'r': "--recursive", 'f': "--force", 'i': "--in-place", 'n': "--dry-run"}

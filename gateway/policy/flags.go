package policy

import (
	"strings"

	"fairlead/gateway/policy/shell"
)

func isFlag(s string) bool { return len(s) > 1 && s[0] == '-' }

// given reports whether the words contain option f: exactly, with a value, abbreviated, or as
// letters of combined options.
func given(f glob, words []shell.Word) bool { return givenTo("", f, words) }

// givenTo is given for a program whose short options also match their long names.
func givenTo(name string, f glob, words []shell.Word) bool {
	var letters strings.Builder
	want, own := f.parts1(), twinsOf[name]
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
		opt, value, _ := strings.Cut(w.Text, "=")
		for _, t := range []map[byte]string{twins, own} {
			for c, long := range t {
				if len(opt) > 3 && strings.HasPrefix(long, opt) {
					letters.WriteByte(c)
				}
			}
		}
		if wantName, wantValue, valued := strings.Cut(want, "="); f.literal() && len(opt) > 3 && strings.HasPrefix(wantName, opt) &&
			(!valued || value == wantValue) {
			return true
		}
	}
	if !f.literal() || longDash(want) {
		return false
	}
	have := letters.String()
	if strings.HasPrefix(want, "--") {
		for _, t := range []map[byte]string{twins, own} {
			for c, long := range t {
				if long == want && strings.IndexByte(have, c) >= 0 {
					return true
				}
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

// longDash reports whether an option with one dash is a word, such as find's -delete, and not a
// group of letters.
func longDash(s string) bool { return len(s) > 4 && s[0] == '-' && s[1] != '-' }

// twins are the long forms of the short options that deny rules mostly use.
var twins = map[byte]string{'r': "--recursive", 'f': "--force", 'i': "--in-place", 'n': "--dry-run"}

// twinsOf are additional twins of single programs.
var twinsOf = map[string]map[byte]string{
	"git":     {'n': "--no-verify", 'D': "--delete", 'd': "--delete", 'a': "--all", 'm': "--message", 'u': "--set-upstream", 'x': "--exec"},
	"docker":  dockerTwins,
	"podman":  dockerTwins,
	"kubectl": {'n': "--namespace", 'f': "--filename", 'A': "--all-namespaces", 'l': "--selector"},
	"npm":     {'g': "--global", 'w': "--workspace", 'S': "--save", 'D': "--save-dev"},
	"pip":     {'U': "--upgrade", 'r': "--requirement", 'e': "--editable", 't': "--target", 'i': "--index-url"},
	"curl": {
		'k': "--insecure", 'o': "--output", 'X': "--request", 'd': "--data", 'T': "--upload-file", 'x': "--proxy", 'u': "--user", 'K': "--config",
		'F': "--form", 'O': "--remote-name", 'L': "--location",
	},
	"wget":      {'O': "--output-document", 'P': "--directory-prefix"},
	"tar":       {'x': "--extract", 'c': "--create", 'C': "--directory", 'P': "--absolute-names", 'I': "--use-compress-program"},
	"rsync":     {'e': "--rsh", 'a': "--archive"},
	"apt-get":   {'y': "--yes"},
	"apt":       {'y': "--yes"},
	"systemctl": {'H': "--host", 'M': "--machine"},
}

var dockerTwins = map[byte]string{'v': "--volume", 'p': "--publish", 'e': "--env", 'd': "--detach", 't': "--tty", 'u': "--user"}

package sandbox

import (
	"fmt"
	"strings"
)

// networkPrograms lists programs that are known to use the network, as in the original system.
var networkPrograms = map[string]bool{"curl": true, "wget": true, "npm": true, "bun": true, "pip": true}

var gitRemoteCommands = map[string]bool{"push": true, "pull": true, "fetch": true, "clone": true, "remote": true}

// NetworkWord is the error of CheckTokens.
type NetworkWord struct{ Word, Why string }

func (e *NetworkWord) Error() string {
	return fmt.Sprintf("the network is blocked for commands: %q %s. Request the network, or do without it.", e.Word, e.Why)
}

// CheckTokens returns an error if the words of a command suggest that it uses the network: the base
// name of a known program, an HTTP or HTTPS address, or git with a remote operation. The words may
// be those of one command or of a whole line; they must be decoded. Like the original system,
// Fairlead uses this check where the operating system cannot block the network. It is a warning
// sign, not containment: a script can easily evade it.
func CheckTokens(words []string) error {
	git := false
	for _, w := range words {
		switch base := basename(w); {
		case networkPrograms[base]:
			return &NetworkWord{w, "is a program that uses the network"}
		case hasPrefixFold(w, "http://"), hasPrefixFold(w, "https://"):
			return &NetworkWord{w, "is a network address"}
		case git && gitRemoteCommands[w]:
			return &NetworkWord{"git " + w, "contacts another machine"}
		case base == "git":
			git = true
		}
	}
	return nil
}

// basename returns the program's name without folder and without extensions of Windows.
func basename(word string) string {
	word = strings.ToLower(word[strings.LastIndexAny(word, `/\`)+1:])
	for _, ext := range []string{".exe", ".cmd", ".bat"} {
		word = strings.TrimSuffix(word, ext)
	}
	return word
}

func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

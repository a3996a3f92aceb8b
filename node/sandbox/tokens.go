package sandbox

import (
	"fmt"
	"strings"
)

// netPrograms are the programs that seed 001 (Network Blocking) knows to use the network.
var netPrograms = map[string]bool{"curl": true, "wget": true, "npm": true, "bun": true, "pip": true}

// gitRemote are git's words for remote operations (seed 001).
var gitRemote = map[string]bool{"push": true, "pull": true, "fetch": true, "clone": true, "remote": true}

// NetworkWord is the error of CheckTokens.
type NetworkWord struct{ Word, Why string }

func (e *NetworkWord) Error() string {
	return fmt.Sprintf("the network is blocked for commands: %q %s. Ask for the network, or do without it.", e.Word, e.Why)
}

// CheckTokens looks for the network in the words of a command, as seed 001 does where the system itself cannot block it: basenames of known
// programs, http and https addresses, and git with a remote operation. The words are those of one command or of a whole line, decoded.
// It is no containment: a script hides from it.
func CheckTokens(words []string) error {
	git := false
	for _, w := range words {
		switch base := basename(w); {
		case netPrograms[base]:
			return &NetworkWord{w, "is a program that uses the network"}
		case hasPrefixFold(w, "http://"), hasPrefixFold(w, "https://"):
			return &NetworkWord{w, "is an address in the network"}
		case git && gitRemote[w]:
			return &NetworkWord{"git " + w, "reaches another machine"}
		case base == "git":
			git = true
		}
	}
	return nil
}

// basename is the program's name without folder and without what Windows appends.
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

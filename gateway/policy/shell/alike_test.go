package shell

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// TestAlikeTextsAreReadTheSame: for a text that is not parsed again for zsh, the second reading
// would have been the same.
func TestAlikeTextsAreReadTheSame(t *testing.T) {
	pieces := strings.Split(`a|b c|-x|--y=z|'q r'|"d e"|x=1|a+=2|*.go|?|=ls|~|>|>>|>|&>|2>&1|>&2|>&|&&|;|&|if|then|fi|else|while|do|done|for|in|case|esac|repeat|foreach|`+
		`end|select|time|function|coproc|let|declare|export|noglob|nocorrect|-|[|]|[[|]]|always|typeset|test|exec|command|1|2|:|,|@|%|+|.|..|/|a/b|eval|trap|`+
		`local|readonly|until|elif|return|break|nameref|integer|float`, "|")
	pieces = append(pieces, "|", "||", "|&", "\n", "\t", " ", " ", " ", ";;")
	r := rand.New(rand.NewPCG(7, 11))
	looked := 0
	for range 60_000 {
		var b strings.Builder
		for range 1 + r.IntN(9) {
			b.WriteString(pieces[r.IntN(len(pieces))])
			if r.IntN(3) > 0 {
				b.WriteByte(' ')
			}
		}
		text := b.String()
		if !readAlike(text) {
			continue
		}
		looked++
		if z, o := analyze(text, Zsh), analyze(text, Bash); !z.equal(o) {
			t.Fatalf("%q is %+v to zsh and %+v to bash", text, z, o)
		}
	}
	if looked < 10_000 {
		t.Errorf("only %d texts were looked at", looked)
	}
}

package pake

import (
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"

	"fairlead/gateway/peer/identity"
)

// codeWords is the number of words of a code: 2²⁴ codes, of which an attacker can try three.
const codeWords = 3

// Code is an invitation that is read aloud, such as "7-maple-otter-tulip". The number identifies
// it. The words are the secret, and are never sent.
type Code struct {
	Number int
	Words  []string
}

// NewCode creates a code with the number.
func NewCode(number int) Code {
	var b [codeWords]byte
	rand.Read(b[:])
	return Code{number, identity.Words(b[:], codeWords)}
}

func (c Code) String() string { return strconv.Itoa(c.Number) + "-" + strings.Join(c.Words, "-") }

// secret returns the secret that both sides share.
func (c Code) secret() []byte { return []byte(strings.Join(c.Words, "-")) }

// ParseCode parses a code as people type it: in any case, with spaces or hyphens. The error names a
// word that is not in the list.
func ParseCode(text string) (Code, error) {
	fields := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r == '-' || r == ' ' || r == '\t' || r == '\n' || r == '.' || r == ',' })
	if len(fields) != codeWords+1 {
		return Code{}, fmt.Errorf("a code is a number and %d words, such as 7-maple-otter-tulip", codeWords)
	}
	n, err := strconv.Atoi(fields[0])
	if err != nil || n < 1 || n > 999 {
		return Code{}, fmt.Errorf("a code starts with a number, not with %.20q", fields[0])
	}
	for _, w := range fields[1:] {
		if !identity.IsWord(w) {
			return Code{}, fmt.Errorf("%.30q is not a word of any code: check the code", w)
		}
	}
	return Code{n, fields[1:]}, nil
}

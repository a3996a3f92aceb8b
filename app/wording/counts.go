package wording

import (
	"strings"

	"fairlead/gateway/peer/format"
)

// LineCount counts lines, such as "12,345 lines".
func LineCount(n int) string {
	digits, words, _ := strings.Cut(format.Plural(n, "line"), " ")
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits + " " + words
}

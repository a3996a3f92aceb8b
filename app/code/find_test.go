package code

import (
	"strings"
	"testing"
)

func BenchmarkFindInALongOutput(b *testing.B) {
	output := strings.Repeat("cc -O2 -Wall -c parse.c -o build/parse.o # nothing to see here\n", 200_000/64)
	c := NewView(PlainLines(output))
	for i := 0; b.Loop(); i++ {
		c.text.Find([]string{"parse", "nothing", "e"}[i%3])
	}
}

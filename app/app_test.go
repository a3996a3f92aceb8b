package app

import (
	"strings"
	"testing"
)

func TestCommandLine(t *testing.T) {
	for _, c := range []struct {
		args string
		code int
	}{{"--help", 0}, {"--version", 0}, {"--nonsense", 2}, {"something", 2}} {
		t.Run(c.args, func(t *testing.T) {
			if got := Main(strings.Fields(c.args), ""); got != c.code {
				t.Errorf("%s: exit code %d, want %d", c.args, got, c.code)
			}
		})
	}
}

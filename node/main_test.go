package node

import (
	"os"
	"testing"

	"fairlead/node/sandbox"
)

// TestMain lets the test program be the sandbox's helper, as ours are.
func TestMain(m *testing.M) {
	os.Setenv("GORACE", "atexit_sleep_ms=0") // for the helpers; else each takes a second to end
	sandbox.Main()
	os.Exit(run(m))
}

// run gives commands a home without a profile of the person's, whose output would be theirs.
func run(m *testing.M) int {
	home, err := os.MkdirTemp("", "home-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(home)
	os.Setenv("HOME", home)
	os.Setenv("LC_ALL", "C") // a shell warns of a language that is not installed
	return m.Run()
}

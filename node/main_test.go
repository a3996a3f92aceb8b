package node

import (
	"os"
	"testing"

	"fairlead/node/sandbox"
)

// TestMain lets the test program be the sandbox's helper, as our programs are.
func TestMain(m *testing.M) {
	// This is for the helpers; otherwise each takes a second to end.
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	sandbox.Main()
	os.Exit(run(m))
}

// run gives commands a home without the person's profile, whose output would disturb the tests.
func run(m *testing.M) int {
	home, err := os.MkdirTemp("", "home-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(home)
	os.Setenv("HOME", home)
	os.Setenv("LC_ALL", "C") // a shell warns of a locale that is not installed
	return m.Run()
}

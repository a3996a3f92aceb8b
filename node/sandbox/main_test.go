package sandbox_test

import (
	"context"
	"os"
	"testing"

	"fairlead/node/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	// This is for the helpers; otherwise each takes a second to end.
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	if play := os.Getenv("SANDBOX_PLAY"); play != "" {
		os.Exit(plays[play]())
	}
	os.Exit(m.Run())
}

// plays are the roles of the test program when it is started as another process.
var plays = map[string]func() int{}

func tContext() context.Context { return context.Background() }

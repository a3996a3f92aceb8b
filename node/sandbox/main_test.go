package sandbox_test

import (
	"os"
	"testing"

	"fairlead/node/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	os.Exit(m.Run())
}

package node

import (
	"os"
	"testing"

	"fairlead/node/tooltest"
)

// TestMain lets the test program be the sandbox's helper, as our programs are.
func TestMain(m *testing.M) { os.Exit(tooltest.Main(m)) }

package keychain

import (
	"os"
	"testing"
)

// TestMain runs the protected process if it is started as one.
func TestMain(m *testing.M) {
	if runProtected != nil && os.Getenv("KEYCHAIN_TEST_PROCESS") != "" {
		runProtected()
		return
	}
	os.Exit(m.Run())
}

// runProtected runs the protected process; nil on systems without a test for it.
var runProtected func()

// Package polltest waits in tests for what no channel or event reports.
package polltest

import (
	"testing"
	"time"
)

// limit is far longer than anything takes, so that only a hang reaches it, even on a busy machine.
const limit = 3 * time.Minute

// Until waits until ok returns true, and fails the test if that does not happen. what names the
// awaited event.
func Until(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(limit); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("timed out waiting for: %s", what)
		}
	}
}

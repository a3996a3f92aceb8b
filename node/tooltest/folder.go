//go:build !windows

package tooltest

import "testing"

// Folder returns a new folder of the test's own.
func Folder(t testing.TB) string {
	t.Helper()
	return t.TempDir()
}

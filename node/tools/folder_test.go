//go:build !windows

package tools

import "testing"

// folder is a folder of the test's own.
func folder(t testing.TB) string { return t.TempDir() }

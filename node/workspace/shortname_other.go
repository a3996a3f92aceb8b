//go:build !windows

package workspace

// longName is empty: elsewhere a file has no other name that nobody gave it.
func longName(string) string { return "" }

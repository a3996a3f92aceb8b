//go:build !windows

package workspace

// longName returns "": other systems do not generate further names of files.
func longName(string) string { return "" }

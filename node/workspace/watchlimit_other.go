//go:build !linux

package workspace

// deepLimit is 0: macOS would hold every file below open, and Windows would let no folder be renamed that has one below it.
func deepLimit() int { return 0 }

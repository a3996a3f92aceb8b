//go:build !linux

package workspace

// deepLimit is 0: macOS would hold every file below open, and Windows has [wholeTrees].
func deepLimit() int { return 0 }

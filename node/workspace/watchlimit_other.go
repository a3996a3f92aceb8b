//go:build !linux

package workspace

// deepLimit is 0: elsewhere trees are watched as a whole, see [wholeTrees].
func deepLimit() int { return 0 }

//go:build !linux

package watch

// subfolderLimit is 0: elsewhere trees are watched as a whole, see [watchesByTree].
func subfolderLimit() int { return 0 }

//go:build !linux && !darwin && !windows

package tools

// born is not known here: what a node left is reported and not ended.
func born(int) string { return "" }

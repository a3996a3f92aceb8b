//go:build !linux && !darwin && !windows

package shell

// startTime is not supported here: processes that a node left behind are reported but not ended.
func startTime(int) string { return "" }

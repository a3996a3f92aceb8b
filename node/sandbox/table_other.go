//go:build unix && !linux && !darwin

package sandbox

// processTable is empty: only the process group is supported here.
func processTable() []processEntry { return nil }

//go:build !linux

package cached

// Read reads nothing where a read cannot be told not to wait.
func Read(int, []byte) (n int, ok bool) { return 0, false }

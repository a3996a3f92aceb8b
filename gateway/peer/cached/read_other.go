//go:build !linux

package cached

// Read always reports false: this system has no reads that fail instead of blocking.
func Read(int, []byte) (n int, ok bool) { return 0, false }

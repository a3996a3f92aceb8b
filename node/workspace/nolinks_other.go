//go:build !linux

package workspace

import "os"

// openWithoutLinks is supported on Linux only.
func openWithoutLinks(*os.File, string, int) (f *os.File, ok bool, err error) { return nil, false, nil }

// checkWithoutLinks is supported on Linux only.
func checkWithoutLinks(root *os.Root, err error, _ *os.File, _ string) (*os.Root, error) {
	return root, err
}

//go:build !linux

package workspace

import "os"

// openStraight is supported on Linux only.
func openStraight(*os.File, string, int) (f *os.File, ok bool, err error) { return nil, false, nil }

// straight is supported on Linux only.
func straight(root *os.Root, err error, _ *os.File, _ string) (*os.Root, error) { return root, err }

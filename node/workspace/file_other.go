//go:build !unix

package workspace

import "os"

const nonblock = 0

func keepOwner(*os.File, os.FileInfo) {}

// syncDir does nothing: such systems have no handle that would do it.
func syncDir(tree, string) error { return nil }

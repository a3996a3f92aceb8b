//go:build unix && !linux && !darwin

package stream

import "os"

// keepsHoles reports whether files on the disk that dir is on can have holes; nobody knows.
func keepsHoles(*os.Root) bool { return false }

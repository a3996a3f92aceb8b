//go:build unix && !linux && !darwin

package stream

import "os"

// supportsHoles returns false, because this system does not tell whether files on a disk can have
// holes.
func supportsHoles(*os.Root) bool { return false }

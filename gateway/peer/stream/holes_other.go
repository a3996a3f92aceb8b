//go:build unix && !linux && !darwin

package stream

import "os"

// keepsHoles returns false, because this system does not tell whether files on a disk can have
// holes.
func keepsHoles(*os.Root) bool { return false }

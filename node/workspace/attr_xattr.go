//go:build linux || darwin

package workspace

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// maxAttributes bounds the list of names and each copied value, in bytes; systems permit no more
// than 64 KiB.
const maxAttributes = 64 << 10

// copyAttributes copies extended attributes, including access lists, as far as the user may. Those
// that belong to the old content (capabilities, signatures) are not copied.
func copyAttributes(f, old *os.File) {
	list := make([]byte, maxAttributes)
	n, err := unix.Flistxattr(int(old.Fd()), list)
	if err != nil || n <= 0 {
		return
	}
	value := make([]byte, maxAttributes)
	for name := range strings.SplitSeq(strings.TrimRight(string(list[:n]), "\x00"), "\x00") {
		if name == "security.capability" || name == "security.ima" || name == "security.evm" {
			continue
		}
		if n, err := unix.Fgetxattr(int(old.Fd()), name, value); err == nil {
			unix.Fsetxattr(int(f.Fd()), name, value[:n], 0)
		}
	}
}

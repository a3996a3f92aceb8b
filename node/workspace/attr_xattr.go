//go:build linux || darwin

package workspace

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// mostAttributes bounds the list of names and each copied value, in bytes; systems permit no more
// than 64 KiB.
const mostAttributes = 64 << 10

// keepAttributes copies extended attributes, including access lists, as far as the user may. Those
// that belong to the old content (capabilities, signatures) are not copied.
func keepAttributes(f, old *os.File) {
	list := make([]byte, mostAttributes)
	n, err := unix.Flistxattr(int(old.Fd()), list)
	if err != nil || n <= 0 {
		return
	}
	value := make([]byte, mostAttributes)
	for name := range strings.SplitSeq(strings.TrimRight(string(list[:n]), "\x00"), "\x00") {
		if name == "security.capability" || name == "security.ima" || name == "security.evm" {
			continue
		}
		if n, err := unix.Fgetxattr(int(old.Fd()), name, value); err == nil {
			unix.Fsetxattr(int(f.Fd()), name, value[:n], 0)
		}
	}
}

//go:build linux || darwin

package workspace

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// mostAttributes bounds the names and each value that are copied; systems allow no more than 64 KiB.
const mostAttributes = 64 << 10

// keepAttributes copies extended attributes, access lists among them, as far as the user may. What belongs to the old content (capabilities,
// signatures) is left behind.
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

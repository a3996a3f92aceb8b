package resident

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// span is an address range.
type span struct{ start, end uintptr }

// forgetFiles releases the memory of unmodified pages of the program's own file and of its
// libraries.
func forgetFiles() {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer f.Close()
	for _, s := range unchanged(f) {
		// An error has no consequences. A page that is needed again, such as one with running code,
		// is read from the file.
		syscall.Syscall(syscall.SYS_MADVISE, s.start, s.end-s.start, syscall.MADV_DONTNEED)
	}
}

// untouch returns the memory of zeros to the system. The pages were written if the memory had other
// contents before; when they are used again, the system provides new ones.
func untouch(zeros []byte) {
	_ = syscall.Madvise(zeros, syscall.MADV_DONTNEED) // an error has no consequences
}

// unchanged parses smaps and returns the private file mappings without modified pages. Modified
// pages, such as those with relocations of the loader, must stay.
func unchanged(smaps io.Reader) (list []span) {
	var s span
	ours := false
	for lines := bufio.NewScanner(smaps); lines.Scan(); {
		f := strings.Fields(lines.Text())
		if len(f) >= 5 && !strings.HasSuffix(f[0], ":") {
			_, err := fmt.Sscanf(f[0], "%x-%x", &s.start, &s.end)
			ours = err == nil && len(f) >= 6 && strings.HasPrefix(f[5], "/") && strings.HasPrefix(f[1], "r-") && f[1][3] == 'p'
		} else if ours && len(f) >= 2 && f[0] == "Anonymous:" && f[1] == "0" {
			list = append(list, s)
		}
	}
	return list
}

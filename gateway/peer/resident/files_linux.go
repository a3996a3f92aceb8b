package resident

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
)

// span is a range of addresses.
type span struct{ start, end uintptr }

// forgetFiles lets the system take the pages of the program's own file and of its libraries out of its memory.
func forgetFiles() {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return
	}
	defer f.Close()
	for _, s := range unchanged(f) {
		// Fails at worst without an effect: a page that is needed again, such as of the code that runs, is read from the file.
		syscall.Syscall(syscall.SYS_MADVISE, s.start, s.end-s.start, syscall.MADV_DONTNEED)
	}
}

// untouch gives the memory of zeros back to the system, which has to provide some once they are read or written. They were written if there was
// something else in their place before.
func untouch(zeros []byte) {
	_ = syscall.Madvise(zeros, syscall.MADV_DONTNEED) // which fails at worst without an effect
}

// unchanged finds in the text of smaps where a file is mapped to be read by this program alone, and no page differs from the file: what was written
// to, such as what the loader has put in place, must stay.
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

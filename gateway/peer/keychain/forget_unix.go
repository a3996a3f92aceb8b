//go:build unix

package keychain

import (
	"os"
	"strings"
	"unsafe"
)

// last is the program's last argument, where the system put it.
var last = func() string {
	if len(os.Args) == 0 {
		return ""
	}
	return os.Args[len(os.Args)-1]
}()

// forget overwrites the value of a variable that the program was given where the system shows it. Go has only copies of the environment; what they
// are copied from lies behind the last argument, one text with a zero byte after the other and in the same order, on Linux and macOS alike. It is
// compared with what Go knows before anything is written, so that nothing is done where it should lie otherwise.
func forget(variable string) {
	at := unsafe.Pointer(unsafe.StringData(last))
	if at == nil {
		return
	}
	at = unsafe.Add(at, len(last)+1)
	for _, known := range os.Environ() {
		for i := range len(known) + 1 { // no byte more than is the same: behind the environment there may be nothing
			if c := *(*byte)(unsafe.Add(at, i)); i < len(known) && c != known[i] || i == len(known) && c != 0 {
				return
			}
		}
		if name, value, _ := strings.Cut(known, "="); name == variable {
			clear(unsafe.Slice((*byte)(unsafe.Add(at, len(known)-len(value))), len(value)))
			return
		}
		at = unsafe.Add(at, len(known)+1)
	}
}

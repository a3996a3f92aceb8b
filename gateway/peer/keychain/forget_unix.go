//go:build unix

package keychain

import (
	"os"
	"strings"
	"unsafe"
)

// last is the program's last argument, in the memory where the system put it.
var last = func() string {
	if len(os.Args) == 0 {
		return ""
	}
	return os.Args[len(os.Args)-1]
}()

// forget overwrites the value of an environment variable where other processes can see it. Go only
// has copies of the environment. The original lies after the last argument, on Linux and macOS, as
// zero-terminated strings in the same order. It is compared with Go's copy before anything is
// written, so that a different layout changes nothing.
func forget(variable string) {
	at := unsafe.Pointer(unsafe.StringData(last))
	if at == nil {
		return
	}
	at = unsafe.Add(at, len(last)+1)
	for _, known := range os.Environ() {
		for i := range len(known) + 1 { // compares byte by byte up to the first difference: the memory after the environment may be unmapped
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

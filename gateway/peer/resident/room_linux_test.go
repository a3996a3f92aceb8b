package resident

import (
	"os"
	"syscall"
	"testing"
	"unsafe"
)

func TestRoomTakesNoMemoryOfTheSystem(t *testing.T) {
	roomy(t)
	page := uintptr(os.Getpagesize())
	from := (uintptr(unsafe.Pointer(&ballast[0])) + page - 1) &^ (page - 1)
	in := make([]byte, room/page-1)
	if _, _, errno := syscall.Syscall(syscall.SYS_MINCORE, from, uintptr(len(in))*page, uintptr(unsafe.Pointer(&in[0]))); errno != 0 {
		t.Fatal(errno)
	}
	n := 0
	for _, b := range in {
		n += int(b & 1)
	}
	if n > len(in)/8 {
		t.Errorf("%d of %d pages are in memory", n, len(in))
	}
}

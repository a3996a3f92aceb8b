package system

import (
	"io"
	"os"

	"golang.org/x/sys/windows"
)

var (
	kernel32      = windows.NewLazySystemDLL("kernel32.dll")
	attachConsole = kernel32.NewProc("AttachConsole")
	freeConsole   = kernel32.NewProc("FreeConsole")
)

// Report prints why the program exits and returns the exit code; 0 is success. A Windows GUI
// program has no console. It attaches to its parent's console for this message only: if it stayed
// attached, closing the console would end it. Without a console, a failure is shown in a message
// box.
func Report(code int, text string) int {
	out, id := os.Stdout, uint32(windows.STD_OUTPUT_HANDLE)
	if code != 0 {
		out, id = os.Stderr, windows.STD_ERROR_HANDLE
	}
	switch {
	case isValidHandle(id): // redirected into a file or a pipe
		io.WriteString(out, text) //nolint:errcheck // nobody is there
	case writeConsole("\n" + text): // the shell has already printed its next prompt
	case code != 0:
		message, err := windows.UTF16PtrFromString(text)
		if err == nil {
			title, _ := windows.UTF16PtrFromString("Fairlead")
			windows.MessageBox(0, message, title, windows.MB_OK|windows.MB_ICONERROR) //nolint:errcheck // there is no other way left
		}
	}
	return code
}

// writeConsole writes to the console of the parent process. It reports whether there was one.
func writeConsole(text string) bool {
	const ofParent = ^uint32(0)
	// otherwise there is no console, or it is attached already
	if ok, _, _ := attachConsole.Call(uintptr(ofParent)); ok != 0 {
		defer freeConsole.Call()
	}
	f, err := os.OpenFile("CONOUT$", os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	_, err = io.WriteString(f, text)
	return err == nil
}

func isValidHandle(id uint32) bool {
	h, err := windows.GetStdHandle(id)
	if err != nil || h == 0 || h == windows.InvalidHandle {
		return false
	}
	kind, err := windows.GetFileType(h)
	return err == nil && kind != windows.FILE_TYPE_UNKNOWN
}

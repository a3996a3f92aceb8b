package app

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

// say tells who started the program why it ends, and gives the exit code back: 0 is no failure. A program with windows has no terminal on Windows. It
// borrows that of the program that started it, for this alone: to stay would be to end when that terminal is closed. Where there is none either, a
// failure is said in a window.
func say(code int, text string) int {
	out, id := os.Stdout, uint32(windows.STD_OUTPUT_HANDLE)
	if code != 0 {
		out, id = os.Stderr, windows.STD_ERROR_HANDLE
	}
	switch {
	case leads(id): // into a file or a pipe, as was asked for
		io.WriteString(out, text) //nolint:errcheck // nobody is there
	case inConsole("\n" + text): // the shell has printed its next prompt already
	case code != 0:
		message, err := windows.UTF16PtrFromString(text)
		if err == nil {
			title, _ := windows.UTF16PtrFromString("Fairlead")
			windows.MessageBox(0, message, title, windows.MB_OK|windows.MB_ICONERROR) //nolint:errcheck // there is no other way left
		}
	}
	return code
}

// inConsole writes into the console of the program that started this one. It reports whether there was one.
func inConsole(text string) bool {
	const ofParent = ^uint32(0)
	if ok, _, _ := attachConsole.Call(uintptr(ofParent)); ok != 0 { // else there is none, or it is ours already
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

// leads reports whether one of the standard handles leads anywhere.
func leads(id uint32) bool {
	h, err := windows.GetStdHandle(id)
	if err != nil || h == 0 || h == windows.InvalidHandle {
		return false
	}
	kind, err := windows.GetFileType(h)
	return err == nil && kind != windows.FILE_TYPE_UNKNOWN
}

package shell

import (
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// fileIdentity returns the volume and the number of a file or folder, "" if it cannot be opened.
func fileIdentity(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	var info windows.ByHandleFileInformation
	if windows.GetFileInformationByHandle(windows.Handle(f.Fd()), &info) != nil {
		return ""
	}
	return fmt.Sprintf("%x %x %x", info.VolumeSerialNumber, info.FileIndexHigh, info.FileIndexLow)
}

// contentIdentity changes with every change of a file.
func contentIdentity(path string) string {
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("%x %x", info.Size(), info.ModTime().UnixNano())
}

package workspace

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// longName returns the name in its folder of an existing file that is requested by a possible short
// name, such as PROGRA~1; else "". Rules and private folders use long names. The file is then
// opened by the long name, so that it is the one that was judged.
func longName(path string) string {
	name := filepath.Base(path)
	if !strings.Contains(name, "~") || len(name) > len("SHORTN~1.EXT") {
		return ""
	}
	in, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return ""
	}
	out := make([]uint16, windows.MAX_LONG_PATH)
	n, err := windows.GetLongPathName(in, &out[0], uint32(len(out)))
	if err != nil || n == 0 || int(n) > len(out) {
		return ""
	}
	if long := filepath.Base(windows.UTF16ToString(out[:n])); long != name {
		return long
	}
	return ""
}

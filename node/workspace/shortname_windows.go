package workspace

import (
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// longName is how a file that is there is named in its folder, when it is asked for by what may be its short name, such as PROGRA~1; else empty. Rules
// and private folders know long names. What is opened afterwards is opened by the long name, so that it is what was judged.
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

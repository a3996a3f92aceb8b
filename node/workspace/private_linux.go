package workspace

import "strings"

const procFolder = "/proc"

// madeUp are the folders at the top whose files the kernel generates.
var madeUp = map[string]bool{"proc": true, "sys": true}

// ofProgram reports whether a path without symbolic links belongs to one process.
func ofProgram(abs string) bool {
	rest, ok := strings.CutPrefix(abs, procFolder+"/")
	return ok && rest != "" && rest[0] >= '0' && rest[0] <= '9'
}

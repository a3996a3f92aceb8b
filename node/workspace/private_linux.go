package workspace

import "strings"

const procFolder = "/proc"

// generatedFolders are the folders at the top whose files the kernel generates.
var generatedFolders = map[string]bool{"proc": true, "sys": true}

// isProcessFolder reports whether a path without symbolic links belongs to one process.
func isProcessFolder(abs string) bool {
	rest, ok := strings.CutPrefix(abs, procFolder+"/")
	return ok && rest != "" && rest[0] >= '0' && rest[0] <= '9'
}

//go:build !linux

package workspace

const procFolder = "/proc"

var generatedFolders map[string]bool

func isProcessFolder(string) bool { return false }

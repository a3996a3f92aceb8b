package workspace

import (
	"os"
	"strconv"
	"strings"
)

// deepLimit is the maximum number of watched folders below others: at most a quarter of the
// system's limit for all programs of a person.
func deepLimit() int {
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_user_watches")
	if err != nil {
		return deepFolders
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return deepFolders
	}
	return min(deepFolders, n/4)
}

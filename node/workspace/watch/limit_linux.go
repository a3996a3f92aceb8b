package watch

import (
	"os"
	"strconv"
	"strings"
)

// subfolderLimit is the maximum number of watched folders below others: at most a quarter of the
// system's limit for all programs of a person.
func subfolderLimit() int {
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_user_watches")
	if err != nil {
		return maxSubfolders
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return maxSubfolders
	}
	return min(maxSubfolders, n/4)
}

package workspace

import (
	"os"
	"strconv"
	"strings"
)

// deepLimit is how many folders are watched below others: a quarter at most of what the system allows all programs of a person.
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

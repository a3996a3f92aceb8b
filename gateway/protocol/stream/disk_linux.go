package stream

import (
	"os"

	"golang.org/x/sys/unix"
)

// hasSyncAll says that small files need not be synced one by one.
const hasSyncAll = true

// syncAll makes everything that was written on root's disk last.
func syncAll(root *os.Root) error {
	f, err := root.Open(".")
	if err != nil {
		return reason(err)
	}
	defer f.Close()
	return unix.Syncfs(int(f.Fd()))
}

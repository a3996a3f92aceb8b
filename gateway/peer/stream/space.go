package stream

import (
	"fmt"
	"os"

	"fairlead/gateway/protocol"
)

// reservedSpace is the space in bytes that is always left free on a disk.
const reservedSpace = 16 << 20

// checkSpace returns an error if the disk has no space for a transfer. Holes need no space if the
// disk supports them; a source that claims too many holes runs into a full disk later.
func checkSpace(dir *os.Root, p protocol.TransferReceive) error {
	room, need := freeSpace(dir), p.Size
	need = max(need, 0)
	if p.Holes > 0 && supportsHoles(dir) {
		need -= min(p.Holes, p.Size)
	}
	if room < 0 || room-reservedSpace >= need {
		return nil
	}
	for room-reservedSpace < need && removeOldestTrash(dir) { // retained copies of replaced files give way to new data
		room = freeSpace(dir)
	}
	if room-reservedSpace >= need {
		return nil
	}
	return fmt.Errorf("the disk has %d MiB free, but the transfer needs %d MiB", room>>20, need>>20)
}

// maxExtents is the maximum number of extents of one file that are examined; the rest counts as
// data.
const maxExtents = 100_000

// holes returns the number of bytes of a sparse file that are holes.
func holes(f sourceFile) (n int64) {
	file, info, err := openRegular(f.root, f.at)
	if err != nil {
		return 0
	}
	defer file.Close()
	size := info.Size()
	for at, looks := int64(0), 0; at < size && looks < maxExtents; looks++ {
		k := holeLength(file, at, size)
		n += k
		next := dataEnd(file, at+k, size)
		if next <= at+k {
			break
		}
		at = next
	}
	return n
}

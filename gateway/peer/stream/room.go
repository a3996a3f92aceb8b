package stream

import (
	"fmt"
	"os"

	"fairlead/gateway/protocol"
)

// spare is the space in bytes that is always left free on a disk.
const spare = 16 << 20

// roomFor returns an error if the disk has no space for a transfer. Holes need no space if the disk
// supports them; a source that claims too many holes runs into a full disk later.
func roomFor(dir *os.Root, p protocol.TransferReceive) error {
	room, need := free(dir), p.Size
	need = max(need, 0)
	if p.Holes > 0 && keepsHoles(dir) {
		need -= min(p.Holes, p.Size)
	}
	if room < 0 || room-spare >= need {
		return nil
	}
	for room-spare < need && dropKept(dir) { // retained copies of replaced files give way to new data
		room = free(dir)
	}
	if room-spare >= need {
		return nil
	}
	return fmt.Errorf("the disk has %d MiB left, and %d MiB would arrive", room>>20, need>>20)
}

// maxExtents is the maximum number of extents of one file that are examined; the rest counts as
// data.
const maxExtents = 100_000

// holes returns the number of bytes of a sparse file that are holes.
func holes(f found) (n int64) {
	file, info, err := openRegular(f.root, f.at)
	if err != nil {
		return 0
	}
	defer file.Close()
	size := info.Size()
	for at, looks := int64(0), 0; at < size && looks < maxExtents; looks++ {
		k := gap(file, at, size)
		n += k
		next := extent(file, at+k, size)
		if next <= at+k {
			break
		}
		at = next
	}
	return n
}

package stream

import (
	"fmt"
	"os"

	"fairlead/gateway/protocol"
)

// spare is how much of a disk is left free at least.
const spare = 16 << 20

// roomFor says that the disk has no room for what would arrive. Holes take none where the disk can have them too; a source that tells of more holes than
// there are meets a full disk later.
func roomFor(dir *os.Root, p protocol.TransferReceive) error {
	room, need := free(dir), p.Size
	need = max(need, 0)
	if p.Holes > 0 && keepsHoles(dir) {
		need -= min(p.Holes, p.Size)
	}
	if room < 0 || room-spare >= need {
		return nil
	}
	for room-spare < need && dropKept(dir) { // what was replaced lately stands in no one's way
		room = free(dir)
	}
	if room-spare >= need {
		return nil
	}
	return fmt.Errorf("the disk has %d MiB left, and %d MiB would arrive", room>>20, need>>20)
}

// maxExtents is how many parts of one file are looked at for how much of it is data; the rest counts as such.
const maxExtents = 100_000

// holes is how many bytes of a sparse file are holes.
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

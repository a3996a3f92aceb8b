package workspace

import (
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"fairlead/gateway/peer/resident"
)

// Listings of folders are remembered from one walk to the next: reading them is a third of the work of a walk over a large tree. A listing counts as
// long as the folder's times are what they were when it was read; as a change within the same tick of the clock would not show in them, a folder is
// remembered only when it had not changed for a while by then (as in git's index). Only file systems are trusted that keep these times themselves.
const (
	settled     = 3         // seconds
	listingsMax = 8 << 20   // bytes of all
	listingMax  = 256 << 10 // of one
	listingsFor = time.Minute
	listingSize = 160 // bytes that each takes besides its entries
)

// trusted are the types of file systems whose folders have a new time with every change that is seen.
var trusted = map[int64]bool{unix.EXT4_SUPER_MAGIC: true, unix.XFS_SUPER_MAGIC: true, unix.BTRFS_SUPER_MAGIC: true, unix.TMPFS_MAGIC: true, unix.OVERLAYFS_SUPER_MAGIC: true}

type folderID struct{ device, inode uint64 }

// folderTimes is when a folder was changed.
type folderTimes struct{ mtime, ctime unix.Timespec }

type listing struct {
	folderTimes
	entries string // as the kernel gave them, see Dir.entries
}

// listingCache is what is remembered. What a walk reads is found by walks that begin later: until then it is only put in a row, which costs the first
// walk of a tree little. It is safe for use by many goroutines.
type listingCache struct {
	mu     sync.Mutex // guards what follows
	of     map[folderID]listing
	row    []newListing
	size   int             // of both
	used   time.Time       // when the last walk began
	local  map[uint64]bool // whether a device is trusted
	forget *time.Timer
	now    func() time.Time
}

type newListing struct {
	folderID
	listing
}

var remembered = listingCache{now: time.Now}

// begin is called when a walk begins.
func (c *listingCache) begin() {
	at := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used = at
	if c.of == nil {
		c.of = make(map[folderID]listing, len(c.row))
	}
	for _, l := range c.row {
		if was, ok := c.of[l.folderID]; ok {
			c.size -= len(was.entries) + listingSize
		}
		c.of[l.folderID] = l.listing
	}
	c.row = nil
}

// get returns what is remembered of a folder as it is now. keep says that it may be remembered once it was read.
func (c *listingCache) get(fd int) (id folderID, now folderTimes, entries string, known, keep bool) {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return id, now, "", false, false
	}
	id = folderID{st.Dev, st.Ino}
	now = folderTimes{st.Mtim, st.Ctim}
	c.mu.Lock()
	l, ok := c.of[id]
	local, asked := c.local[id.device]
	began := c.used
	c.mu.Unlock()
	if ok && l.folderTimes == now {
		return id, now, l.entries, true, false
	}
	if began.Unix()-max(int64(now.mtime.Sec), int64(now.ctime.Sec)) <= settled {
		return id, now, "", false, false
	}
	if !asked {
		var fs unix.Statfs_t
		local = unix.Fstatfs(fd, &fs) == nil && trusted[int64(fs.Type)]
		c.mu.Lock()
		if c.local == nil {
			c.local = map[uint64]bool{}
		}
		c.local[id.device] = local
		c.mu.Unlock()
	}
	return id, now, "", false, local
}

// put remembers a listing. When there is no room for it, all others are forgotten.
func (c *listingCache) put(id folderID, at folderTimes, entries string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.size += len(entries) + listingSize; c.size > listingsMax {
		c.of, c.row, c.size = nil, nil, len(entries)+listingSize
	}
	c.row = append(c.row, newListing{id, listing{at, entries}})
	if c.forget == nil {
		c.forget = time.AfterFunc(listingsFor, c.drop)
	}
}

// drop forgets all unless it was used lately, and gives back what the walks have left besides: a node at rest is small.
func (c *listingCache) drop() {
	if c.forgot() {
		resident.GiveBack()
	}
}

func (c *listingCache) forgot() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if left := listingsFor - c.now().Sub(c.used); left > 0 {
		c.forget.Reset(left)
		return false
	}
	c.of, c.row, c.size, c.local, c.forget = nil, nil, 0, nil, nil
	return true
}

package workspace

import (
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Listings of folders are cached between walks: reading them is a third of the work of a walk over
// a large tree. A cached listing is valid as long as the folder's times are the same as when it was
// read. Because a change within the same tick of the clock does not alter them, a folder is cached
// only if it had not changed for a while before (as in git's index). Only file systems that
// maintain these times themselves are trusted.
const (
	settled     = 3         // seconds
	listingsMax = 8 << 20   // bytes of all listings
	listingMax  = 256 << 10 // bytes of one listing
	listingsFor = time.Minute
	listingSize = 160 // bytes of each listing besides its entries
)

// trusted are the types of file systems that update a folder's time with every visible change.
var trusted = map[int64]bool{unix.EXT4_SUPER_MAGIC: true, unix.XFS_SUPER_MAGIC: true, unix.BTRFS_SUPER_MAGIC: true, unix.TMPFS_MAGIC: true, unix.OVERLAYFS_SUPER_MAGIC: true}

type folderID struct{ device, inode uint64 }

// folderTimes are the times of a folder's last change.
type folderTimes struct{ mtime, ctime unix.Timespec }

type listing struct {
	folderTimes
	entries string // as returned by the kernel, see Dir.entries
}

// listingCache caches listings. Listings that a walk reads become visible to later walks; until
// then they are only queued, so that the first walk of a tree costs little more. It is safe for use
// by many goroutines.
type listingCache struct {
	mu     sync.Mutex // guards the fields below
	of     map[folderID]listing
	row    []newListing
	size   int             // of both
	used   time.Time       // start of the last walk
	local  map[uint64]bool // whether a device is trusted
	forget *time.Timer
	now    func() time.Time
}

type newListing struct {
	folderID
	listing
}

var remembered = listingCache{now: time.Now}

// begin must be called when a walk begins.
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

// get returns the cached listing of a folder if it is current. keep reports that the listing may be
// cached once it was read.
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

// put caches a listing. When there is no room for it, all others are removed.
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

// drop empties the cache unless it was used lately, and releases other memory of the walks: an idle
// node is small.
func (c *listingCache) drop() {
	if c.forgot() {
		debug.FreeOSMemory()
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

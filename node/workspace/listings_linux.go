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
	settleSeconds   = 3         // seconds
	maxListings     = 8 << 20   // bytes of all listings
	maxListing      = 256 << 10 // bytes of one listing
	listingLifetime = time.Minute
	listingSize     = 160 // bytes of each listing besides its entries
)

// trustedFileSystems are the types of file systems that update a folder's time with every visible
// change.
var trustedFileSystems = map[int64]bool{unix.EXT4_SUPER_MAGIC: true, unix.XFS_SUPER_MAGIC: true, unix.BTRFS_SUPER_MAGIC: true, unix.TMPFS_MAGIC: true, unix.OVERLAYFS_SUPER_MAGIC: true}

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
	mu             sync.Mutex // guards the fields below
	current        map[folderID]listing
	queued         []newListing
	size           int             // of both
	used           time.Time       // start of the last walk
	trustedDevices map[uint64]bool // whether a device is trusted
	timer          *time.Timer
	now            func() time.Time
}

type newListing struct {
	folderID
	listing
}

var cachedListings = listingCache{now: time.Now}

// begin must be called when a walk begins.
func (c *listingCache) begin() {
	at := c.now()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used = at
	if c.current == nil {
		c.current = make(map[folderID]listing, len(c.queued))
	}
	for _, l := range c.queued {
		if was, ok := c.current[l.folderID]; ok {
			c.size -= len(was.entries) + listingSize
		}
		c.current[l.folderID] = l.listing
	}
	c.queued = nil
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
	l, ok := c.current[id]
	local, asked := c.trustedDevices[id.device]
	began := c.used
	c.mu.Unlock()
	if ok && l.folderTimes == now {
		return id, now, l.entries, true, false
	}
	if began.Unix()-max(int64(now.mtime.Sec), int64(now.ctime.Sec)) <= settleSeconds {
		return id, now, "", false, false
	}
	if !asked {
		var fs unix.Statfs_t
		local = unix.Fstatfs(fd, &fs) == nil && trustedFileSystems[int64(fs.Type)]
		c.mu.Lock()
		if c.trustedDevices == nil {
			c.trustedDevices = map[uint64]bool{}
		}
		c.trustedDevices[id.device] = local
		c.mu.Unlock()
	}
	return id, now, "", false, local
}

// put caches a listing. When there is no room for it, all others are removed.
func (c *listingCache) put(id folderID, at folderTimes, entries string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.size += len(entries) + listingSize; c.size > maxListings {
		c.current, c.queued, c.size = nil, nil, len(entries)+listingSize
	}
	c.queued = append(c.queued, newListing{id, listing{at, entries}})
	if c.timer == nil {
		c.timer = time.AfterFunc(listingLifetime, c.release)
	}
}

// release empties the cache unless it was used lately, and releases other memory of the walks: an
// idle node is small.
func (c *listingCache) release() {
	if c.expire() {
		debug.FreeOSMemory()
	}
}

func (c *listingCache) expire() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if left := listingLifetime - c.now().Sub(c.used); left > 0 {
		c.timer.Reset(left)
		return false
	}
	c.current, c.queued, c.size, c.trustedDevices, c.timer = nil, nil, 0, nil, nil
	return true
}

package workspace

import (
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"fairlead/gateway/peer/crash"
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

type listing struct {
	folder       folderID
	mtime, ctime unix.Timespec // of the folder's last change
	entries      string        // as returned by the kernel, see Dir.entries
}

// listingCache caches listings. It is safe for use by many goroutines.
type listingCache struct {
	mu       sync.Mutex // guards the fields below
	listings map[folderID]listing
	size     int             // in bytes
	used     time.Time       // start of the last walk
	trusted  map[uint64]bool // by device
	timer    *time.Timer     // removes all listings when they are not used any more
	now      func() time.Time
}

var cachedListings = listingCache{now: time.Now}

// begin must be called when a walk begins.
func (c *listingCache) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.used = c.now()
}

// get returns the listing of a folder. If its entries are not known, cacheable reports that they may
// be cached once they were read.
func (c *listingCache) get(fd int) (l listing, known, cacheable bool) {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return l, false, false
	}
	l = listing{folder: folderID{st.Dev, st.Ino}, mtime: st.Mtim, ctime: st.Ctim}
	c.mu.Lock()
	defer c.mu.Unlock()
	if have, ok := c.listings[l.folder]; ok && have.mtime == l.mtime && have.ctime == l.ctime {
		return have, true, false
	}
	if c.used.Unix()-max(int64(l.mtime.Sec), int64(l.ctime.Sec)) <= settleSeconds {
		return l, false, false
	}
	trusted, asked := c.trusted[st.Dev]
	if !asked {
		var fs unix.Statfs_t
		trusted = unix.Fstatfs(fd, &fs) == nil && trustedFileSystems[int64(fs.Type)]
		if c.trusted == nil {
			c.trusted = map[uint64]bool{}
		}
		c.trusted[st.Dev] = trusted
	}
	return l, false, trusted
}

// put caches a listing. When there is no room for it, all others are removed.
func (c *listingCache) put(l listing) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if was, ok := c.listings[l.folder]; ok {
		c.size -= len(was.entries) + listingSize
	}
	if c.size += len(l.entries) + listingSize; c.listings == nil || c.size > maxListings {
		c.listings, c.size = map[folderID]listing{}, len(l.entries)+listingSize
	}
	c.listings[l.folder] = l
	if c.timer == nil {
		c.timer = crash.AfterFunc(listingLifetime, c.expire)
	}
}

// expire empties the cache unless it was used lately: an idle node is small.
func (c *listingCache) expire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if left := listingLifetime - c.now().Sub(c.used); left > 0 {
		c.timer.Reset(left)
		return
	}
	c.listings, c.size, c.trusted, c.timer = nil, 0, nil, nil
}

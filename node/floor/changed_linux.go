package floor

import (
	"os"
	"syscall"
	"time"
)

// changed returns when a folder last changed, which no program can set.
func changed(info os.FileInfo) time.Time {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(st.Ctim.Unix())
	}
	return info.ModTime()
}

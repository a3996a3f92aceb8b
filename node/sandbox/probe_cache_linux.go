package sandbox

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

func kernel() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return runtime.GOARCH
	}
	return unix.ByteSliceToString(u.Release[:])
}

// cacheKey contains everything that a result depends on: this boot, kernel, user, program, and
// disabled layers. The program is identified by its file's size and time, because hashing it would
// take longer than the probe.
func cacheKey(opts Options) string {
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	exe, err := os.Stat(self)
	if err != nil || len(boot) == 0 {
		return ""
	}
	return fmt.Sprintf("%s %s %d %d %d %v %s", boot, kernel(), os.Geteuid(), exe.Size(), exe.ModTime().UnixNano(), opts.Missing, wrapKey(wrapper(opts)))
}

type cacheFile struct {
	Key    string `json:"key"`
	Report Report `json:"report"`
}

func loadReport(path, key string) (Report, bool) {
	if path == "" || key == "" {
		return Report{}, false
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return Report{}, false
	}
	var c cacheFile
	if json.Unmarshal(data, &c) != nil || c.Key != key {
		return Report{}, false
	}
	return c.Report, true
}

// storeReport stores the result. Errors are ignored: without the file, the next start probes again.
func storeReport(path, key string, r Report) {
	if path == "" || key == "" {
		return
	}
	data, err := json.Marshal(cacheFile{key, r})
	if err != nil {
		return
	}
	tmp := path + "." + strconv.Itoa(os.Getpid())
	if os.WriteFile(tmp, data, 0o600) == nil && os.Rename(tmp, path) != nil {
		os.Remove(tmp)
	}
}

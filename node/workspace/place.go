package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"sync"
)

// processScope identifies the scope in which process IDs are unique: this start of this machine, and its
// container.
var processScope = sync.OnceValue(func() string {
	h := sha256.New()
	host, _ := os.Hostname()
	h.Write([]byte(host))
	boot, _ := os.ReadFile("/proc/sys/kernel/random/boot_id")
	h.Write(boot)
	ns, _ := os.Readlink("/proc/self/ns/pid")
	h.Write([]byte(ns))
	return hex.EncodeToString(h.Sum(nil)[:6])
})

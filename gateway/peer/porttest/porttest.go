// Package porttest is test support: an address for a program that is started later, or that ends and comes back.
//
// A port that the system gave and that was freed again may be given to the next one who asks for any, and to every connection that goes out, on a busy
// machine before the program listens there.
package porttest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"testing"
)

// first is below what systems give out, and above what programs of the system have.
const first = 10_000

var (
	mu    sync.Mutex // guards what follows
	given = make(map[int]bool)
)

// Free is an address of this machine, "127.0.0.1:PORT", where nobody listens. The system gives its port to nobody who did not name it, and this process
// gets it once.
func Free(t testing.TB) string {
	t.Helper()
	mu.Lock()
	defer mu.Unlock()
	for range 1000 {
		port := first + rand.IntN(end()-first)
		at := fmt.Sprintf("127.0.0.1:%d", port)
		if given[port] {
			continue
		}
		l, err := net.Listen("tcp", at)
		if err != nil {
			continue // another program's
		}
		l.Close()
		given[port] = true
		return at
	}
	t.Fatal("No port is free on this machine")
	return ""
}

// end is the first port that the system gives out by itself: 49152 on most (RFC 6335, 6), less on Linux.
func end() int {
	low, high := 32768, 0
	if data, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range"); err == nil {
		fmt.Sscan(string(data), &low, &high)
	}
	if low <= first+1000 {
		return 49152 // the system gives out nearly all: one of them must do
	}
	return min(low, 49152)
}

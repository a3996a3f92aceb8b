// Package porttest reserves addresses for tests whose program starts later, or ends and starts
// again.
//
// A port that the system assigned and that was freed again can be assigned to anyone else, or to an
// outgoing connection, before the program listens on it. That happens on busy machines.
package porttest

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"testing"
)

// first is below the ports that systems assign, and above those of system services.
const first = 10_000

var (
	mu    sync.Mutex // guards the fields below
	given = make(map[int]bool)
)

// Free returns an address of this machine, "127.0.0.1:PORT", on which nobody listens. The system
// never assigns the port to a program that did not ask for it, and Free returns it only once per
// process.
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
			continue // used by another program
		}
		l.Close()
		given[port] = true
		return at
	}
	t.Fatal("No port is free on this machine")
	return ""
}

// end returns the first port that the system assigns by itself: 49152 on most systems (RFC 6335,
// section 6), lower on Linux.
func end() int {
	low, high := 32768, 0
	if data, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range"); err == nil {
		fmt.Sscan(string(data), &low, &high)
	}
	if low <= first+1000 {
		return 49152 // the system assigns nearly all ports, so one of those has to do
	}
	return min(low, 49152)
}

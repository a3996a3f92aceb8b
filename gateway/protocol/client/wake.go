package client

import (
	"context"
	"net"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/peer/wake"
)

const (
	// checkInterval is the interval of the checks for sleep and for changed networks.
	checkInterval = 5 * time.Second
	// sleepGap is the lag of the monotonic clock, which stops during sleep, that counts as sleep.
	sleepGap = 10 * time.Second
	// probeLimit is the time in which a gateway must answer a probe.
	probeLimit = 8 * time.Second
)

// watch calls f whenever the machine woke up or its addresses changed, until ctx ends. The
// connections that this cuts are silent, and would otherwise be noticed only after silenceLimit.
func watch(ctx context.Context, f func(why string)) {
	last, before := time.Now(), addresses()
	wake.Every(ctx, checkInterval, func() {
		now, current := time.Now(), addresses()
		// Round(0) removes the monotonic reading, which stops while the machine sleeps.
		if now.Round(0).Sub(last.Round(0))-now.Sub(last) > sleepGap {
			f("the machine slept")
		} else if current != before {
			f("the network changed")
		}
		last, before = now, current
	})
}

// addresses returns this machine's addresses as one string.
func addresses() string {
	list, err := net.InterfaceAddrs()
	if err != nil {
		return ""
	}
	var all []string
	for _, a := range list {
		all = append(all, a.String())
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// isLocal reports whether a connection stays within this machine. Sleep and network changes do not
// cut it, and it ends when the gateway does.
func isLocal(a net.Addr) bool {
	at, ok := a.(*net.TCPAddr)
	return ok && at.IP.IsLoopback()
}

// hasLostAddress reports whether this machine no longer has the address.
func hasLostAddress(a net.Addr) bool {
	at, ok := a.(*net.TCPAddr)
	list, err := net.InterfaceAddrs()
	if !ok || err != nil || len(list) == 0 {
		return false
	}
	return !slices.ContainsFunc(list, func(have net.Addr) bool {
		n, ok := have.(*net.IPNet)
		return ok && n.IP.Equal(at.IP)
	})
}

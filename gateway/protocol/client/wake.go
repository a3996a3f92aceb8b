package client

import (
	"context"
	"net"
	"slices"
	"strings"
	"time"
)

const (
	// lookAround is how often a client looks whether the machine slept or its networks changed.
	lookAround = 5 * time.Second
	// slept is how much further the clock on the wall must be than the one that stops in sleep.
	slept = 10 * time.Second
	// probeLimit is how long a gateway may take to answer after that, before the connection counts as lost.
	probeLimit = 8 * time.Second
)

// watch calls f whenever the machine woke up or got other addresses, until ctx ends. Connections that such a thing has cut are silent: without it
// they would be noticed only when the silence is long enough.
func watch(ctx context.Context, f func(why string)) {
	tick := time.NewTicker(lookAround)
	defer tick.Stop()
	last, had := time.Now(), addresses()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now, have := time.Now(), addresses()
		// Round(0) takes the monotonic reading away, which stands still while the machine sleeps.
		if now.Round(0).Sub(last.Round(0))-now.Sub(last) > slept {
			f("the machine slept")
		} else if have != had {
			f("the network changed")
		}
		last, had = now, have
	}
}

// addresses are this machine's, as one text.
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

// atHome reports whether a connection stays within this machine: neither its sleep nor its networks cut it, and a gateway that is gone ends it.
func atHome(a net.Addr) bool {
	at, ok := a.(*net.TCPAddr)
	return ok && at.IP.IsLoopback()
}

// lostAddress reports whether this machine has the address no more.
func lostAddress(a net.Addr) bool {
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

// Package discovery announces a gateway on the local network and finds gateways there, by multicast
// DNS (RFC 6762, RFC 6763). The announcement has no name of a machine or person, only a tag that
// changes daily and that only paired devices can compute. A tag is a hint; the certificate proves
// the gateway's identity.
package discovery

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hashicorp/mdns"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/identity"
)

const (
	service = "_fairlead._tcp"
	// Patience is the duration of a search.
	Patience = 1200 * time.Millisecond
)

// day is the lifetime of a tag.
const day = 24 * time.Hour

// tag returns the name under which the gateway with the pin is announced on the (UTC) day of at.
func tag(pin identity.Pin, at time.Time) string {
	m := hmac.New(sha256.New, []byte(pin))
	m.Write([]byte("fairlead discovery " + at.UTC().Format(time.DateOnly)))
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(m.Sum(nil))[:16])
}

// tags returns the tags that a gateway may have now, with a day of tolerance for wrong clocks.
func tags(pin identity.Pin, now time.Time) []string {
	return []string{tag(pin, now), tag(pin, now.Add(-day)), tag(pin, now.Add(day))}
}

var quiet = log.New(io.Discard, "", 0)

// Announce announces a gateway on every network of this machine, until ctx ends.
func Announce(ctx context.Context, pin identity.Pin, port int) error {
	for {
		now := time.Now()
		servers, err := serve(tag(pin, now), port)
		if len(servers) == 0 && err == nil {
			err = errors.New("this machine is on no network that takes multicast")
		}
		if err != nil {
			slog.Debug("The gateway is not announced everywhere", "err", err)
		}
		awaitChange(ctx, now.Truncate(day).Add(day), fingerprint())
		for _, s := range servers {
			s.Shutdown()
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

// checkNetworksEvery is the interval of the checks for changed networks.
const checkNetworksEvery = 5 * time.Second

// awaitChange waits until the tag expires, the networks change, or ctx ends.
func awaitChange(ctx context.Context, until time.Time, networks string) {
	tick := time.NewTicker(checkNetworksEvery)
	defer tick.Stop()
	for time.Now().Before(until) && fingerprint() == networks {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// fingerprint returns a string that changes with the networks of this machine.
func fingerprint() string {
	var all strings.Builder
	for _, i := range interfaces() {
		fmt.Fprintln(&all, i.Index, i.ips)
	}
	return all.String()
}

func serve(name string, port int) (servers []*mdns.Server, err error) {
	for _, i := range interfaces() {
		zone, e := mdns.NewMDNSService(name, service, "", name+".local.", port, i.ips, []string{"v=1"})
		if e == nil {
			var s *mdns.Server
			if s, e = mdns.NewServer(&mdns.Config{Zone: zone, Iface: &i.Interface, Logger: quiet}); e == nil {
				servers = append(servers, s)
				continue
			}
		}
		err = fmt.Errorf("announce on %s: %w", i.Name, e)
	}
	return servers, err
}

type attached struct {
	net.Interface
	ips []net.IP
}

// interfaces returns the interfaces that are up, support multicast and have an address, without
// loopback.
func interfaces() (list []attached) {
	all, _ := net.Interfaces()
	for _, i := range all {
		if i.Flags&net.FlagUp == 0 || i.Flags&net.FlagMulticast == 0 || i.Flags&net.FlagLoopback != 0 {
			continue
		}
		a := attached{Interface: i}
		addrs, _ := i.Addrs()
		for _, addr := range addrs {
			if n, ok := addr.(*net.IPNet); ok && n.IP.IsGlobalUnicast() {
				a.ips = append(a.ips, n.IP)
			}
		}
		if len(a.ips) > 0 {
			list = append(list, a)
		}
	}
	return list
}

// Find returns the addresses (host:port) of gateways on the local network: those of the gateway
// with the pin, or all if pin is empty. It blocks for [Patience], or until ctx ends.
func Find(ctx context.Context, pin identity.Pin) []string {
	accepted := tags(pin, time.Now())
	entries := make(chan *mdns.ServiceEntry, 64)
	var received []*mdns.ServiceEntry // collected first, because the library modifies the entries that it has sent until the query ends
	var collect, queries crash.Group
	collect.Go(func() {
		for e := range entries {
			received = append(received, e)
		}
	})
	for _, i := range interfaces() {
		queries.Go(func() {
			mdns.QueryContext(ctx, &mdns.QueryParam{Service: service, Timeout: Patience, Interface: &i.Interface, Entries: entries, Logger: quiet})
		})
	}
	queries.Wait()
	close(entries)
	collect.Wait()
	var found []string
	for _, e := range received {
		name, rest, _ := strings.Cut(e.Name, ".")
		if !strings.HasPrefix(rest, service) || pin != "" && !slices.Contains(accepted, name) {
			continue
		}
		for _, ip := range []net.IP{e.AddrV4, e.AddrV6} {
			if a := net.JoinHostPort(ip.String(), strconv.Itoa(e.Port)); ip != nil && ip.IsGlobalUnicast() && !slices.Contains(found, a) {
				found = append(found, a)
			}
		}
	}
	return found
}

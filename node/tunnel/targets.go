package tunnel

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/peer/atomicfile"
	"fairlead/gateway/peer/tunnel"
	"fairlead/gateway/protocol"
	"fairlead/node/prompt"
)

const (
	// askLimit is the time that the person has to answer.
	askLimit = time.Minute
	// dialLimit is the time in which a name must resolve, and a target must answer.
	dialLimit = 10 * time.Second
)

// never are the addresses that are never dialled: services of clouds that give the machine's own
// credentials to whoever asks (AWS and most others, AWS containers, Alibaba, Google).
var never = []netip.Addr{
	netip.MustParseAddr("169.254.169.254"), netip.MustParseAddr("169.254.170.2"), netip.MustParseAddr("100.100.100.200"),
	netip.MustParseAddr("fd00:ec2::254"), netip.MustParseAddr("fd20:ce::254"),
}

// thisNetwork and translated are networks whose addresses lead to others: 0.0.0.0/8 to the machine
// itself, and NAT64 to the IPv4 address in the last four bytes (RFC 6052).
var (
	thisNetwork = netip.MustParsePrefix("0.0.0.0/8")
	translated  = netip.MustParsePrefix("64:ff9b::/96")
)

// Targets decides what this machine dials for its gateway: its own loopback addresses, and what its
// person has allowed. It is safe for concurrent use.
type Targets struct {
	// File has the allowed targets, one a line. It is read for each decision, because other programs
	// change it. Empty: there are none, and no answer is stored.
	File string
	// Ask asks the person about a target, and returns whether they allow it. nil: nobody can be asked.
	Ask func(ctx context.Context, target string) (bool, error)
	// Lookup resolves a name; nil means the system's resolver.
	Lookup func(ctx context.Context, host string) ([]netip.Addr, error)

	mu      sync.Mutex      // guards refused
	refused map[string]bool // targets to which the person said no: they are not asked about again
}

// FileIn returns Targets.File for a data folder; empty without one.
func FileIn(home string) string {
	if home == "" {
		return ""
	}
	return filepath.Join(home, "targets.txt")
}

// Dial connects to a target that is allowed. Its errors are those of package peer/tunnel. A name is
// resolved once: the address that was judged is the one that is dialled.
func (t *Targets) Dial(ctx context.Context, target string) (net.Conn, error) {
	addresses, err := t.resolve(ctx, target)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	each := net.Dialer{Timeout: dialLimit / time.Duration(len(addresses))}
	for _, at := range addresses {
		var conn net.Conn
		if conn, err = each.DialContext(ctx, "tcp", at.String()); err == nil {
			return conn, nil
		}
	}
	return nil, tunnel.ErrUnreachable.With(fmt.Sprintf("%s does not answer: %v", target, err))
}

// resolve returns the addresses of a target if it is allowed, and asks the person if necessary.
func (t *Targets) resolve(ctx context.Context, target string) ([]netip.AddrPort, error) {
	host, port, err := protocol.SplitTarget(target)
	if err != nil {
		return nil, tunnel.ErrInvalid.With(err.Error())
	}
	addresses, err := t.lookup(ctx, host)
	if err != nil || len(addresses) == 0 {
		return nil, tunnel.ErrUnreachable.With(fmt.Sprintf("%s: the name could not be resolved: %v", target, err))
	}
	isOwn := true
	list := make([]netip.AddrPort, len(addresses))
	for i, a := range addresses {
		a = a.Unmap()
		if isForbidden(a) {
			return nil, tunnel.ErrDenied.With(fmt.Sprintf("%s leads to %s, which is never allowed", target, a))
		}
		isOwn = isOwn && a.IsLoopback()
		list[i] = netip.AddrPortFrom(a, port)
	}
	if isOwn {
		return list, nil
	}
	return list, t.allow(ctx, Normalize(host, port))
}

func (t *Targets) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	if a, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{a}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	if t.Lookup != nil {
		return t.Lookup(ctx, host)
	}
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

// isForbidden reports whether an address is never dialled.
func isForbidden(a netip.Addr) bool {
	if translated.Contains(a) {
		b := a.As16()
		a = netip.AddrFrom4([4]byte(b[12:]))
	}
	return a.IsUnspecified() || a.IsMulticast() || thisNetwork.Contains(a) || a == netip.AddrFrom4([4]byte{255, 255, 255, 255}) || slices.Contains(never, a)
}

// Normalize returns the one spelling of a target, under which an answer is stored.
func Normalize(host string, port uint16) string {
	if a, err := netip.ParseAddr(host); err == nil {
		host = a.Unmap().String()
	}
	return net.JoinHostPort(strings.ToLower(strings.TrimSuffix(host, ".")), strconv.Itoa(int(port)))
}

// allow returns nil if the person allows a target, now or by an earlier answer.
func (t *Targets) allow(ctx context.Context, target string) error {
	list, err := t.List()
	if err != nil {
		return tunnel.ErrDenied.With(err.Error())
	}
	if slices.Contains(list, target) {
		return nil
	}
	t.mu.Lock()
	refused := t.refused[target]
	t.mu.Unlock()
	if t.Ask == nil || refused {
		return tunnel.ErrDenied.With(fmt.Sprintf("this machine has not allowed %s: %s", target, howToAllow(target)))
	}
	asking, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	yes, err := t.Ask(asking, target)
	switch {
	case errors.Is(err, prompt.ErrClosed) || errors.Is(err, context.DeadlineExceeded):
		return tunnel.ErrDenied.With(fmt.Sprintf("nobody at this machine allowed %s: %s", target, howToAllow(target)))
	case err != nil:
		return tunnel.ErrDenied.With(err.Error())
	case yes:
		return t.Add(target)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.refused == nil {
		t.refused = make(map[string]bool)
	}
	t.refused[target] = true
	return tunnel.ErrDenied.With(fmt.Sprintf("the person at this machine did not allow %s", target))
}

func howToAllow(target string) string {
	return fmt.Sprintf("run there: fairlead node allow %s (or fairlead-node --allow %s)", target, target)
}

// AskAt returns a function for Targets.Ask that asks at a terminal.
func AskAt(t *prompt.Asker) func(context.Context, string) (bool, error) {
	return func(ctx context.Context, target string) (bool, error) {
		return t.Ask(ctx, fmt.Sprintf("The gateway wants to reach %s from this machine. Allow it from now on?", target))
	}
}

// List returns the allowed targets, oldest first.
func (t *Targets) List() ([]string, error) {
	if t.File == "" {
		return nil, nil
	}
	data, err := os.ReadFile(t.File)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("read the allowed targets: %w", err)
	}
	return strings.Fields(string(data)), nil
}

// Add allows a target, which [Normalize] returned.
func (t *Targets) Add(target string) error {
	list, err := t.List()
	if err != nil || slices.Contains(list, target) || t.File == "" {
		return err
	}
	return t.write(append(list, target))
}

// Remove no longer allows a target. Open connections go on. found is false if it was not allowed.
func (t *Targets) Remove(target string) (found bool, err error) {
	list, err := t.List()
	if err != nil || !slices.Contains(list, target) {
		return false, err
	}
	return true, t.write(slices.DeleteFunc(list, func(l string) bool { return l == target }))
}

func (t *Targets) write(list []string) error {
	if err := atomicfile.Write(t.File, []byte(strings.Join(list, "\n")+"\n"), 0o600); err != nil {
		return fmt.Errorf("store the allowed targets: %w", err)
	}
	return nil
}

package tunnel

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fairlead/gateway/peer/tunnel"
	"fairlead/node/prompt"
)

// names is a resolver with fixed names. It returns the addresses of a name in turn: each look-up has
// the next ones.
type names map[string][][]string

func (n names) lookup(_ context.Context, host string) (list []netip.Addr, err error) {
	if len(n[host]) == 0 {
		return nil, errors.New("no such host")
	}
	for _, a := range n[host][0] {
		list = append(list, netip.MustParseAddr(a))
	}
	n[host] = n[host][1:]
	return list, nil
}

func TestOnlyLoopbackIsAllowedUnasked(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]error{
		"127.0.0.1:80": nil, "127.9.8.7:80": nil, "[::1]:80": nil, "[::ffff:127.0.0.1]:80": nil, "own:80": nil,
		"192.168.1.5:80": tunnel.ErrDenied, "8.8.8.8:53": tunnel.ErrDenied, "169.254.1.1:80": tunnel.ErrDenied, "[fe80::1]:80": tunnel.ErrDenied, "lan:80": tunnel.ErrDenied, "mixed:80": tunnel.ErrDenied,
		"nobody:80": tunnel.ErrUnreachable, "127.1:80": tunnel.ErrUnreachable, "2130706433:80": tunnel.ErrUnreachable,
		"": tunnel.ErrInvalid, "127.0.0.1": tunnel.ErrInvalid, "127.0.0.1:0": tunnel.ErrInvalid, "127.0.0.1:65536": tunnel.ErrInvalid, "127.0.0.1:http": tunnel.ErrInvalid,
		":80": tunnel.ErrInvalid, "[::1%lo]:80": tunnel.ErrInvalid, "a b:80": tunnel.ErrInvalid, "a/b:80": tunnel.ErrInvalid, "127.0.0.1:80\n": tunnel.ErrInvalid,
	} {
		n := names{"own": {{"127.0.0.1", "::1"}}, "lan": {{"192.168.1.5"}}, "mixed": {{"127.0.0.1", "192.168.1.5"}}}
		targets := Targets{Lookup: n.lookup, File: filepath.Join(t.TempDir(), "targets.txt")}
		if _, err := targets.resolve(t.Context(), target); !errors.Is(err, want) {
			t.Errorf("%q: got %v, want %v", target, err, want)
		}
	}
}

func TestSomeAddressesAreNeverAllowed(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "targets.txt")
	yes := func(context.Context, string) (bool, error) { return true, nil }
	for _, target := range []string{
		"169.254.169.254:80", "[::ffff:169.254.169.254]:80", "[64:ff9b::a9fe:a9fe]:80", "169.254.170.2:80", "100.100.100.200:80", "[fd00:ec2::254]:80", "[fd20:ce::254]:80", "name:80", "mixed:80",
		"0.0.0.0:80", "0.1.2.3:80", "[::]:80", "[64:ff9b::]:80", "224.0.0.1:80", "[ff02::1]:80", "255.255.255.255:80",
	} {
		n := names{"name": {{"169.254.169.254"}}, "mixed": {{"127.0.0.1", "0.0.0.0"}}}
		targets := Targets{Lookup: n.lookup, File: file, Ask: yes}
		if _, err := targets.resolve(t.Context(), target); !errors.Is(err, tunnel.ErrDenied) || !strings.Contains(err.Error(), "never allowed") {
			t.Errorf("%s: got %v, want ErrDenied", target, err)
		}
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("one of them was stored")
	}
}

// A name can lead to another address each time: what was judged is what is dialled.
func TestNameIsResolvedOnce(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	n := names{"rebind": {{"127.0.0.1"}, {"192.168.1.5"}}}
	targets := Targets{Lookup: n.lookup}
	c, err := targets.Dial(t.Context(), "rebind:"+port)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if len(n["rebind"]) != 1 {
		t.Errorf("got %d look-ups, want 1", 2-len(n["rebind"]))
	}
	if _, err := targets.Dial(t.Context(), "rebind:"+port); !errors.Is(err, tunnel.ErrDenied) {
		t.Errorf("the name that leads elsewhere now: got %v, want ErrDenied", err)
	}
}

func TestPersonIsAskedOnce(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "home", "targets.txt")
	var asked []string
	answers := map[string]bool{"192.168.1.5:80": true}
	ask := func(_ context.Context, target string) (bool, error) {
		asked = append(asked, target)
		return answers[target], nil
	}
	targets := Targets{File: file, Ask: ask}
	for _, target := range []string{"192.168.1.5:80", "192.168.1.5:80", "[::ffff:192.168.1.5]:80", "192.168.1.5:81", "192.168.1.5:81"} {
		_, err := targets.resolve(t.Context(), target)
		if want := !strings.HasSuffix(target, ":81"); (err == nil) != want || err != nil && !errors.Is(err, tunnel.ErrDenied) {
			t.Errorf("%s: got %v, want allowed: %v", target, err, want)
		}
	}
	if want := []string{"192.168.1.5:80", "192.168.1.5:81"}; !slices.Equal(asked, want) {
		t.Errorf("questions: got %q, want %q", asked, want)
	}
	later := Targets{File: file} // after a restart, with nobody to ask
	if _, err := later.resolve(t.Context(), "192.168.1.5:80"); err != nil {
		t.Errorf("after a restart: %v", err)
	}
	if found, err := later.Remove("192.168.1.5:80"); !found || err != nil {
		t.Fatalf("Remove: got %v, %v; want true and no error", found, err)
	}
	if _, err := targets.resolve(t.Context(), "192.168.1.5:80"); err != nil || len(asked) != 3 {
		t.Errorf("after its removal: got %v, %d questions, want another question", err, len(asked))
	}
}

func TestNobodyToAskMeansNo(t *testing.T) {
	t.Parallel()
	in, keys := io.Pipe()
	keys.Close()
	var out strings.Builder
	for name, ask := range map[string]func(context.Context, string) (bool, error){
		"nobody": nil, "a closed terminal": AskAt(prompt.New(in, &out)),
		"a failure": func(context.Context, string) (bool, error) { return true, errors.New("broken") },
	} {
		targets := Targets{File: filepath.Join(t.TempDir(), "targets.txt"), Ask: ask}
		if _, err := targets.resolve(t.Context(), "192.168.1.5:80"); !errors.Is(err, tunnel.ErrDenied) {
			t.Errorf("%s: got %v, want ErrDenied", name, err)
		}
	}
	if got := out.String(); got != "The gateway wants to reach 192.168.1.5:80 from this machine. Allow it from now on? [y/N] \n" {
		t.Errorf("question: got %q, want %q", got, "The gateway wants to reach 192.168.1.5:80 from this machine. Allow it from now on? [y/N] \n")
	}
	blocked := Targets{File: t.TempDir()} // cannot be read
	if _, err := blocked.resolve(t.Context(), "192.168.1.5:80"); !errors.Is(err, tunnel.ErrDenied) {
		t.Errorf("an unreadable list: got %v, want ErrDenied", err)
	}
}

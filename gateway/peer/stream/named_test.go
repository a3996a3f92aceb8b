package stream

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

func TestAGatewayGetsOnlyWhatSomebodyNamedHere(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	for _, name := range []string{"report", "key", filepath.Join("photos", "a")} {
		os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700)
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	ledger := OpenUnfinished(filepath.Join(home, "unfinished", "here"))
	n := OpenNamed(Disk{Dir: dir}, ledger, "tower")
	for _, p := range []protocol.TransferStartParams{
		{Sources: []string{"@here:" + at("report"), "@here:photos"}, Destination: "nas:"},
		{Sources: []string{"nas:x"}, Destination: "@here:" + at("inbox"), Into: true},
		{Sources: []string{"nas:key"}, Destination: "lab:key"},
	} {
		if err := n.Add(p); err != nil {
			t.Fatal(err)
		}
	}
	check := func(who string, n *NamedPaths) {
		t.Helper()
		for name, want := range map[string]bool{
			at("report"): true, "report": true, at("photos"): true, at("photos") + "/../report": true,
			at("key"): false, "key": false, at("photos/a"): false, at("photos/../key"): false, dir: false, at("inbox"): false, "": false,
		} {
			item, err := n.Source(name)
			if err == nil {
				item.Root.Close()
			}
			if (err == nil) != want {
				t.Errorf("%s, %q sent: %v", who, name, err)
			}
		}
		for name, want := range map[string]bool{at("inbox"): true, at("report"): false, dir: false, at("inbox/deeper"): false, at(".bashrc"): false} {
			target, err := n.Target(name, true, true)
			if err == nil {
				target.Root.Close()
			}
			if (err == nil) != want {
				t.Errorf("%s, %q taken: %v", who, name, err)
			}
		}
	}
	check("who named it", n)
	check("the next start", OpenNamed(Disk{Dir: dir}, ledger, "tower"))
	// A path that was named to one gateway is not accessible to another one, even from a window of
	// the same data folder.
	for _, gateway := range []string{"", "attic"} {
		other := OpenNamed(Disk{Dir: dir}, ledger, gateway)
		if _, err := other.Source(at("report")); err == nil {
			t.Errorf("%q is sent what was named to another gateway", gateway)
		}
		if _, err := other.Target(at("inbox"), true, true); err == nil {
			t.Errorf("%q writes where another gateway was to", gateway)
		}
	}
	// A command that starts a transfer may end before a window continues it.
	if err := OpenNamed(Disk{Dir: dir}, ledger, "tower").Add(protocol.TransferStartParams{Sources: []string{"@here:key"}, Destination: "nas:"}); err != nil {
		t.Fatal(err)
	}
	if item, err := n.Source(at("key")); err != nil {
		t.Error(err)
	} else {
		item.Root.Close()
	}
	// Without a ledger, the path is known until the program ends.
	if _, err := OpenNamed(Disk{Dir: dir}, nil, "tower").Source(at("report")); err == nil || !strings.Contains(err.Error(), at("report")+" was not chosen") {
		t.Error(err)
	}
	blocked := OpenNamed(Disk{Dir: dir}, OpenUnfinished(filepath.Join(at("report"), "none", "here")), "tower")
	if err := blocked.Add(protocol.TransferStartParams{Sources: []string{"@here:report"}, Destination: "nas:"}); err == nil {
		t.Error("nothing is said when it cannot be remembered")
	}
	if item, err := blocked.Source("report"); err != nil {
		t.Error(err)
	} else {
		item.Root.Close()
	}
}

func TestWhatWasNamedLongAgoIsForgotten(t *testing.T) {
	home := t.TempDir()
	ledger := OpenUnfinished(filepath.Join(home, "here"))
	var text strings.Builder
	long := strings.Repeat("x", 1000)
	for i := range 1500 { // larger than namedSize
		age := time.Duration(i%2) * (namedAge + time.Hour)
		fmt.Fprintf(&text, "%d true %s \"tower\"\n", time.Now().Add(-age).UnixMilli(), strconv.Quote(fmt.Sprintf("/%s/%d", long, i)))
	}
	text.WriteString("0\nx true \"/etc\"\n1 maybe \"/etc\"\n" + fmt.Sprint(time.Now().UnixMilli()) + " true /etc\n" + fmt.Sprint(time.Now().UnixMilli()) + " true \"/etc\"\n")
	file := filepath.Join(home, "here.named")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	n := OpenNamed(Disk{Dir: home}, ledger, "tower")
	for i, want := range map[int]bool{0: true, 1: false, 1498: true, 1499: false} {
		if n.isNamed(namedPath{true, fmt.Sprintf("/%s/%d", long, i), "tower"}) != want {
			t.Errorf("%d is known: %v", i, !want)
		}
	}
	if n.isNamed(namedPath{true, "/etc", "tower"}) {
		t.Error("what cannot be read counts")
	}
	if info, err := os.Stat(file); err != nil || info.Size() > int64(text.Len())*6/10 {
		t.Errorf("%d of %d bytes are left, %v", info.Size(), text.Len(), err)
	}
}

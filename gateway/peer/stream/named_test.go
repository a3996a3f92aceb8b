package stream

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
)

func TestGatewayGetsOnlyFilesNamedHere(t *testing.T) {
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
				t.Errorf("%s, %q sent: %v; want success %v", who, name, err, want)
			}
		}
		for name, want := range map[string]bool{at("inbox"): true, at("report"): false, dir: false, at("inbox/deeper"): false, at(".bashrc"): false} {
			target, err := n.Target(name, true, true)
			if err == nil {
				target.Root.Close()
			}
			if (err == nil) != want {
				t.Errorf("%s, %q taken: %v; want success %v", who, name, err, want)
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
		t.Errorf("got %v; want an error with %q", err, at("report")+" was not chosen")
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

func TestFilesNamedLongAgoAreForgotten(t *testing.T) {
	home := t.TempDir()
	ledger := OpenUnfinished(filepath.Join(home, "here"))
	n := OpenNamed(Disk{Dir: home}, ledger, "tower")
	if err := n.Add(protocol.TransferStartParams{Sources: []string{"@here:old", "@here:damaged", "@here:young"}, Destination: "nas:"}); err != nil {
		t.Fatal(err)
	}
	at := func(name string) string { return filepath.Join(home, name) }
	long := time.Now().Add(-namedAge - time.Hour)
	if err := os.Chtimes(n.file(n.text(at("old"), true)), long, long); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(n.file(n.text(at("damaged"), true)), []byte("true"), 0o600); err != nil {
		t.Fatal(err)
	}
	n = OpenNamed(Disk{Dir: home}, ledger, "tower")
	for name, want := range map[string]bool{"old": false, "damaged": false, "young": true} {
		if n.isNamed(at(name), true) != want {
			t.Errorf("%s is known: got %v", name, !want)
		}
	}
	if list, err := os.ReadDir(n.dir); err != nil || len(list) != 2 {
		t.Errorf("left: got %v, %v; want no error and length 2", list, err)
	}
}

package main

import (
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/node/sandbox"
	"fairlead/node/transfer"
	"fairlead/node/workspace"
)

func TestParseReadsFlagsAndEnvironment(t *testing.T) {
	t.Setenv("FAIRLEAD_TOKEN", "fl_x")
	t.Setenv("FAIRLEAD_URL", "ws://env/ws")
	t.Setenv("FAIRLEAD_HOME", "/home/f")
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	o, p, err := parse(nil, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if o.ID == "" || o.Workspace != here || o.Confine.WholeDisk || o.Confine.Mode != sandbox.WorkspaceWrite || o.Confine.Network != sandbox.NetBlocked || !strings.HasSuffix(o.LogDir, "logs") {
		t.Errorf("got %+v, want the defaults", o)
	}
	if _, err := p.configure(t.Context(), &o); err != nil {
		t.Fatal(err)
	}
	if o.URL != "ws://env/ws" || o.Token != "fl_x" {
		t.Errorf("got URL %q, token %q, want those of the environment", o.URL, o.Token)
	}
	o, p, err = parse([]string{"--gateway", "wss://flag/ws", "--id", "server", "--workspace", "/srv", "--whole-disk"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.configure(t.Context(), &o); err != nil || o.URL != "wss://flag/ws" || o.ID != "server" || o.Workspace != "/srv" || !o.Confine.WholeDisk {
		t.Errorf("got %+v, error %v, want the values of the flags", o, err)
	}
}

func TestParseReadsTheConfinement(t *testing.T) {
	dir := t.TempDir()
	o, _, err := parse([]string{"--gateway", "ws://x/ws", "--sandbox", "read-only", "--network", "allowed", "--grant", dir, "--grant", dir + "/sub:ro"}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	want := []workspace.Grant{{Dir: dir}, {Dir: filepath.Join(dir, "sub"), ReadOnly: true}}
	if o.Confine.Mode != sandbox.ReadOnly || o.Confine.Network != sandbox.NetAllowed || !slices.Equal(o.Confine.Grants, want) || !filepath.IsAbs(o.Home) {
		t.Errorf("got %+v, want the confinement of the flags, with the grants %v", o, want)
	}
}

func TestParseReadsTheReceivePolicy(t *testing.T) {
	dir := t.TempDir()
	o, _, err := parse([]string{"--gateway", "ws://x/ws", "--receive", "ask", "--receive-from", "tower, gsv", "--receive-folder", dir}, io.Discard)
	if err != nil || o.Receive.Mode != transfer.Ask || !slices.Equal(o.Receive.From, []protocol.NodeID{"tower", "gsv"}) || o.Receive.Folder != dir {
		t.Errorf("got %+v, error %v, want ask, from tower and gsv", o.Receive, err)
	}
	if o, _, err = parse([]string{"--gateway", "ws://x/ws"}, io.Discard); err != nil || o.Receive.Mode != transfer.Trusted || o.Receive.From != nil || o.Receive.Folder != "" {
		t.Errorf("got %+v, error %v, want trusted, from all", o.Receive, err)
	}
}

func TestParseRefusesWithAUsageError(t *testing.T) {
	t.Setenv("FAIRLEAD_URL", "")
	t.Setenv("FAIRLEAD_SECRETS", "file")
	t.Setenv("FAIRLEAD_HOME", t.TempDir())
	for _, args := range []string{"", "--gateway ws://x/ws extra", "--gateway ws://x/ws --id a__b", "--gateway ws://x/ws --sandbox none", "--gateway ws://x/ws --network some", "--gateway ws://x/ws --grant :ro", "--gateway ws://x/ws --receive maybe", "--colour", "--token x"} {
		o, p, err := parse(strings.Fields(args), io.Discard)
		if err == nil {
			_, err = p.configure(t.Context(), &o)
		}
		var usage usageError
		if !errors.As(err, &usage) {
			t.Errorf("%q: got %v; want an error of type usageError", args, err)
		}
	}
	for arg, want := range map[string]string{"-h": "Usage: fairlead-node", "--version": "fairlead-node dev"} {
		t.Run(arg, func(t *testing.T) {
			var said strings.Builder
			if _, _, err := parse([]string{arg}, &said); !errors.Is(err, flag.ErrHelp) || !strings.Contains(said.String(), want) {
				t.Errorf("got error %v, text %s, want %q", err, &said, want)
			}
		})
	}
}

func TestRunExplainsWhyItCannotStart(t *testing.T) {
	err := run(t.Context(), []string{"--gateway", "ws://127.0.0.1:1/ws", "--workspace", t.TempDir() + "/none"}, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "none") {
		t.Errorf("got error %v, want one that names the folder", err)
	}
}

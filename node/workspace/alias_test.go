//go:build unix

package workspace

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"fairlead/gateway/protocol"
)

func TestAliasesAreTheNamesThatLeadThroughLinks(t *testing.T) {
	t.Parallel()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	for _, err := range []error{
		os.MkdirAll(in("usr/me"), 0o755), os.MkdirAll(in("disk/proj"), 0o755), os.Symlink("usr", in("home")), os.Symlink(in("disk/proj"), in("usr/me/proj")),
		os.Symlink("gone", in("lost")), os.WriteFile(in("file"), nil, 0o644), os.Symlink("file", in("link")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	want := []protocol.Alias{
		{Path: in("home/me/proj"), Folder: in("disk/proj")}, {Path: in("usr/me/proj"), Folder: in("disk/proj")}, {Path: in("home"), Folder: in("usr")},
	}
	got := Aliases(in("home/me/proj"), in("usr/me"), in("home/me"), in("lost"), in("link"), in("nothing/here"), "relative", "")
	if len(got) != len(want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	for _, a := range want {
		if !slices.Contains(got, a) {
			t.Errorf("got %+v, want %+v among them", got, a)
		}
	}
}

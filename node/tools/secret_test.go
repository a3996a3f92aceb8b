package tools

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"fairlead/node/workspace"
)

// newHomeBench is a workspace that is the person's home folder.
func newHomeBench(t *testing.T) *bench {
	t.Helper()
	home, err := filepath.EvalSymlinks(folder(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	ws, err := workspace.Open(home)
	if err != nil {
		t.Fatal(err)
	}
	b := benchOf(t, ws, JobOptions{})
	for _, name := range []string{".ssh/id_ed25519", ".ssh/id_ed25519.pub", ".ssh/config", ".config/gh/hosts.yml", ".config/app/settings", ".netrc", "notes.txt"} {
		b.file(name, "needle in "+name+"\n")
	}
	return b
}

func TestPreviewNamesThePlaceOfKeysThatAPathLiesIn(t *testing.T) {
	b := newHomeBench(t)
	for link, to := range map[string]string{"key": ".ssh/id_ed25519", "keys": ".ssh"} {
		if err := os.Symlink(filepath.Join(b.ws.Dir(), to), filepath.Join(b.ws.Dir(), link)); err != nil {
			t.Skip(err)
		}
	}
	for _, c := range []struct {
		tool string
		in   args
		want string
	}{
		{"Read", args{"path": ".ssh/id_ed25519"}, "~/.ssh"},
		{"Read", args{"path": ".ssh/id_none"}, "~/.ssh"},
		{"Read", args{"path": "key"}, "~/.ssh"},
		{"Read", args{"path": ".netrc"}, "~/.netrc"},
		{"Read", args{"path": ".config/gh/hosts.yml"}, "~/.config/gh"},
		{"Read", args{"path": ".config/app/settings"}, ""},
		{"Read", args{"path": ".ssh/config"}, ""},
		{"Read", args{"path": ".ssh/id_ed25519.pub"}, ""},
		{"Read", args{"path": "notes.txt"}, ""},
		{"Write", args{"path": ".ssh/authorized_keys", "content": "x"}, "~/.ssh"},
		{"Write", args{"path": "keys/id_ed25519", "content": "x"}, "~/.ssh"},
		{"Edit", args{"path": ".netrc", "oldString": "needle", "newString": "x"}, "~/.netrc"},
		{"Write", args{"path": "notes.txt", "content": "x"}, ""},
		{"Grep", args{"pattern": "x", "path": ".ssh"}, "~/.ssh"},
		{"Grep", args{"pattern": "x", "path": "keys"}, "~/.ssh"},
		{"Grep", args{"pattern": "x"}, ""},
		{"Glob", args{"pattern": "*", "path": ".ssh"}, "~/.ssh"},
		{"Glob", args{"pattern": ".ssh/*"}, "~/.ssh"},
		{"Glob", args{"pattern": "**"}, ""},
	} {
		if p := preview(b, c.tool, c.in); p.Secret != c.want || p.Outside {
			t.Errorf("%s %v: secret %q, outside %v, want %q", c.tool, c.in, p.Secret, p.Outside, c.want)
		}
	}
}

func TestGrantOfAPlaceOfKeysItselfOpensIt(t *testing.T) {
	home := newHomeBench(t).ws.Dir()
	ws, err := workspace.Config{Dir: folder(t), Grants: []workspace.Grant{{Dir: filepath.Join(home, ".config", "gh")}, {Dir: filepath.Join(home, ".config")}}}.Open()
	if err != nil {
		t.Fatal(err)
	}
	b := benchOf(t, ws, JobOptions{})
	if p := preview(b, "Read", args{"path": filepath.Join(home, ".config/gh/hosts.yml")}); p.Secret != "" || p.Outside {
		t.Errorf("granted: %+v", p)
	}
	if p := preview(b, "Read", args{"path": filepath.Join(home, ".ssh/id_ed25519")}); p.Secret != "~/.ssh" || !p.Outside {
		t.Errorf("outside: %+v", p)
	}
	if out := must[grepOut](b, "Grep", args{"pattern": "needle", "path": filepath.Join(home, ".config")}); len(out.Matches) != 2 || len(out.LeftOut) != 0 {
		t.Errorf("a search found %+v", out)
	}
}

func TestSearchesLeaveOutKeysThatTheyDoNotBeginIn(t *testing.T) {
	b := newHomeBench(t)
	at := func(names ...string) (list []string) {
		for _, n := range names {
			list = append(list, filepath.Join(b.ws.Dir(), filepath.FromSlash(n)))
		}
		return list
	}
	grepped := func(in args) ([]string, []string) {
		in["pattern"] = "needle"
		out := must[grepOut](b, "Grep", in)
		var found []string
		for _, m := range out.Matches {
			found = append(found, m.Path)
		}
		return found, out.LeftOut
	}
	globbed := func(in args) ([]string, []string) {
		out := must[globOut](b, "Glob", in)
		slices.Sort(out.Matches)
		return out.Matches, out.LeftOut
	}
	for _, c := range []struct {
		search func(args) ([]string, []string)
		in     args
		found  []string
		left   []string
	}{
		{grepped, args{}, at(".config/app/settings", "notes.txt"), at(".config/gh", ".netrc", ".ssh")},
		{grepped, args{"include": "*.txt"}, at("notes.txt"), at(".config/gh", ".ssh")},
		{grepped, args{"hidden": false}, at("notes.txt"), nil},
		{grepped, args{"path": ".config"}, at(".config/app/settings"), at(".config/gh")},
		{grepped, args{"path": ".ssh"}, at(".ssh/config", ".ssh/id_ed25519", ".ssh/id_ed25519.pub"), nil},
		{grepped, args{"path": ".ssh/config"}, at(".ssh/config"), nil},
		{globbed, args{"pattern": "**/*s*"}, at(".config/app/settings", ".ssh", "notes.txt"), at(".config/gh", ".ssh")},
		{globbed, args{"pattern": "*"}, at(".config", ".netrc", ".ssh", "notes.txt"), nil},
		{globbed, args{"pattern": "{.ssh,x}/*"}, nil, at(".ssh")},
		{globbed, args{"pattern": ".ssh/id*"}, at(".ssh/id_ed25519", ".ssh/id_ed25519.pub"), nil},
	} {
		if found, left := c.search(c.in); !slices.Equal(found, c.found) || !slices.Equal(left, c.left) {
			t.Errorf("%v: found %q, left out %q\nwant %q, %q", c.in, found, left, c.found, c.left)
		}
	}
	for link, to := range map[string]string{"a/dir": ".ssh", "a/file": ".netrc", "a/open": ".ssh/config"} {
		os.MkdirAll(filepath.Join(b.ws.Dir(), "a"), 0o755)
		if err := os.Symlink(filepath.Join(b.ws.Dir(), to), filepath.Join(b.ws.Dir(), filepath.FromSlash(link))); err != nil {
			t.Skip(err)
		}
	}
	if found, left := grepped(args{"path": "a"}); !slices.Equal(found, at("a/open")) || !slices.Equal(left, at("a/dir", "a/file")) {
		t.Errorf("through links: found %q, left out %q", found, left)
	}
}

func TestPlaceOfKeysThatIsALinkIsLeftOutWhereItLeads(t *testing.T) {
	b := newHomeBench(t)
	b.file("dot/aws/credentials", "needle\n")
	if err := os.Symlink(filepath.Join(b.ws.Dir(), "dot", "aws"), filepath.Join(b.ws.Dir(), ".aws")); err != nil {
		t.Skip(err)
	}
	if p := preview(b, "Read", args{"path": "dot/aws/credentials"}); p.Secret != "~/.aws" {
		t.Errorf("secret %q", p.Secret)
	}
	want := []string{filepath.Join(b.ws.Dir(), "dot", "aws")}
	if out := must[grepOut](b, "Grep", args{"pattern": "needle", "path": "dot"}); len(out.Matches) != 0 || !slices.Equal(out.LeftOut, want) {
		t.Errorf("%+v", out)
	}
	if out := must[globOut](b, "Glob", args{"pattern": "**", "path": "dot"}); out.Count != 1 || !slices.Equal(out.LeftOut, want) {
		t.Errorf("%+v", out)
	}
}

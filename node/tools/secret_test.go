package tools

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"fairlead/node/tooltest"
	"fairlead/node/workspace"
)

// newHomeBench is a workspace that is the person's home folder.
func newHomeBench(t *testing.T) *tooltest.Bench {
	t.Helper()
	home, err := filepath.EvalSymlinks(tooltest.Folder(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	ws, err := workspace.Open(home)
	if err != nil {
		t.Fatal(err)
	}
	b := benchOf(t, ws)
	for _, name := range []string{".ssh/id_ed25519", ".ssh/id_ed25519.pub", ".ssh/config", ".config/gh/hosts.yml", ".config/app/settings", ".netrc", "notes.txt"} {
		b.File(name, "needle in "+name+"\n")
	}
	return b
}

func TestPreviewNamesThePlaceOfKeysThatAPathLiesIn(t *testing.T) {
	b := newHomeBench(t)
	for link, to := range map[string]string{"key": ".ssh/id_ed25519", "keys": ".ssh"} {
		if err := os.Symlink(filepath.Join(b.WS.Dir(), to), filepath.Join(b.WS.Dir(), link)); err != nil {
			t.Skip(err)
		}
	}
	for _, c := range []struct {
		tool string
		in   tooltest.Args
		want string
	}{
		{"Read", tooltest.Args{"path": ".ssh/id_ed25519"}, "~/.ssh"},
		{"Read", tooltest.Args{"path": ".ssh/id_none"}, "~/.ssh"},
		{"Read", tooltest.Args{"path": "key"}, "~/.ssh"},
		{"Read", tooltest.Args{"path": ".netrc"}, "~/.netrc"},
		{"Read", tooltest.Args{"path": ".config/gh/hosts.yml"}, "~/.config/gh"},
		{"Read", tooltest.Args{"path": ".config/app/settings"}, ""},
		{"Read", tooltest.Args{"path": ".ssh/config"}, ""},
		{"Read", tooltest.Args{"path": ".ssh/id_ed25519.pub"}, ""},
		{"Read", tooltest.Args{"path": "notes.txt"}, ""},
		{"Write", tooltest.Args{"path": ".ssh/authorized_keys", "content": "x"}, "~/.ssh"},
		{"Write", tooltest.Args{"path": "keys/id_ed25519", "content": "x"}, "~/.ssh"},
		{"Edit", tooltest.Args{"path": ".netrc", "oldString": "needle", "newString": "x"}, "~/.netrc"},
		{"Write", tooltest.Args{"path": "notes.txt", "content": "x"}, ""},
		{"Grep", tooltest.Args{"pattern": "x", "path": ".ssh"}, "~/.ssh"},
		{"Grep", tooltest.Args{"pattern": "x", "path": "keys"}, "~/.ssh"},
		{"Grep", tooltest.Args{"pattern": "x"}, ""},
		{"Glob", tooltest.Args{"pattern": "*", "path": ".ssh"}, "~/.ssh"},
		{"Glob", tooltest.Args{"pattern": ".ssh/*"}, "~/.ssh"},
		{"Glob", tooltest.Args{"pattern": "**"}, ""},
	} {
		if p := tooltest.Preview(b, c.tool, c.in); p.Secret != c.want || p.Outside {
			t.Errorf("%s %v: secret %q, outside %v, want %q", c.tool, c.in, p.Secret, p.Outside, c.want)
		}
	}
}

func TestGrantOfAPlaceOfKeysItselfOpensIt(t *testing.T) {
	home := newHomeBench(t).WS.Dir()
	ws, err := workspace.Config{Dir: tooltest.Folder(t), Grants: []workspace.Grant{{Dir: filepath.Join(home, ".config", "gh")}, {Dir: filepath.Join(home, ".config")}}}.Open()
	if err != nil {
		t.Fatal(err)
	}
	b := benchOf(t, ws)
	if p := tooltest.Preview(b, "Read", tooltest.Args{"path": filepath.Join(home, ".config/gh/hosts.yml")}); p.Secret != "" || p.Outside {
		t.Errorf("granted: got preview %+v, want no secret", p)
	}
	if p := tooltest.Preview(b, "Read", tooltest.Args{"path": filepath.Join(home, ".ssh/id_ed25519")}); p.Secret != "~/.ssh" || !p.Outside {
		t.Errorf("outside: got preview %+v, want the secret ~/.ssh", p)
	}
	if out := tooltest.Must[grepOut](b, "Grep", tooltest.Args{"pattern": "needle", "path": filepath.Join(home, ".config")}); len(out.Matches) != 2 || len(out.LeftOut) != 0 {
		t.Errorf("got %+v, want 2 matches and nothing left out", out)
	}
}

func TestSearchesLeaveOutKeysThatTheyDoNotBeginIn(t *testing.T) {
	b := newHomeBench(t)
	at := func(names ...string) (list []string) {
		for _, n := range names {
			list = append(list, filepath.Join(b.WS.Dir(), filepath.FromSlash(n)))
		}
		return list
	}
	grepped := func(in tooltest.Args) ([]string, []string) {
		in["pattern"] = "needle"
		out := tooltest.Must[grepOut](b, "Grep", in)
		var found []string
		for _, m := range out.Matches {
			found = append(found, m.Path)
		}
		return found, out.LeftOut
	}
	globbed := func(in tooltest.Args) ([]string, []string) {
		out := tooltest.Must[globOut](b, "Glob", in)
		slices.Sort(out.Matches)
		return out.Matches, out.LeftOut
	}
	for _, c := range []struct {
		search func(tooltest.Args) ([]string, []string)
		in     tooltest.Args
		found  []string
		left   []string
	}{
		{grepped, tooltest.Args{}, at(".config/app/settings", "notes.txt"), at(".config/gh", ".netrc", ".ssh")},
		{grepped, tooltest.Args{"include": "*.txt"}, at("notes.txt"), at(".config/gh", ".ssh")},
		{grepped, tooltest.Args{"hidden": false}, at("notes.txt"), nil},
		{grepped, tooltest.Args{"path": ".config"}, at(".config/app/settings"), at(".config/gh")},
		{grepped, tooltest.Args{"path": ".ssh"}, at(".ssh/config", ".ssh/id_ed25519", ".ssh/id_ed25519.pub"), nil},
		{grepped, tooltest.Args{"path": ".ssh/config"}, at(".ssh/config"), nil},
		{globbed, tooltest.Args{"pattern": "**/*s*"}, at(".config/app/settings", ".ssh", "notes.txt"), at(".config/gh", ".ssh")},
		{globbed, tooltest.Args{"pattern": "*"}, at(".config", ".netrc", ".ssh", "notes.txt"), nil},
		{globbed, tooltest.Args{"pattern": "{.ssh,x}/*"}, nil, at(".ssh")},
		{globbed, tooltest.Args{"pattern": ".ssh/id*"}, at(".ssh/id_ed25519", ".ssh/id_ed25519.pub"), nil},
	} {
		if found, left := c.search(c.in); !slices.Equal(found, c.found) || !slices.Equal(left, c.left) {
			t.Errorf("%v: found %q, left out %q\nwant %q, %q", c.in, found, left, c.found, c.left)
		}
	}
	for link, to := range map[string]string{"a/dir": ".ssh", "a/file": ".netrc", "a/open": ".ssh/config"} {
		os.MkdirAll(filepath.Join(b.WS.Dir(), "a"), 0o755)
		if err := os.Symlink(filepath.Join(b.WS.Dir(), to), filepath.Join(b.WS.Dir(), filepath.FromSlash(link))); err != nil {
			t.Skip(err)
		}
	}
	if found, left := grepped(tooltest.Args{"path": "a"}); !slices.Equal(found, at("a/open")) || !slices.Equal(left, at("a/dir", "a/file")) {
		t.Errorf("through links: got %q, left out %q, want a/open, without a/dir and a/file", found, left)
	}
}

func TestPlaceOfKeysThatIsALinkIsLeftOutWhereItLeads(t *testing.T) {
	b := newHomeBench(t)
	b.File("dot/aws/credentials", "needle\n")
	if err := os.Symlink(filepath.Join(b.WS.Dir(), "dot", "aws"), filepath.Join(b.WS.Dir(), ".aws")); err != nil {
		t.Skip(err)
	}
	if p := tooltest.Preview(b, "Read", tooltest.Args{"path": "dot/aws/credentials"}); p.Secret != "~/.aws" {
		t.Errorf("got secret %q, want ~/.aws", p.Secret)
	}
	want := []string{filepath.Join(b.WS.Dir(), "dot", "aws")}
	if out := tooltest.Must[grepOut](b, "Grep", tooltest.Args{"pattern": "needle", "path": "dot"}); len(out.Matches) != 0 || !slices.Equal(out.LeftOut, want) {
		t.Errorf("Grep: got %+v, want only %q left out", out, want)
	}
	if out := tooltest.Must[globOut](b, "Glob", tooltest.Args{"pattern": "**", "path": "dot"}); out.Count != 1 || !slices.Equal(out.LeftOut, want) {
		t.Errorf("Glob: got %+v, want one match, and %q left out", out, want)
	}
}

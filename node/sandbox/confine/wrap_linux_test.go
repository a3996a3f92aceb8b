package confine

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestWrappingHidesOpensAndClosesFromTheOutsideIn(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ws/f", ".ssh/id", ".ssh/config", "data/granted/f", "data/token", ".netrc"} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	os.Symlink(filepath.Join(home, "ws"), filepath.Join(home, "link"))
	at := func(name string) string { return filepath.Join(home, name) }
	hidden := []string{"/dev", at(".ssh"), at("data"), at(".netrc"), at(".aws")}
	args := func(f Files) string {
		f.Hidden, f.Devices = hidden, []string{"/dev/null"}
		return strings.ReplaceAll(strings.Join(Wrapping{Files: f, Blank: "/blank", NoNet: true}.Args(), " "), home, "~")
	}
	// in has the parts in this order.
	in := func(name, got string, parts ...string) {
		t.Helper()
		rest := " " + got + " "
		for _, p := range parts {
			_, after, ok := strings.Cut(rest, " "+p+" ")
			if !ok {
				t.Errorf("%s: %q is not there, or not in its place:\n%s", name, p, got)
				return
			}
			rest = " " + after
		}
	}
	all := args(Files{Read: []string{at(".ssh/config"), at("none")}, Write: []string{at("link"), at("data/granted")}})
	in("all", all, "--cap-drop ALL", "--ro-bind / /", "--unshare-net", "--tmpfs /dev", "--dev-bind /dev/null /dev/null", "--remount-ro /dev")
	in("a secret with something open in it", all, "--tmpfs ~/.ssh", "--ro-bind ~/.ssh/config ~/.ssh/config", "--remount-ro ~/.ssh")
	in("a secret with something that is written in it", all, "--tmpfs ~/data", "--bind ~/data/granted ~/data/granted", "--remount-ro ~/data")
	in("a file", all, "--ro-bind /blank ~/.netrc")
	in("a link", all, "--bind ~/ws ~/ws")
	for _, not := range []string{"~/.aws", "~/none", "~/link", "--die-with-parent", "--new-session", "--bind / ", "--bind ~ "} {
		if strings.Contains(all, not) {
			t.Errorf("%s is in %s", not, all)
		}
	}
	whole := args(Files{Write: []string{home}})
	in("a home that is written", whole, "--tmpfs ~/.ssh", "--bind ~/ws ~/ws")
	if strings.Contains(whole, "bind ~ ~") || strings.Contains(whole, "--bind ~/.ssh") || strings.Contains(whole, "--bind ~/.netrc") {
		t.Errorf("secrets are open: %s", whole)
	}
	granted := args(Files{Write: []string{at(".ssh")}})
	in("a secret that was granted", granted, "--bind ~/.ssh ~/.ssh")
	if strings.Contains(granted, "--tmpfs ~/.ssh") || strings.Contains(granted, "--remount-ro ~/.ssh") {
		t.Errorf("it is hidden all the same: %s", granted)
	}
	if w := (Wrapping{}).Args(); !slices.Equal(w, []string{"--cap-drop", "ALL", "--ro-bind", "/", "/"}) {
		t.Errorf("got %v; want %v", w, []string{"--cap-drop", "ALL", "--ro-bind", "/", "/"})
	}
}

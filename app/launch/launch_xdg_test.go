//go:build linux || freebsd || openbsd || netbsd || dragonfly

package launch

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestEntriesAreWrittenAndRemoved(t *testing.T) {
	config, data := t.TempDir(), t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", config)
	t.Setenv("XDG_DATA_HOME", data)
	t.Setenv("PATH", "") // the tools that notify the desktop need one
	p := Program{Path: `/opt/my apps/fair"lead$`, Args: []string{"--home", "/srv/50%"}, Login: []string{"--home", "/srv/50%", "--hidden"}, Icon: []byte("png")}
	login, links := filepath.Join(config, "autostart", "fairlead.desktop"), filepath.Join(data, "applications", "fairlead.desktop")
	if p.AtLogin() || p.Links() {
		t.Fatal("both are on before they were set")
	}
	if err := p.SetAtLogin(true); err != nil || !p.AtLogin() || p.Links() {
		t.Fatalf("got %v; want no error, AtLogin and not Links", err)
	}
	if err := p.SetLinks(true); err != nil || !p.Links() {
		t.Fatalf("got %v; want no error and Links", err)
	}
	// Desktop Entry Specification 1.5, "The Exec key": a literal backslash in a quoted argument is
	// escaped a second time by the file format.
	const program = `"/opt/my apps/fair\\"lead\\$" "--home" "/srv/50%%"`
	for file, want := range map[string][]string{
		login: {"Exec=" + program + ` "--hidden"` + "\n", "\nIcon=fairlead\n"},
		links: {"Exec=" + program + ` "--" %u` + "\n", "\nMimeType=x-scheme-handler/fairlead;\n"},
	} {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range want {
				if !strings.Contains(string(text), w) {
					t.Errorf("%s lacks %q:\n%s", file, w, text)
				}
			}
		})
	}
	if icon, err := os.ReadFile(filepath.Join(data, "icons", "hicolor", "256x256", "apps", "fairlead.png")); err != nil || string(icon) != "png" {
		t.Errorf("the icon: %q, %v", icon, err)
	}
	moved := p
	moved.Path = "/opt/other"
	if moved.AtLogin() || moved.Links() {
		t.Error("another copy is taken for this program")
	}
	for range 2 { // the second time there is nothing to remove
		if err := p.SetAtLogin(false); err != nil || p.AtLogin() {
			t.Errorf("got %v; want no error and not AtLogin", err)
		}
		if err := p.SetLinks(false); err != nil || p.Links() {
			t.Errorf("got %v; want no error and not Links", err)
		}
	}
}

func TestThisProgramStartsHiddenAtLogin(t *testing.T) {
	p, err := This("data", nil)
	if err != nil || !filepath.IsAbs(p.Path) || len(p.Args) != 2 || !filepath.IsAbs(p.Args[1]) || p.Login[2] != "--hidden" {
		t.Errorf(`got %+v, %v; want no error, an absolute Path, Args of length 2, an absolute Args[1] and Login[2] "--hidden"`, p, err)
	}
	if p, err = This("", nil); err != nil || len(p.Args) != 0 || len(p.Login) != 1 {
		t.Errorf("got %+v, %v; want no error, no Args and Login of length 1", p, err)
	}
}

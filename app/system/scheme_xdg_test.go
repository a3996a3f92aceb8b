//go:build linux || freebsd || openbsd || netbsd

package system

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWithoutAPortalTheDesktopsThemeDecides(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, env, file, text string
		want                  Scheme
	}{
		{name: "nothing is set", want: Light},
		{name: "the environment", env: "Adwaita:dark", want: Dark},
		{name: "the environment first", env: "Adwaita", file: "gtk-3.0/settings.ini", text: "[Settings]\ngtk-theme-name=Nordic-dark\n", want: Light},
		{name: "a dark GTK theme", file: "gtk-3.0/settings.ini", text: "[Settings]\ngtk-theme-name = Adwaita-dark\n", want: Dark},
		{name: "dark preferred", file: "gtk-4.0/settings.ini", text: "[Settings]\ngtk-application-prefer-dark-theme=1\n", want: Dark},
		{name: "dark not preferred", file: "gtk-3.0/settings.ini", text: "[Settings]\ngtk-application-prefer-dark-theme=0\n", want: Light},
		{name: "Xfce", file: "xfce4/xfconf/xfce-perchannel-xml/xsettings.xml", text: `<property name="ThemeName" type="string" value="Greybird-dark"/>`, want: Dark},
		{name: "KDE", file: "kdeglobals", text: "[General]\nColorScheme=BreezeDark\n", want: Dark},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			config := t.TempDir()
			if c.file != "" {
				path := filepath.Join(config, c.file)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if got := desktopScheme(c.env, config); got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

func TestGlyphSuitsThePanelWhereTheDesktopSaysIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		desktop string
		scheme  uint32
		want    Scheme
	}{
		{"ubuntu:GNOME", 2, Dark}, {"KDE", 1, Dark}, {"KDE", 2, Light}, {"KDE", 0, Unknown}, {"XFCE", 2, Unknown}, {"", 0, Unknown},
	} {
		if got := panelOf(c.desktop, c.scheme); got != c.want {
			t.Errorf("%s with scheme %d: got %v, want %v", c.desktop, c.scheme, got, c.want)
		}
	}
}

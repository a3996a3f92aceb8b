//go:build linux || freebsd || openbsd || netbsd

package app

import (
	"os"
	"path/filepath"
	"testing"

	"fairlead/app/style"
)

func TestWithoutAPortalTheDesktopsThemeDecides(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, env, file, text string
		want                  style.Mode
	}{
		{name: "nothing is set", want: style.Light},
		{name: "the environment", env: "Adwaita:dark", want: style.Dark},
		{name: "the environment first", env: "Adwaita", file: "gtk-3.0/settings.ini", text: "[Settings]\ngtk-theme-name=Nordic-dark\n", want: style.Light},
		{name: "a dark GTK theme", file: "gtk-3.0/settings.ini", text: "[Settings]\ngtk-theme-name = Adwaita-dark\n", want: style.Dark},
		{name: "dark preferred", file: "gtk-4.0/settings.ini", text: "[Settings]\ngtk-application-prefer-dark-theme=1\n", want: style.Dark},
		{name: "dark not preferred", file: "gtk-3.0/settings.ini", text: "[Settings]\ngtk-application-prefer-dark-theme=0\n", want: style.Light},
		{name: "Xfce", file: "xfce4/xfconf/xfce-perchannel-xml/xsettings.xml", text: `<property name="ThemeName" type="string" value="Greybird-dark"/>`, want: style.Dark},
		{name: "KDE", file: "kdeglobals", text: "[General]\nColorScheme=BreezeDark\n", want: style.Dark},
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
			if got := desktopMode(c.env, config); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestGlyphSuitsThePanelWhereTheDesktopSaysIt(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		desktop string
		scheme  uint32
		want    style.Mode
	}{
		{"ubuntu:GNOME", 2, style.Dark}, {"KDE", 1, style.Dark}, {"KDE", 2, style.Light}, {"KDE", 0, style.System}, {"XFCE", 2, style.System}, {"", 0, style.System},
	} {
		if got := panelOf(c.desktop, c.scheme); got != c.want {
			t.Errorf("%s with scheme %d: got %q, want %q", c.desktop, c.scheme, got, c.want)
		}
	}
}

//go:build linux || freebsd || openbsd || netbsd

package system

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"

	"fairlead/gateway/peer/keychain"
)

// WindowScheme returns the scheme for windows: [Unknown] if the desktop's portal knows light and dark,
// because the toolkit follows that. Otherwise the toolkit would be dark, so the desktop's own settings
// decide, and light is the default.
func WindowScheme() Scheme {
	if _, known := portalScheme(); known {
		return Unknown
	}
	config, err := os.UserConfigDir()
	if err != nil {
		return Light
	}
	return desktopScheme(os.Getenv("GTK_THEME"), config)
}

// portalScheme asks a running portal for the colour scheme: 1 for dark, 2 for light, 0 for no
// preference. It starts no portal.
func portalScheme() (scheme uint32, known bool) {
	conn, err := keychain.ConnectSessionBus()
	if err != nil {
		return 0, false
	}
	defer conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	var v dbus.Variant
	err = conn.Object("org.freedesktop.portal.Desktop", "/org/freedesktop/portal/desktop").
		CallWithContext(ctx, "org.freedesktop.portal.Settings.Read", dbus.FlagNoAutoStart, "org.freedesktop.appearance", "color-scheme").Store(&v)
	if inner, ok := v.Value().(dbus.Variant); ok { // the method wraps it twice
		v = inner
	}
	scheme, _ = v.Value().(uint32)
	return scheme, err == nil
}

// PanelScheme returns the scheme of the desktop's panel, or [Unknown] where no one says it.
func PanelScheme() Scheme {
	scheme, _ := portalScheme()
	return panelOf(os.Getenv("XDG_CURRENT_DESKTOP"), scheme)
}

// panelOf is PanelScheme for a desktop and the scheme of its portal. GNOME's panel is always dark, and
// that of KDE follows the scheme.
func panelOf(desktop string, scheme uint32) Scheme {
	switch {
	case strings.Contains(desktop, "GNOME"), strings.Contains(desktop, "KDE") && scheme == 1:
		return Dark
	case strings.Contains(desktop, "KDE") && scheme == 2:
		return Light
	}
	return Unknown
}

// themeFiles are the files of desktops that name the theme, below the folder of configurations.
var themeFiles = []struct {
	path  string
	theme *regexp.Regexp // its group is the theme, or 1 or true for dark
}{
	{"gtk-4.0/settings.ini", regexp.MustCompile(`(?m)^gtk-application-prefer-dark-theme\s*=\s*(1|true)`)},
	{"gtk-3.0/settings.ini", regexp.MustCompile(`(?m)^gtk-application-prefer-dark-theme\s*=\s*(1|true)`)},
	{"gtk-3.0/settings.ini", regexp.MustCompile(`(?m)^gtk-theme-name\s*=\s*(.+)$`)},
	{"xfce4/xfconf/xfce-perchannel-xml/xsettings.xml", regexp.MustCompile(`name="ThemeName"[^>]*value="([^"]*)"`)},
	{"kdeglobals", regexp.MustCompile(`(?m)^ColorScheme\s*=\s*(.+)$`)},
}

// desktopScheme returns the scheme of a desktop's theme: GTK_THEME, or the first one found in config.
func desktopScheme(gtkTheme, config string) Scheme {
	names := []string{gtkTheme}
	for _, f := range themeFiles {
		data, err := os.ReadFile(filepath.Join(config, f.path))
		if err != nil {
			continue
		}
		if m := f.theme.FindSubmatch(data); m != nil {
			names = append(names, string(m[1]))
		}
	}
	for _, name := range names {
		switch name = strings.ToLower(strings.TrimSpace(name)); {
		case name == "":
			continue
		case name == "1" || name == "true" || strings.Contains(name, "dark"):
			return Dark
		}
		return Light
	}
	return Light
}

package system

import (
	"golang.org/x/sys/windows/registry"
)

// WindowScheme returns the scheme for windows: the toolkit follows it.
func WindowScheme() Scheme { return Unknown }

// PanelScheme returns the scheme of the taskbar.
func PanelScheme() Scheme {
	key, err := registry.OpenKey(registry.CURRENT_USER, `Software\Microsoft\Windows\CurrentVersion\Themes\Personalize`, registry.QUERY_VALUE)
	if err != nil {
		return Unknown
	}
	defer key.Close()
	light, _, err := key.GetIntegerValue("SystemUsesLightTheme")
	switch {
	case err != nil:
		return Unknown
	case light == 1:
		return Light
	}
	return Dark
}

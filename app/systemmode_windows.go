package app

import (
	"golang.org/x/sys/windows/registry"

	"fairlead/app/style"
)

// systemMode returns the mode that matches the system: the toolkit follows it.
func systemMode() style.Mode { return style.System }

// panelMode returns the mode of the taskbar.
func panelMode() style.Mode {
	key, err := registry.OpenKey(registry.CURRENT_USER, `Software\Microsoft\Windows\CurrentVersion\Themes\Personalize`, registry.QUERY_VALUE)
	if err != nil {
		return style.System
	}
	defer key.Close()
	light, _, err := key.GetIntegerValue("SystemUsesLightTheme")
	switch {
	case err != nil:
		return style.System
	case light == 1:
		return style.Light
	}
	return style.Dark
}

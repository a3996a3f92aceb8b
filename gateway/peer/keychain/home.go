package keychain

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

// Home returns the folder for all data of Fairlead: FAIRLEAD_HOME, or else the system's folder for
// user data.
func Home() (string, error) {
	if h := os.Getenv("FAIRLEAD_HOME"); h != "" {
		return filepath.Abs(h)
	}
	find, parts := os.UserHomeDir, []string{".local", "share", "fairlead"}
	switch runtime.GOOS {
	case "windows", "darwin":
		find, parts = os.UserConfigDir, []string{"Fairlead"} // %AppData%, ~/Library/Application Support
	default:
		if h := os.Getenv("XDG_DATA_HOME"); h != "" {
			return filepath.Join(h, "fairlead"), nil
		}
	}
	dir, err := find()
	if err != nil {
		return "", fmt.Errorf("find the folder for user data: %w", err)
	}
	return filepath.Join(append([]string{dir}, parts...)...), nil
}

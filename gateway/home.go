package gateway

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"

	"fairlead/gateway/protocol"
)

// Version is set by the linker; builds without it take it from the build information.
var Version = ""

func init() {
	if Version != "" {
		return
	}
	Version = "dev"
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		Version = info.Main.Version
	}
}

// Defaults of the listener. The port is that of the original system.
const (
	DefaultListen = "127.0.0.1:8787"
	DefaultURL    = "ws://" + DefaultListen + "/ws"
)

// Home returns the folder for all data: FAIRLEAD_HOME, or else the system's folder for user data.
func Home() (string, error) {
	if h := os.Getenv("FAIRLEAD_HOME"); h != "" {
		return filepath.Abs(h)
	}
	if h := os.Getenv("XDG_DATA_HOME"); h != "" && runtime.GOOS != "windows" && runtime.GOOS != "darwin" {
		return filepath.Join(h, "fairlead"), nil
	}
	switch runtime.GOOS {
	case "windows", "darwin":
		dir, err := os.UserConfigDir() // %AppData%, ~/Library/Application Support
		if err != nil {
			return "", fmt.Errorf("find the folder for user data: %w", err)
		}
		return filepath.Join(dir, "Fairlead"), nil
	}
	user, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the folder for user data: %w", err)
	}
	return filepath.Join(user, ".local", "share", "fairlead"), nil
}

// LogDir returns the folder for logs in a data folder.
func LogDir(home string) string { return filepath.Join(home, "logs") }

// ClientParams returns the connect parameters of a client with the given ID.
func ClientParams(id string) protocol.ConnectParams {
	return protocol.ConnectParams{
		MinProtocol: protocol.Version, MaxProtocol: protocol.Version,
		Client: protocol.ClientInfo{ID: id, Version: Version, Platform: runtime.GOOS, Mode: protocol.ModeClient},
	}
}

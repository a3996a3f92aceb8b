package gateway

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"

	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/peer/lock"
	"fairlead/gateway/peer/logfile"
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

// Home returns the folder for all data; see [keychain.Home].
func Home() (string, error) { return keychain.Home() }

// LogDir returns the folder for logs in a data folder.
func LogDir(home string) string { return filepath.Join(home, "logs") }

// ErrInUse is returned when another gateway uses the same data folder.
var ErrInUse = errors.New("another Fairlead uses this data folder")

// lockHome locks a data folder for one gateway, until the lock is released or the process ends in
// any way.
func lockHome(home string) (*lock.Lock, error) {
	l, err := lock.Acquire(filepath.Join(home, "gateway.lock"), fmt.Sprintf("a gateway (process %d)", os.Getpid()))
	var held *lock.HeldError
	switch {
	case errors.As(err, &held):
		return nil, fmt.Errorf("%w: %s. Use the one that runs, or give this one another with --home", ErrInUse, home)
	case err != nil:
		return nil, fmt.Errorf("lock the data folder: %w", err)
	}
	return l, nil
}

// OpenLog opens a rotating log file in home's log folder. It is safe for concurrent use.
func OpenLog(home, name string) (io.WriteCloser, error) { return logfile.Open(LogDir(home), name) }

// ClientParams returns the connect parameters of a client with the given ID.
func ClientParams(id string) protocol.ConnectParams {
	return protocol.ConnectParams{
		MinProtocol: protocol.Version, MaxProtocol: protocol.Version,
		Client: protocol.ClientInfo{ID: id, Version: Version, Platform: runtime.GOOS, Mode: protocol.ModeClient},
	}
}

//go:build unix && !darwin

package bus

import (
	"github.com/godbus/dbus/v5"
)

// Connect connects to the bus of this session and never starts one. The caller closes the
// connection.
func Connect() (*dbus.Conn, error) {
	conn, err := dbus.SessionBusPrivateNoAutoStartup()
	if err != nil {
		return nil, err
	}
	if err := conn.Auth(nil); err != nil {
		conn.Close()
		return nil, err
	}
	if err := conn.Hello(); err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

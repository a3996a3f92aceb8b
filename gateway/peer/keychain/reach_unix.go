//go:build unix && !darwin

package keychain

import "github.com/godbus/dbus/v5"

// reachable returns an error if there is no session bus, through which the keychain is reached.
func reachable() error {
	conn, err := ConnectSessionBus()
	if err != nil {
		return err
	}
	return conn.Close()
}

// ConnectSessionBus connects to the desktop's session bus (D-Bus) if there is one. The caller
// closes the connection.
//
// It never starts a bus. Without one, as in a login over SSH, [dbus.ConnectSessionBus] would run
// dbus-launch: a keychain on that bus would be empty, and the bus and the keychain would keep
// running after the program ends.
func ConnectSessionBus() (*dbus.Conn, error) {
	conn, err := dbus.SessionBusPrivateNoAutoStartup()
	if err != nil {
		return nil, err
	}
	if err = conn.Auth(nil); err == nil {
		err = conn.Hello()
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return conn, nil
}

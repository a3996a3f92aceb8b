//go:build unix && !darwin

package keychain

import "fairlead/gateway/peer/bus"

// reachable says why the keychain cannot be reached: it is on the bus of a desktop's session.
func reachable() error {
	conn, err := bus.Connect()
	if err != nil {
		return err
	}
	return conn.Close()
}

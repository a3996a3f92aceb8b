//go:build unix && !darwin

package keychain

import "fairlead/gateway/peer/bus"

// reachable returns an error if there is no session bus, through which the keychain is reached.
func reachable() error {
	conn, err := bus.Connect()
	if err != nil {
		return err
	}
	return conn.Close()
}

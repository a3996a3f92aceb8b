//go:build unix && !darwin

package secret

import "fairlead/gateway/protocol/bus"

// reachable says why the keychain cannot be reached: it is on the bus of a desktop's session.
func reachable() error {
	conn, err := bus.Connect()
	if err != nil {
		return err
	}
	return conn.Close()
}

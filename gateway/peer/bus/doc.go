// Package bus connects to the session bus (D-Bus) of a desktop, if there is one.
//
// Without a bus, as in a login over SSH, the D-Bus library starts one with dbus-launch. A keychain
// on that bus would be empty, and the bus and the keychain would keep running after the program
// ends: two processes for each command. This package therefore never starts a bus.
package bus

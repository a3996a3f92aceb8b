// Package bus connects to the session bus of a desktop (D-Bus), where there is one.
//
// The library starts one with dbus-launch where there is none, as in a login over SSH. That one would be nobody else's, so that a keychain on it has
// nothing and tells nobody, and it would stay, with the keychain it started, when the program ends: two processes for each command.
package bus

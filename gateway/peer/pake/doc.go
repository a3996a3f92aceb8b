// Package pake pairs a device with a gateway (docs/protocol.md#pairing): invitations as links and
// as spoken codes, and the messages that prove both sides know the invitation, with a
// password-authenticated key exchange (PAKE) for the short codes. Both sides use it. Package
// gateway/pairing decides which devices are accepted.
package pake

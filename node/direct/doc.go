// Package direct connects two machines for one transfer, without the gateway between them. It is an
// extension between Fairlead's own peers:
// docs/protocol.md#transfers-between-fairleads-own-peers. Package stream defines the data that moves
// over the connection; it is the same as in messages through the gateway.
//
// The gateway stays in charge: only the gateway starts a transfer, tells each machine about the
// other, receives the progress, and stops both. A machine that loses its gateway stops as well.
//
// The risk is a port that opens on somebody's machine. Therefore:
//
//   - A machine opens no port and connects to no other machine unless its owner allows it ([LAN]).
//     By default it makes only outgoing connections to its gateway. A machine that runs in the
//     gateway's own process does not take part, because its data needs no other route.
//   - The destination listens only for a transfer that it has accepted, on the addresses of its own
//     private networks and never on all addresses, and on ports that the system chooses. It listens
//     until the source has connected, at most 30 seconds. Connections from other networks are
//     closed.
//   - The source connects only to private networks that it is on itself, and never to a port below
//     1024: a gateway cannot use it to probe other networks.
//   - Both machines use TLS 1.3 without resumption. Each shows a certificate whose key is made for
//     this one attempt and identified by its SHA-256, which the other learns over its own
//     authenticated connection to the gateway. The long-lived device keys are not used: nothing
//     that is learned here is valid elsewhere, and machines that share a token without being paired
//     can take part too.
//   - Within TLS the source proves that it has the token of this transfer, and the destination
//     answers in kind. The proof is an HMAC over the transfer's ID and keying material that only
//     the two ends of this TLS session know (RFC 9266). The token itself never crosses a direct
//     connection, and a recorded or relayed proof is useless in another session. Only one proof is
//     accepted.
//
// A gateway could lie about the pins and sit between the two machines. It already sees every byte
// of a transfer that goes through it in messages, so this gives it nothing new. An honest gateway
// cannot read a connection of the machines' own.
package direct

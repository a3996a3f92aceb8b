// Package direct connects two machines for one transfer beside their connections to the gateway (issue 6; an extension between our own ends): straight, or
// through the gateway's port, where it joins a second connection of each (package junction). What moves over the connection is package stream's, as in
// messages through the gateway.
//
// The gateway stays in charge: it alone says that a transfer runs, tells each end of the other one, hears of the progress, and stops both. A machine
// that lost its gateway stops as well.
//
// What is at stake is a port that opens on somebody's machine, and whom it lets in. Therefore:
//
//   - A machine opens no port and connects to no other machine unless its owner says so ([LAN]); otherwise it makes only outgoing connections to its
//     gateway, where it has met it, and that stays the default. One that runs in the gateway's own process takes no part: its way is the straight one.
//   - The destination listens only for a transfer that it has accepted, on the addresses of its own private networks and never on all of them, on
//     ports that the system chooses, until the source has come or 30 seconds are over. Whoever comes from another network is hung up on.
//   - The source connects only into private networks that it is on itself, and to no port below 1024: a gateway cannot have it look around elsewhere.
//   - TLS 1.3, no resumption. Both ends show a certificate whose key is made for this one attempt and known by its SHA-256, which each learns over
//     its own authenticated connection to the gateway. The devices' long-lived keys are not used: nothing that is learned here is worth anything
//     elsewhere, and machines that are not paired but share a token can do it too.
//   - Over that the source proves that it has a token of this transfer, and the destination answers in kind: an HMAC over what only the two ends of
//     this TLS session know (RFC 9266) and the transfer's id. The token itself goes over no direct connection, and what is overheard or passed on is
//     worth nothing in another session. The first proof is the last that is taken.
//
// The gateway could lie about the pins and sit between the two. It sees every byte of a transfer in messages anyway: a connection of the ends' own takes
// nothing away from it that it has to be kept from. One that keeps to the rules sees nothing of what goes over them.
package direct

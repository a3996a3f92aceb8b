// Package junction joins a second connection of two machines at the gateway, so that the bytes of a
// transfer pass through it unchanged (an extension;
// docs/protocol.md#transfers-between-fairleads-own-peers).
//
// A message through the gateway is decrypted and encrypted again there, and copied several times. A
// large file is worth a connection of its own: each end opens a second connection to the gateway's
// port and shows a ticket instead of a TLS greeting ([Enter]). When both are there, [Junction]
// copies between them; on Linux the data stays in the kernel. The ends speak TLS with each other
// over the joined connection (package node/direct), so the gateway cannot read the data. Someone
// who intercepts a ticket can only prevent the two ends from meeting.
//
// A ticket is random, works for one connection of one end, and is valid until the gateway withdraws
// it. A connection that sends nothing within [callLimit] is closed.
package junction

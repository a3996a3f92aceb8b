// Package rpc is the WebSocket surface of seed 004: handshake, methods, events.
//
// A connection has one goroutine that reads, one that writes, one that pushes events, and one for each request in flight. Every
// request is answered exactly once. What the original leaves open is closed here: every method has a scope, a node may call only
// what a node needs, a repeated connect is refused, and a 401 is sent before the socket closes.
//
// Clients that subscribe to the feed get numbered changes; the others get the chat events of the seed, with the session key in the spelling
// that they themselves used, because the original's clients compare it as text.
package rpc

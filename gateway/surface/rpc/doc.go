// Package rpc is the WebSocket surface of seed 004: handshake, methods, events.
//
// A connection has one goroutine that reads, one that writes, one that pushes events, and one for each request in flight. Every
// request is answered exactly once. Requests of a client run beside each other, but chat.send in the order it was sent; what a node reports is
// taken in order, so that progress never overtakes a result.
//
// What the original leaves open is closed here: every method has a scope, a node may call only what a node needs, a repeated connect is
// refused, a socket that does not shake hands is closed, and a 401 is sent before its close.
//
// Clients that subscribe to the feed get numbered changes; the others get the chat events of the seed, with the session key in the spelling
// that they themselves used, because the original's clients compare it as text. A client that reads too slowly is told to subscribe again, or
// closed when it has no feed; it never holds up another.
//
// The conversations in testdata say what peers hear, for every method and every error code.
package rpc

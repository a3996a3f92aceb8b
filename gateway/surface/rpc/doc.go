// Package rpc serves the WebSocket protocol of docs/protocol.md: handshake, methods and events.
//
// A connection has one goroutine that reads, one that writes, one that pushes events, and one for
// each request in progress. Every request is answered exactly once. Requests of a client run
// concurrently, except chat.send, which runs in the order of arrival. Reports of a node are handled
// in order, so that progress never overtakes a result.
//
// Rules that the original system does not have: every method has a scope, a node may call only the
// methods that a node needs, a second connect is refused, a socket without a handshake is closed,
// and a 401 response is sent before its close.
//
// Clients that subscribe to the feed get numbered changes. Other clients get chat events, with the
// session key in the spelling that they used themselves, because clients of the original system
// compare it as text. A client that reads too slowly must subscribe again, or is closed if it has
// no feed; it never blocks another client.
//
// The conversations in testdata show the messages of every method and every error code.
package rpc

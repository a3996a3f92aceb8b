// Package gateway is the composition root: it builds the parts of a gateway in order and stops them in the reverse one. It has no
// behaviour of its own.
//
// # The map
//
// Imports point down; layers_test.go holds that.
//
//	L5  main.go  gateway/cmd/fairlead  node/cmd/fairlead-node      wire things together
//	L4  app, app/*, tray               gateway/surface/rpc                 surfaces
//	L3  node, node/*                   gateway/session             the hands; conversations
//	L2  gateway/agent dispatch approval journal nodes auth workspace
//	L1  gateway/store config event llm
//	L0  gateway/protocol, protocol/tool, protocol/client, protocol/secret, assets     the contract
//
// A chat message travels: rpc.chat.send → session (one goroutine per session owns queue and run) → agent (the loop, as
// phases) → llm (a model streams) → dispatch (validate → approve → journal → route) → nodes → a node's tool; the
// result returns up the same stack. What happens on the way is published on event.Bus and leaves through rpc as the feed.
//
// Windows and the node of the same process use the same protocol over memory: they are clients like any other, only
// trusted as the owner because nobody else can reach that transport.
//
// # What lasts
//
// Everything acknowledged is in SQLite before the acknowledgement leaves (package store). A run survives a kill as its row, its
// messages, its calls' journal rows and its open questions; session.Manager.Resume puts it together again.
package gateway

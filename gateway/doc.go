// Package gateway wires the parts of a gateway together: [Open] builds them in order, and Close
// stops them in reverse order.
//
// # Levels
//
// A package may import its own level and the levels below it. layers_test.go checks that for every
// system, and docs/architecture.md lists every package.
//
//	wiring      main.go  app  gateway  gateway/cmd/fairlead  node/cmd/fairlead-node
//	surfaces    gateway/surface/*  app/*  tray
//	behaviour   gateway/{agent,session,cron,channel,transfer,pairing,network}  node/*
//	stages      gateway/{tool,journal,approval,nodes,native,auth,workspace,skills}
//	foundation  gateway/{store,config,event,policy,llm,speech}  gateway/cron/when
//	client      gateway/protocol/client
//	peer        gateway/peer/*: code that both ends of a connection run
//	contract    gateway/protocol (wire types only)  assets
//
// A chat message travels from rpc to session (one goroutine per session owns its queue and its
// run), agent (the loop), llm (a model streams), tool (one path for every call: decide, approve,
// journal, execute), nodes and a node's tool. The result returns the same way. Changes are
// published on event.Bus and leave through rpc as the feed.
//
// The windows and the node of the same process use the same protocol over memory. They are clients
// like any other, trusted as the owner because nobody else can reach that transport.
//
// # Durability
//
// Everything that is acknowledged is in SQLite before the acknowledgement leaves. A run survives a
// kill as its row, its messages, its calls in the journal and its pending approvals;
// session.Sessions.Resume continues it.
package gateway

// Package transfer queues transfers of files and says in words what they move and how far they are,
// for the page of transfers, the tray, notifications and whatever sends files. It knows no toolkit.
package transfer

import (
	"context"

	"fairlead/app/feed"
	"fairlead/app/lists"
	"fairlead/gateway/protocol"
)

// Fetch queues the transfer of a file to a folder of this computer. It blocks.
func Fetch(ctx context.Context, g feed.Gateway, from protocol.NodeID, file, dir string) (protocol.Transfer, error) {
	return feed.Call(ctx, g, protocol.TransferStart, protocol.TransferStartParams{Sources: []string{string(from) + ":" + file}, Destination: protocol.Here + ":" + dir, Into: true})
}

// Send queues a transfer from one machine to a folder of another. It blocks.
func Send(ctx context.Context, g feed.Gateway, from protocol.NodeID, paths []string, to protocol.NodeID, dir string) (protocol.Transfer, error) {
	sources := lists.Map(paths, func(f string) string { return string(from) + ":" + f })
	return feed.Call(ctx, g, protocol.TransferStart, protocol.TransferStartParams{
		Sources: sources, Destination: string(to) + ":" + dir, Into: true, Later: true,
	})
}

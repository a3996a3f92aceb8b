// Package stream implements both ends of a transfer, wherever they are: a node, the gateway's own
// workspace, a window or the command line.
//
// [Ends] serves the events and methods of a transfer (docs/protocol.md#transfers). With a peer that
// does not know the extensions, binary frames carry the bytes of one file. Between two of
// Fairlead's own ends they carry records ([protocol.TransferStream]): a [Sender] walks files and
// folders, a [Receiver] writes them, and the gateway relays frames in both directions.
//
// Flow control: the sender may have at most [Window] unwritten bytes in flight; the receiver grants
// credit for what it has written. With [Sender.Early] the sender starts before the receiver has
// answered, so that the first byte is written two and a half round trips with the gateway after the
// request. What it sends of the first file then counts only if the receiver has nothing of it
// ([earlyStart]).
//
// Files: a file is received into a hidden part file in the destination folder, which is named after
// the transfer, so that a later attempt can continue it. It gets its name atomically when its
// SHA-256 matches. The receiver does not trust the sender: it checks names ([CheckName]), opens
// everything relative to the handle of the chosen folder (os.Root), and never enters a folder
// through a symbolic link. Replaced files are retained for [TrashAge] and can be restored. Holes of
// sparse files are sent as holes, and only data needs disk space.
//
// Resume: each end stores the state of its hashes every 16 MiB in a log of checkpoints
// ([checkpointLog]), so that a later attempt does not hash those bytes again if the file is still
// the same one. A checkpoint is stored only after the disk has the bytes before it
// ([checkpointWriter]). The final checksum covers all bytes of all attempts, so a wrong checkpoint
// is always detected. A part file that another program may have changed, because its times differ
// or its writer was killed, is hashed again before it is continued. A lost or damaged checkpoint
// costs time only: the whole file is hashed, and checksums of blocks tell how much of it is valid.
//
// Concurrency: only one attempt of a transfer at a time uses its files ([attemptID]); the next one
// waits for the previous one.
//
// Direct connections: when [Direct] connects the two ends, the same frames travel over that
// connection ([directConn]) as soon as it exists ([route]). The source announces the switch in its
// last record through the gateway, and then the destination does, so that each reads everything in
// order. Each end sends a heartbeat every five seconds; an end that is silent for twenty seconds
// counts as lost. The destination's last message is a frame of its own; a connection that ends
// without it has lost data. Then both ends announce in a record through the gateway that they
// switch back, and a new [Sender] and [Receiver] continue as a later attempt would: from the part
// files, by their hashes. So no end needs to know which frames were lost.
package stream

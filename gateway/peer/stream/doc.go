// Package stream implements both ends of a transfer, wherever they are: a node, the gateway's own
// workspace, a window or the command line.
//
// [Ends] serves the events and methods of a transfer (docs/protocol.md#transfers). With a peer that
// does not know the extensions, binary frames carry the bytes of one file. Between two of
// Fairlead's own ends they carry records ([protocol.TransferStream]): a [Sender] walks files and
// folders, a [Receiver] writes them, and the gateway relays frames in both directions.
//
// Flow control: the sender may have at most [Window] unwritten bytes in flight; the receiver grants
// credit for what it has written.
//
// Files: a file is received into a hidden part file in the destination folder, which is named after
// the transfer, so that a later attempt can continue it. It gets its name atomically when its
// SHA-256 matches. The receiver does not trust the sender: it checks names ([CheckName]), opens
// everything relative to the handle of the chosen folder (os.Root), and never enters a folder
// through a symbolic link. Replaced files are retained for [TrashAge] and can be restored. Holes of
// sparse files are sent as holes, and only data needs disk space.
//
// Resume: each end keeps the states of its hashes in memory ([checkpoints]), so that a later attempt
// in the same process hashes little again if the file is still the same one. After a restart of the
// program, the part file is hashed again before it is continued, and checksums of blocks tell how
// much of it is valid. The final checksum covers all bytes of all attempts.
//
// Concurrency: only one attempt of a transfer at a time uses its files; the next one waits for the
// previous one.
//
// Direct connections: if the source can connect to the destination ([Direct]), it sends the same
// frames over that connection ([directConn]), and otherwise through the gateway. The destination
// answers on the way on which data arrives. If the connection is lost, each end tells the gateway,
// which starts another attempt without one; that continues from the part files.
package stream

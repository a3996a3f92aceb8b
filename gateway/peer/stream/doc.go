// Package stream is what the two ends of a transfer do, wherever they are: a node, the gateway's own workspace, a window or the command line.
//
// [Ends] serves the lifecycle of seed 004 (transfer.send, meta, receive, accept, start, complete, end, done). With a peer that knows only the seed
// one file's bytes travel in binary frames. Between our own ends the frames carry records instead (extension, [protocol.TransferStream]): a [Sender]
// walks files and folders, a [Receiver] writes them, and they speak to each other through the gateway, which relays frames in both directions.
//
// A sender that is told so ([Sender.Early]) begins before the receiver has said anything, so that the first byte is written two and a half round trips
// with the gateway after the request: what it sends of the first file counts only if the receiver turns out to have nothing of it ([guess]).
//
// The sender may have at most [Window] bytes under way: the receiver gives back what it has written. Every file is compared by SHA-256 before it gets
// its name, in one step; until then it is a hidden part file in the same folder, named after the transfer, so that a later attempt goes on where this
// one was cut. What a sender says is never trusted: names are checked ([CheckName]), everything is made relative to the handle of the chosen folder
// (os.Root), and folders are never entered through a symbolic link.
//
// Neither end hashes again what it has hashed in an earlier attempt: each writes the states of its sums down every 16 MiB ([trail]), for a file of which
// it can tell that it is still the same one. What such a record may vouch for is decided in [keeper]: never for more than the disk has. The sum at the
// end is made of all bytes that were sent or received, in whatever attempt, so an end that went on from a wrong state is found out there. A part of which
// somebody else may have written something, because its times are others or its writer was killed, is hashed as it is on the disk before it is gone on
// with. A record that is lost, torn, or of another file costs time only: then the whole file is hashed, and the sums at the ends of blocks tell how much
// of it is good.
//
// What is replaced is kept ([KeptAge]) and can be brought back; holes of sparse files travel as holes, and only data needs room.
//
// One attempt of a transfer at a time has its files ([turn]): the next one waits until the one before has let go of them.
//
// Where [Direct] connects the two ends, the same records go over that connection in the same frames ([lane]) from when it is there ([road]): the source says
// so in its last record through the gateway, and the destination likewise, so that each reads everything in order. Over it goes a beat every five seconds; an
// end that is silent for twenty is given up. The destination's last word is a frame of its own: a connection that ends without it has lost something.
// Then each end says so in a record through the gateway, waits for the other's, and a fresh [Sender] and [Receiver] go on there as a later attempt
// would: from the part files, by their hashes. Nothing has to be counted or sent again to know what was lost on the way.
package stream

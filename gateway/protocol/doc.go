// Package protocol defines the messages between a gateway and its nodes and clients: the types of
// every method and event, the frames that carry them, IDs, error codes and limits. It contains no
// I/O and imports only the standard library, so that other programs can import it alone.
//
// The guide to the protocol is docs/protocol.md; docs/protocol-reference.md is generated from the
// comments in this package. The protocol is that of GSV (see docs/protocol.md). Everything that
// Fairlead adds is an extension: a method or event that is listed in [Methods] or [Events] with
// Extension set, or an optional field whose comment says "extension". A peer that does not know the
// extensions works without them.
//
// Times on the wire are Unix milliseconds. IDs have types of their own and are opaque: only
// [ToolName] may be parsed.
package protocol

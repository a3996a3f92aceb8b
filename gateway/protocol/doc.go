// Package protocol is the contract between a Fairlead gateway, its nodes and its clients: every type and every name on
// the wire, and nothing that acts. It uses the standard library only, so that a peer can import it alone.
//
// The wire is that of seed 004: JSON text frames (req, res, evt) and binary chunk frames over one WebSocket. What seed 004
// leaves open follows the interop notes of the original system. Everything of ours is an extension: a method or event that
// is listed in [Methods] or [Events] with Extension set, or an optional field whose comment says "extension". A peer
// that knows only the seeds never needs one.
//
// Times on the wire are Unix milliseconds. Ids are types; none may be parsed except [ToolName].
package protocol

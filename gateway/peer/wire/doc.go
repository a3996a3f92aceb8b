// Package wire sends and receives the frames of one WebSocket connection (docs/protocol.md#frames).
// Gateway and client share it, so that limits, keep-alive and the order of frames are the same on
// both sides.
package wire

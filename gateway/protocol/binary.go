package protocol

import "encoding/binary"

// ChunkSize is the largest number of data bytes in a binary frame that Fairlead sends. Receivers
// accept any size.
const ChunkSize = 256 << 10

// chunkHeader is the length of a binary frame's header in bytes: the transfer ID as an unsigned
// 32-bit little-endian integer.
const chunkHeader = 4

// AppendChunk appends a binary frame with the given data to dst.
func AppendChunk(dst []byte, transfer uint32, data []byte) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, transfer)
	return append(dst, data...)
}

// ParseChunk splits a binary frame. data shares memory with frame and may be empty; ok is false
// when the frame is shorter than its header.
func ParseChunk(frame []byte) (transfer uint32, data []byte, ok bool) {
	if len(frame) < chunkHeader {
		return 0, nil, false
	}
	return binary.LittleEndian.Uint32(frame), frame[chunkHeader:], true
}

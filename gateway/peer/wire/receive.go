package wire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"time"

	"github.com/gorilla/websocket"
)

// Receive reads one text frame. It calls alive for each piece that arrives, so that a large frame
// may arrive slowly. It passes other kinds of frames to other, which may be nil, and skips what
// other leaves unread.
func Receive(ws *websocket.Conn, alive func(), other func(kind int, r io.Reader)) ([]byte, error) {
	for {
		kind, r, err := ws.NextReader()
		if err != nil {
			return nil, err
		}
		alive()
		if kind == websocket.TextMessage {
			return readText(r, alive)
		}
		if other != nil {
			other(kind, r)
		}
		if _, err := io.Copy(io.Discard, r); err != nil {
			return nil, err
		}
	}
}

// readText reads a whole frame into memory that the caller owns.
func readText(r io.Reader, alive func()) ([]byte, error) {
	var buf bytes.Buffer
	for {
		_, err := io.CopyN(&buf, r, MinSpeed)
		if errors.Is(err, io.EOF) {
			return buf.Bytes(), nil
		}
		if err != nil {
			return nil, err
		}
		alive()
	}
}

// start is the zero of the times in pings, so that a peer learns nothing about this machine's
// clock.
var start = time.Now()

// Ping sends a ping that contains its time. It is safe to call concurrently with everything else on
// the connection.
func Ping(ws *websocket.Conn) error {
	payload := binary.BigEndian.AppendUint64(nil, uint64(time.Since(start)))
	return ws.WriteControl(websocket.PingMessage, payload, time.Now().Add(WriteLimit))
}

// RoundTrip returns the time since the ping that a pong answers; false if the pong does not answer
// a [Ping].
func RoundTrip(pong string) (time.Duration, bool) {
	if len(pong) != 8 {
		return 0, false
	}
	took := time.Since(start) - time.Duration(binary.BigEndian.Uint64([]byte(pong)))
	return took, took >= 0 && took < time.Hour
}

package wire

import (
	"encoding/binary"
	"time"

	"github.com/gorilla/websocket"
)

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

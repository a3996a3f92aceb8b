package wire

import (
	"encoding/binary"
	"time"

	"github.com/gorilla/websocket"
)

// start is what the times in pings count from: a peer learns nothing of this machine's clock.
var start = time.Now()

// Ping sends a ping that says when it was sent. It may be called beside everything else on the connection.
func Ping(ws *websocket.Conn) error {
	payload := binary.BigEndian.AppendUint64(nil, uint64(time.Since(start)))
	return ws.WriteControl(websocket.PingMessage, payload, time.Now().Add(WriteLimit))
}

// RoundTrip is how long ago the ping was sent that a pong answers; false for one that answers none of [Ping].
func RoundTrip(pong string) (time.Duration, bool) {
	if len(pong) != 8 {
		return 0, false
	}
	took := time.Since(start) - time.Duration(binary.BigEndian.Uint64([]byte(pong)))
	return took, took >= 0 && took < time.Hour
}

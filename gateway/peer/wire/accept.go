package wire

import (
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gorilla/websocket"
)

// AcceptFrames upgrades a request of a page at the same host. Pages of others must not connect,
// though the browser may send the visitor's cookie along with their requests too. If it fails, it
// has answered.
func AcceptFrames(w http.ResponseWriter, r *http.Request, most int64) (*Frames, error) {
	upgrader := websocket.Upgrader{CheckOrigin: isFromSameHost}
	ws, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		return nil, err
	}
	return NewFrames(ws, most), nil
}

func isFromSameHost(r *http.Request) bool {
	u, err := url.Parse(r.Header.Get("Origin"))
	return err == nil && u.Host != "" && strings.EqualFold(u.Host, r.Host)
}

// Reject closes the connection with a code and a reason for the other side (RFC 6455, 7.4).
func (f *Frames) Reject(code int, reason string) error {
	err := f.ws.WriteControl(websocket.CloseMessage, websocket.FormatCloseMessage(code, reason), time.Now().Add(closeLimit))
	f.Close()
	return err
}

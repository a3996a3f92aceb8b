package wire

import (
	"errors"
	"time"

	"github.com/gorilla/websocket"
)

// closeLimit is the time limit for sending a close frame.
const closeLimit = 2 * time.Second

// limit returns the deadline for a write of that many bytes.
func limit(size int) time.Time {
	return time.Now().Add(WriteLimit + time.Duration(size/SlowRate)*time.Second)
}

// write writes text frames, small ones together. The caller has set busy.
func (w *Writer) write(list []frame) error {
	for len(list) > 0 {
		n, size := 0, 0
		for ; n < len(list) && size+len(list[n].text) <= maxDirect; n++ {
			size += len(list[n].text)
		}
		var err error
		if n < 2 || w.pile == nil {
			n = 1
			w.ws.SetWriteDeadline(limit(len(list[0].text)))
			err = w.message(websocket.TextMessage, list[0].text)
		} else {
			_, err = w.together(list[:n], func() (bool, error) { return true, w.pile.Release() })
		}
		if err != nil {
			return err
		}
		list = list[n:]
	}
	return nil
}

// together writes several frames at once.
func (w *Writer) together(list []frame, release func() (bool, error)) (bool, error) {
	w.ws.SetWriteDeadline(limit(maxDirect))
	w.pile.Hold()
	var err error
	for _, f := range list {
		if err = w.ws.WriteMessage(websocket.TextMessage, f.text); err != nil {
			break
		}
	}
	all, late := release()
	return all, errors.Join(err, late)
}

// message writes a frame at once, even if it consists of several TLS records.
func (w *Writer) message(kind int, data []byte) error {
	if w.pile == nil || w.sock != nil || len(data) < record {
		return w.ws.WriteMessage(kind, data)
	}
	w.pile.Hold()
	err := w.ws.WriteMessage(kind, data)
	return errors.Join(err, w.pile.Release())
}

func (w *Writer) writeBulk(f frame) error {
	if f.binary == nil {
		return w.write([]frame{f})
	}
	w.ws.SetWriteDeadline(limit(len(f.binary)))
	return w.message(websocket.BinaryMessage, f.binary)
}

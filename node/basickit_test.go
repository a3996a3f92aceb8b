package node

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// fields are a message of the basic protocol.
type fields = map[string]any

// report has the fields of a node's reports in the basic protocol.
type report struct {
	TransferID   uint32 `json:"transferId"`
	Size         *int64 `json:"size"`
	BytesWritten *int64 `json:"bytesWritten"`
	Error        string `json:"error"`
}

// await waits for a report and answers it.
func (l *link) await(method string) report {
	l.t.Helper()
	req := l.next(method)
	l.answer(req, fields{"ok": true})
	return decode[report](l.t, req.Params)
}

func (l *link) frame(id uint32, data string) {
	l.t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.ws.WriteMessage(websocket.BinaryMessage, append(binary.LittleEndian.AppendUint32(nil, id), data...)); err != nil {
		l.t.Error(err)
	}
}

// relayTo forwards frames until the source reports completion, and returns the number of bytes.
func (l *link) relayTo(dst *link, id uint32) (bytes int) {
	l.t.Helper()
	for {
		select {
		case data := <-l.data:
			bytes += len(data) - 4
			if got := binary.LittleEndian.Uint32(data); got != id || len(data) > 4+256<<10 {
				l.t.Errorf("got a frame of %d bytes for transfer %d, want at most 256 KiB for %d", len(data)-4, got, id)
			}
			dst.frame(id, string(data[4:]))
		case req := <-l.got:
			l.answer(req, fields{"ok": true})
			if req.Method == "transfer.complete" {
				for len(l.data) > 0 {
					data := <-l.data
					bytes += len(data) - 4
					dst.frame(id, string(data[4:]))
				}
				return bytes
			}
		case <-time.After(3 * time.Minute):
			l.t.Fatal("the source does not end")
		}
	}
}

// basicTransfer plays the gateway's part of one transfer, with one number for both ends, also when
// they are the same machine.
func basicTransfer(t *testing.T, id uint32, src *link, from string, dst *link, to string) report {
	t.Helper()
	src.send("transfer.send", fields{"transferId": id, "path": from, "later": "unknown"})
	meta := src.await("transfer.meta")
	if meta.Error != "" || meta.Size == nil {
		t.Fatalf("transfer.meta: got %+v, want a size", meta)
	}
	dst.send("transfer.receive", fields{"transferId": id, "path": to, "size": *meta.Size, "later": fields{"unknown": true}})
	if accept := dst.await("transfer.accept"); accept.Error != "" {
		t.Fatalf("transfer.accept: got error %s, want none", accept.Error)
	}
	src.send("transfer.start", fields{"transferId": id})
	if n := src.relayTo(dst, id); int64(n) != *meta.Size {
		t.Errorf("got %d bytes, want %d", n, *meta.Size)
	}
	dst.send("transfer.end", fields{"transferId": id})
	return dst.await("transfer.done")
}

func checkNoParts(t *testing.T, dir string) {
	t.Helper()
	filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(p, ".part") {
			t.Errorf("got %s, want no unfinished part", p)
		}
		return nil
	})
}

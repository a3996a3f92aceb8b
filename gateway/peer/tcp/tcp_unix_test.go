//go:build unix

package tcp

import (
	"bytes"
	"io"
	"testing"
)

func TestTryWriteTakesWhatTheSystemTakes(t *testing.T) {
	near, far := pair(t)
	w := near.(*Conn)
	whole := bytes.Repeat([]byte("x"), 64<<20)
	n, err := w.TryWrite(whole)
	if err != nil || n == 0 || n == len(whole) {
		t.Fatalf("%d of %d bytes, %v", n, len(whole), err)
	}
	if more, err := w.TryWrite(whole); err != nil || more == len(whole) {
		t.Errorf("then %d bytes, %v", more, err)
	} else {
		n += more
	}
	near.Close()
	if got, err := io.Copy(io.Discard, far); got != int64(n) || err != nil {
		t.Errorf("%d of %d bytes arrived, %v", got, n, err)
	}
}

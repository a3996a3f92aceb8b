package supervisor

import (
	"bufio"
	"bytes"
	"encoding/gob"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

type request struct {
	ID    uint64
	Start *wireRequest
	Kill  bool
}

// wireRequest is a Spec in transit. Its files are sent beside it.
type wireRequest struct {
	Spec
	Files [4]bool
}

// answer is the helper's report about a command.
type answer struct {
	ID     uint64
	Kind   answerKind
	PID    int
	Status syscall.WaitStatus
	// Tag marks the command's processes. Signalled is the number of them that were ended by
	// signals, without the command's own.
	Tag       uint64
	Signalled int
	// Refused are programs that the command was not allowed to start.
	Refused []string
	// Err is the reason why a command did not start, Errno the system's error number.
	Err   string
	Errno syscall.Errno
}

type answerKind int

const (
	started answerKind = iota
	refused
	exited
	done
)

// wire sends gob values and open files over a Unix socket. One goroutine reads; any may write.
type wire struct {
	conn  *net.UnixConn
	dec   *gob.Decoder
	files []*os.File // received and not yet taken

	mu  sync.Mutex
	buf bytes.Buffer
	enc *gob.Encoder
}

func newWire(f *os.File) (*wire, error) {
	c, err := net.FileConn(f)
	f.Close()
	if err != nil {
		return nil, err
	}
	conn, ok := c.(*net.UnixConn)
	if !ok {
		c.Close()
		return nil, errors.New("not a Unix socket")
	}
	w := &wire{conn: conn}
	w.enc = gob.NewEncoder(&w.buf)
	w.dec = gob.NewDecoder(bufio.NewReaderSize(fileReceiver{w}, 16<<10))
	return w, nil
}

// send writes one value. Files arrive with its first byte; the caller owns them.
func (w *wire) send(v any, files ...*os.File) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.buf.Reset()
	if err := w.enc.Encode(v); err != nil {
		return err
	}
	data := w.buf.Bytes()
	if len(files) > 0 {
		var fds []int
		for _, f := range files {
			fds = append(fds, int(f.Fd()))
		}
		n, _, err := w.conn.WriteMsgUnix(data, unix.UnixRights(fds...), nil)
		if err != nil {
			return err
		}
		data = data[n:]
	}
	_, err := w.conn.Write(data)
	return err
}

func (w *wire) receive(v any) error { return w.dec.Decode(v) }

// takeFiles returns the first n received files. Only the receiving goroutine may call it.
func (w *wire) takeFiles(n int) ([]*os.File, error) {
	if len(w.files) < n {
		return nil, errors.New("the files were not received")
	}
	f := w.files[:n:n]
	w.files = w.files[n:]
	return f, nil
}

type fileReceiver struct{ w *wire }

func (s fileReceiver) Read(p []byte) (int, error) {
	var oob [128]byte
	n, oobn, _, _, err := s.w.conn.ReadMsgUnix(p, oob[:])
	if err != nil {
		return 0, err // n is -1 then, which a reader may not return
	}
	if oobn > 0 {
		msgs, err := unix.ParseSocketControlMessage(oob[:oobn])
		if err != nil {
			return n, err
		}
		for i := range msgs {
			fds, err := unix.ParseUnixRights(&msgs[i])
			if err != nil {
				return n, err
			}
			for _, fd := range fds {
				s.w.files = append(s.w.files, os.NewFile(uintptr(fd), "passed"))
			}
		}
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

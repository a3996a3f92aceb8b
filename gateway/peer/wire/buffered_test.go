package wire

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"io"
	"math/big"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// counted counts system calls.
type counted struct {
	net.Conn
	reads, writes atomic.Int64
}

func (c *counted) Read(b []byte) (int, error)  { c.reads.Add(1); return c.Conn.Read(b) }
func (c *counted) Write(b []byte) (int, error) { c.writes.Add(1); return c.Conn.Write(b) }

// bufferedPair returns a TLS connection with a BufferedConn on both sides.
func bufferedPair(t *testing.T) (near, far *tls.Conn, below, under *counted) {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	accepted := make(chan net.Conn, 1)
	go func() {
		c, err := l.Accept()
		if err != nil {
			t.Error(err)
		}
		accepted <- NewBufferedConn(c)
	}()
	raw, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	below = &counted{Conn: raw}
	near = tls.Client(NewBufferedConn(below), &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13})
	p := (<-accepted).(*BufferedConn)
	under = &counted{Conn: p.Conn}
	p.Conn = under
	p.r.Reset(under)
	far = tls.Server(p, &tls.Config{MinVersion: tls.VersionTLS13, Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}})
	t.Cleanup(func() { near.Close(); far.Close() })
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := far.Handshake(); err != nil {
			t.Error(err)
		}
	})
	if err := near.Handshake(); err != nil {
		t.Fatal(err)
	}
	wg.Wait()
	return near, far, below, under
}

func TestBufferedConnSendsRecordsTogether(t *testing.T) {
	near, far, below, under := bufferedPair(t)
	frame := make([]byte, 256<<10)
	rand.Read(frame)
	const frames = 20
	conn := near.NetConn().(*BufferedConn)
	before, read := below.writes.Load(), under.reads.Load()
	var wg sync.WaitGroup
	wg.Go(func() {
		for range frames {
			conn.Hold()
			_, err := near.Write(frame)
			if flushErr := conn.Flush(); err != nil || flushErr != nil {
				t.Error(err, flushErr)
				return
			}
		}
	})
	got := make([]byte, len(frame))
	for range frames {
		if _, err := io.ReadFull(far, got); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, frame) {
			t.Fatal("other bytes were received")
		}
	}
	wg.Wait()
	if n := below.writes.Load() - before; n != frames {
		t.Errorf("%d frames took %d writes", frames, n)
	}
	if n := under.reads.Load() - read; n > frames*14 { // 17 records each, in far fewer reads
		t.Errorf("%d frames took %d reads", frames, n)
	}
}

func TestBufferedConnFlush(t *testing.T) {
	near, far, _, _ := bufferedPair(t)
	conn := near.NetConn().(*BufferedConn)
	big := make([]byte, 3*writeBuffer) // more than the buffer holds
	rand.Read(big)
	var wg sync.WaitGroup
	wg.Go(func() {
		conn.Hold()
		near.Write(big)
		if err := conn.Flush(); err != nil {
			t.Error(err)
		}
		near.Write([]byte("after"))
	})
	got := make([]byte, len(big)+len("after"))
	far.SetReadDeadline(time.Now().Add(3 * time.Minute))
	if _, err := io.ReadFull(far, got); err != nil || !bytes.Equal(got[:len(big)], big) || string(got[len(big):]) != "after" {
		t.Errorf("%v", err)
	}
	wg.Wait()
	near.NetConn().Close()
	conn.Hold()
	if _, err := near.Write([]byte("lost")); err == nil {
		err = conn.Flush()
		if err == nil {
			t.Error("a flush to a closed connection returned no error")
		}
	}
}

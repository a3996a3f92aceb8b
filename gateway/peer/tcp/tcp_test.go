package tcp

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"time"
)

// pair returns both sides of a loopback connection, wrapped.
func pair(t *testing.T) (near, far net.Conn) {
	t.Helper()
	near, far = plain(t)
	return Wrap(near), Wrap(far)
}

func plain(t *testing.T) (near, far net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	near, err = net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	far, err = l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { near.Close(); far.Close() })
	return near, far
}

func TestEverythingArrivesInOrder(t *testing.T) {
	near, far := pair(t)
	want := make([]byte, 32<<20) // more than the system buffers
	_, _ = rand.NewChaCha8([32]byte{1}).Read(want)
	var wg sync.WaitGroup
	wg.Go(func() {
		rnd := rand.New(rand.NewPCG(1, 2))
		for left := want; len(left) > 0; {
			n, err := near.Write(left[:min(len(left), rnd.IntN(1<<20))])
			if err != nil {
				t.Error(err)
				return
			}
			left = left[n:]
		}
		near.Close()
	})
	got, err := io.ReadAll(far)
	wg.Wait()
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d of %d bytes, %v", len(got), len(want), err)
	}
	if n, err := far.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("behind the end: %d, %v", n, err)
	}
}

func TestWritesOfManyDoNotMix(t *testing.T) {
	near, far := pair(t)
	const size = 3 << 20
	var wg sync.WaitGroup
	for _, letter := range "abcd" {
		wg.Go(func() {
			if n, err := near.Write(bytes.Repeat([]byte{byte(letter)}, size)); n != size || err != nil {
				t.Error(n, err)
			}
		})
	}
	got := make([]byte, size)
	for range 4 {
		if _, err := io.ReadFull(far, got); err != nil || bytes.Count(got, got[:1]) != size {
			t.Fatalf("%d of %d bytes are %q, %v", bytes.Count(got, got[:1]), size, got[:1], err)
		}
	}
	wg.Wait()
}

func TestWhoWaitsIsTold(t *testing.T) {
	near, far := pair(t)
	near.SetReadDeadline(time.Now().Add(-time.Second))
	_, err := near.Read(make([]byte, 1))
	var slow net.Error
	if !errors.Is(err, os.ErrDeadlineExceeded) || !errors.As(err, &slow) || !slow.Timeout() {
		t.Errorf("after the time: %v", err)
	}
	near.SetReadDeadline(time.Time{})
	go func() { // the deadline passes in the middle of the write
		if _, err := far.Read(make([]byte, 1)); err != nil {
			t.Error(err)
		}
		near.SetWriteDeadline(time.Now().Add(-time.Second))
	}()
	if n, err := near.Write(make([]byte, 64<<20)); n == 0 || n == 64<<20 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("a write that nobody reads: %d, %v", n, err)
	}
	read := make(chan error)
	go func() {
		_, err := near.Read(make([]byte, 1))
		read <- err
	}()
	near.Close()
	if err := <-read; !errors.Is(err, net.ErrClosed) {
		t.Errorf("closed meanwhile: %v", err)
	}
	if _, err := near.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("written after the end: %v", err)
	}
	far.Close()
}

func TestAResetSaysWhose(t *testing.T) {
	near, far := plain(t)
	near = Wrap(near)
	if err := far.(*net.TCPConn).SetLinger(0); err != nil {
		t.Fatal(err)
	}
	far.Close()
	_, err := near.Read(make([]byte, 1))
	var told *net.OpError
	if !errors.Is(err, syscall.ECONNRESET) || !errors.As(err, &told) || told.Op != "read" || told.Addr.String() != near.RemoteAddr().String() {
		t.Errorf("%v", err)
	}
}

func TestAnotherConnectionStaysWhatItIs(t *testing.T) {
	a, b := net.Pipe()
	defer a.Close()
	defer b.Close()
	if Wrap(a) != a {
		t.Error("it is wrapped")
	}
}

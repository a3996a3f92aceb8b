package client

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func TestMemoryWritesDoNotWaitForTheReader(t *testing.T) {
	a, b := pipe()
	if _, err := a.Write([]byte("one ")); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Write([]byte("two")); err != nil {
		t.Fatal(err)
	}
	a.Close()
	got, err := io.ReadAll(b)
	if err != nil || string(got) != "one two" {
		t.Errorf(`read: got %q, %v; want no error and "one two"`, got, err)
	}
	if _, err := b.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("write to a closed pipe: %v", err)
	}
}

func TestMemoryHoldsBackAWriterThatIsTooFast(t *testing.T) {
	a, b := pipe()
	data := bytes.Repeat([]byte("0123456789abcdef"), 3*maxBuffered/16)
	var wg sync.WaitGroup
	wg.Go(func() {
		if n, err := a.Write(data); err != nil || n != len(data) {
			t.Errorf("Write = %d, %v; want no error and %v", n, err, len(data))
		}
		a.Close()
	})
	got, err := io.ReadAll(b)
	wg.Wait()
	if err != nil || !bytes.Equal(got, data) {
		t.Errorf("read %d of %d bytes, %v; want all", len(got), len(data), err)
	}
}

func TestMemoryDeadlines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b := pipe()
		began := time.Now()
		a.SetReadDeadline(began.Add(time.Second))
		if _, err := a.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("Read = %v after %s; want error ErrDeadlineExceeded and time since began Second", err, time.Since(began))
		}
		var timeout net.Error
		if _, err := a.Read(make([]byte, 1)); !errors.As(err, &timeout) || !timeout.Timeout() {
			t.Errorf("Read = %v; want an error of type net.Error and Timeout", err)
		}
		a.SetDeadline(time.Time{})
		b.Write([]byte("x"))
		if n, err := a.Read(make([]byte, 1)); n != 1 || err != nil {
			t.Errorf("Read after the deadline was taken back = %d, %v; want 1 and no error", n, err)
		}
		a.SetWriteDeadline(time.Now().Add(time.Second))
		if n, err := a.Write(make([]byte, maxBuffered+1)); n != maxBuffered || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("Write = %d, %v; want %v and error ErrDeadlineExceeded", n, err, maxBuffered)
		}
	})
}

func TestClosedMemoryRefusesDials(t *testing.T) {
	dial, l := Memory()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := dial(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("dial = %v, want error Canceled", err)
	}
	l.Close()
	l.Close()
	if _, err := dial(t.Context()); !errors.Is(err, net.ErrClosed) {
		t.Errorf("dial = %v, want error ErrClosed", err)
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept = %v, want error ErrClosed", err)
	}
}

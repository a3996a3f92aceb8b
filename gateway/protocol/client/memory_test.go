package client

import (
	"context"
	"errors"
	"net"
	"testing"
)

func TestClosedMemoryRefusesDials(t *testing.T) {
	dial, l := Memory()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := dial(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("dial = %v", err)
	}
	l.Close()
	l.Close()
	if _, err := dial(t.Context()); !errors.Is(err, net.ErrClosed) {
		t.Errorf("dial = %v", err)
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Accept = %v", err)
	}
}

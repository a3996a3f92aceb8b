package format

import (
	"context"
	"errors"
	"net"
	"os"
	"strings"
	"syscall"
	"testing"
)

func TestUnreachableSaysWhatToCheck(t *testing.T) {
	t.Parallel()
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	for want, err := range map[string]error{
		"the address cellar:8788 was not found: check the network": dial(&net.DNSError{Name: "cellar", IsNotFound: true}),
		"the address cellar:8788 could not be looked up":           dial(&net.DNSError{Name: "cellar", IsTimeout: true}),
		"nothing answers at cellar:8788":                           dial(os.NewSyscallError("connect", syscall.ECONNREFUSED)),
		"cellar:8788 cannot be reached: check the network":         dial(os.NewSyscallError("connect", syscall.EHOSTUNREACH)),
		"cellar:8788 did not answer in time":                       dial(context.DeadlineExceeded),
		"the connection to cellar:8788 failed: odd":                errors.New("odd"),
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			if got := Unreachable("cellar:8788", err); !strings.HasPrefix(got, want) || strings.Contains(got, "dial") {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

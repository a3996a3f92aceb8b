package node

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/lock"
)

// WorksError says that another program with the same data folder is already a node of the gateway.
// Both have the same key, and a gateway accepts one connection per key, so the two would displace
// each other.
type WorksError struct {
	Gateway string // the gateway's name
	By      string // the program; may be empty
}

func (e *WorksError) Error() string {
	by := e.By
	if by == "" {
		by = "another program"
	}
	return fmt.Sprintf("this computer is already connected to %s by %s", e.Gateway, by)
}

// Hold makes this program the only one with the data folder home that is a node of the gateway,
// until release is called. If another program already is, the error is a *WorksError. program is
// the name that others see in theirs.
func Hold(home string, gateway identity.Peer, program string) (release func(), err error) {
	if home == "" {
		return func() {}, nil
	}
	sum := sha256.Sum256([]byte(gateway.Pin))
	l, err := lock.Acquire(filepath.Join(home, "working", hex.EncodeToString(sum[:8])+".lock"), fmt.Sprintf("%s (process %d)", program, os.Getpid()))
	if held, ok := errors.AsType[*lock.HeldError](err); ok {
		return nil, &WorksError{Gateway: gateway.Name, By: held.Holder}
	}
	if err != nil {
		return nil, err
	}
	return l.Release, nil
}

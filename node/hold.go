package node

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"fairlead/gateway/peer/lock"
	"fairlead/gateway/peer/trust"
)

// WorksError says that another program of the same data folder works for a gateway: with the same key, of which a gateway lets one in, the two would drive
// each other out.
type WorksError struct {
	Gateway string // its name
	By      string // the program; may be empty
}

func (e *WorksError) Error() string {
	by := e.By
	if by == "" {
		by = "another program"
	}
	return fmt.Sprintf("this computer works for %s already: %s does", e.Gateway, by)
}

// Hold has this program be the only one of the data folder home that is a node of a gateway, until release is called. Another one that is it is a
// *WorksError. program is what others are told this one is.
func Hold(home string, gateway trust.Peer, program string) (release func(), err error) {
	if home == "" {
		return func() {}, nil
	}
	sum := sha256.Sum256([]byte(gateway.Pin))
	l, err := lock.Take(filepath.Join(home, "working", hex.EncodeToString(sum[:8])+".lock"), fmt.Sprintf("%s (process %d)", program, os.Getpid()))
	var held *lock.HeldError
	switch {
	case errors.As(err, &held):
		return nil, &WorksError{Gateway: gateway.Name, By: held.By}
	case err != nil:
		return nil, err
	}
	return l.Release, nil
}

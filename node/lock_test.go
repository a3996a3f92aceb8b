package node

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"fairlead/gateway/peer/identity"
)

func TestOneProgramOfADataFolderWorksForAGateway(t *testing.T) {
	home := t.TempDir()
	cellar := identity.Peer{Gateway: identity.Gateway{Name: "cellar", Pin: "sha256:cellar"}}
	attic := identity.Peer{Gateway: identity.Gateway{Name: "attic", Pin: "sha256:attic"}}
	release, err := Hold(home, cellar, "fairlead node")
	if err != nil {
		t.Fatal(err)
	}
	var works *WorksError
	_, err = Hold(home, cellar, "the window")
	if !errors.As(err, &works) || err.Error() != fmt.Sprintf("this computer is already connected to cellar by fairlead node (process %d)", os.Getpid()) {
		t.Errorf("got error %v, want that this computer is connected already", err)
	}
	for home, peer := range map[string]identity.Peer{home: attic, t.TempDir(): cellar, "": cellar} {
		other, err := Hold(home, peer, "the window")
		if err != nil {
			t.Errorf("%s: %v", peer.Name, err)
			continue
		}
		other()
	}
	release()
	if release, err = Hold(home, cellar, "the window"); err != nil {
		t.Fatal(err)
	}
	release()
}

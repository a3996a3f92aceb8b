package policy

import (
	"os"
	"strings"
	"testing"
)

// TestTheShortWayToSocketsMissesNone: the fast check accepts every word of the corpus that the
// regular expression matches.
func TestTheShortWayToSocketsMissesNone(t *testing.T) {
	corpus, err := os.ReadFile("testdata/corpus.txt")
	if err != nil {
		t.Fatal(err)
	}
	words := append(strings.Fields(string(corpus)), "/run/docker.sock", "unix:///run/user/1000/podman/podman.sock", "--unix-socket=/run/containerd/containerd.sock",
		"/run/user/1000/bus", "/run/dbus/system_bus_socket", "unix:path=/run/system_bus", "/run/systemd/private/x.sock", "bus", "docker", "x.sock", "/srv/bus/x", "/bus_socket")
	found := 0
	for _, w := range words {
		want := daemonSocket.MatchString(w)
		if got := namesService(w); got != want {
			t.Errorf("%s: %v, want %v", w, got, want)
		}
		if want {
			found++
		}
	}
	if found < 8 {
		t.Errorf("only %d sockets among the words", found)
	}
}

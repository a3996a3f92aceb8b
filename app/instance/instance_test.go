package instance

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSecondStartShowsTheFirst(t *testing.T) {
	home := t.TempDir()
	first, ok := Claim(home, "")
	if !ok {
		t.Fatal("the first start found another")
	}
	if _, ok := Claim(home, ""); ok {
		t.Error("the second start did not find the first")
	}
	if first.Requests.Get() != (Requests{Count: 1}) {
		t.Error("the first was not asked to show its window")
	}
	const link = "fairlead://pair?x=a%20b"
	for given, want := range map[string]string{link: link, "http://example.org": ""} {
		if _, ok := Claim(home, given); ok || first.Requests.Get().Link != want {
			t.Errorf("given %q, the first has %+v", given, first.Requests.Get())
		}
	}
	first.Close()
	again, ok := Claim(home, "")
	if !ok {
		t.Error("a start after the end of the first found it")
	}
	again.Close()
}

func TestStaleInstanceFileDoesNotStopTheStart(t *testing.T) {
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "desktop.instance"), []byte("127.0.0.1:1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	i, ok := Claim(home, "")
	if !ok {
		t.Fatal("a file that a crash left stops the start")
	}
	i.Close()
}

// TestOtherUsersCannotImitateAStart checks that a stranger who listens on the port of a
// killed program receives no invitation and blocks no start, and that a stranger who connects
// cannot make the program show one.
func TestOtherUsersCannotImitateAStart(t *testing.T) {
	home := t.TempDir()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := os.WriteFile(filepath.Join(home, "desktop.instance"), []byte(l.Addr().String()+" secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	heard := make(chan string, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		fmt.Fprint(conn, "shown\nshown\n")
		all, _ := io.ReadAll(conn)
		conn.Close()
		heard <- string(all)
	}()
	i, first := Claim(home, "fairlead://pair?x=a")
	if !first {
		t.Fatal("somebody else's program stops the start")
	}
	defer i.Close()
	if got := <-heard; strings.Contains(got, "pair") || strings.Contains(got, "secret") {
		t.Errorf("somebody else's program was told %q", got)
	}
	for _, words := range []string{"show fairlead://pair?x=b\n", "nonce\nshow fairlead://pair?x=b\n", "nonce\nguess show fairlead://pair?x=b\n"} {
		conn, err := net.Dial("tcp", i.l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(conn, words)
		conn.(*net.TCPConn).CloseWrite()
		io.Copy(io.Discard, conn)
		conn.Close()
		if i.Requests.Get() != (Requests{}) {
			t.Errorf("%q was obeyed", words)
		}
	}
}

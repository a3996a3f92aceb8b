//go:build linux || freebsd || openbsd || netbsd

package notify

import (
	"fmt"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"fairlead/app/system/bustest"
)

// server is a small notification server and screen saver on a bus of the test.
type server struct {
	conn *dbus.Conn
	caps []string

	mu     sync.Mutex
	next   uint32
	shown  map[uint32]note
	active bool
	calls  chan string
}

type note struct {
	title, body string
	keys        []string
	hints       map[string]dbus.Variant
}

func (s *server) GetCapabilities() ([]string, *dbus.Error) { return s.caps, nil }

func (s *server) Notify(_ string, replaces uint32, _, title, body string, keys []string, hints map[string]dbus.Variant, _ int32) (uint32, *dbus.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := replaces
	if n == 0 {
		s.next++
		n = s.next
	}
	s.shown[n] = note{title, body, keys, hints}
	s.calls <- fmt.Sprintf("notify %d", n)
	return n, nil
}

func (s *server) CloseNotification(n uint32) *dbus.Error {
	s.mu.Lock()
	delete(s.shown, n)
	s.mu.Unlock()
	s.calls <- fmt.Sprintf("close %d", n)
	s.conn.Emit(serverPath, serverName+".NotificationClosed", n, uint32(3))
	return nil
}

func (s *server) GetActive() (bool, *dbus.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.active, nil
}

func (s *server) lock(on bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.active = on
}

func (s *server) note(n uint32) note {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shown[n]
}

func (s *server) wait(t *testing.T, want string) {
	t.Helper()
	select {
	case got := <-s.calls:
		if got != want {
			t.Fatalf("the server got %q, want %q", got, want)
		}
	case <-time.After(3 * time.Minute):
		t.Fatalf("the server did not get %q", want)
	}
}

func newServer(t *testing.T, caps ...string) *server {
	t.Helper()
	conn := bustest.Start(t)
	s := &server{conn: conn, caps: caps, shown: make(map[uint32]note), calls: make(chan string, 64)}
	for name, path := range map[string]dbus.ObjectPath{serverName: serverPath, "org.freedesktop.ScreenSaver": "/org/freedesktop/ScreenSaver"} {
		if err := conn.Export(s, path, name); err != nil {
			t.Fatal(err)
		}
		if r, err := conn.RequestName(name, 0); err != nil || r != dbus.RequestNameReplyPrimaryOwner {
			t.Fatalf("got %v, %v; want no error and %v", r, err, dbus.RequestNameReplyPrimaryOwner)
		}
	}
	return s
}

func newNotifier(t *testing.T) (n *Notifier, did chan string) {
	t.Helper()
	did = make(chan string, 16)
	n = New(Actions{Review: func(id string) { did <- "review " + id }, Allow: func(id string) { did <- "allow " + id }, Deny: func(id string) { did <- "deny " + id }, Shown: func(id string) { did <- "shown " + id }},
		slog.New(slog.DiscardHandler))
	t.Cleanup(n.Close)
	return n, did
}

func expect(t *testing.T, did chan string, want string) {
	t.Helper()
	select {
	case got := <-did:
		if got != want {
			t.Fatalf("did %q, want %q", got, want)
		}
	case <-time.After(3 * time.Minute):
		t.Fatalf("did not %q", want)
	}
}

func TestButtonsOfANotificationDoWhatTheySay(t *testing.T) {
	s := newServer(t, "actions", "body-markup")
	n, did := newNotifier(t)
	n.Show(Message{ID: "q", Title: "Fairlead wants to run a command", Body: "make <all>\n&& ls", Allow: true, Deny: true})
	s.wait(t, "notify 1")
	expect(t, did, "shown q")
	if got := s.note(1); got.body != "make &lt;all&gt; &amp;&amp; ls" || strings.Join(got.keys, " ") != "default Open allow Allow once deny Deny review Review" {
		t.Errorf(`got %+v; want "make &lt;all&gt; &amp;&amp; ls" and keys "default Open allow Allow once deny Deny review Review"`, got)
	}
	for _, c := range []struct{ key, want string }{{"review", "review q"}, {"default", "review q"}, {"deny", "deny q"}, {"allow", "allow q"}} {
		// of another program
		s.conn.Emit(serverPath, serverName+".ActionInvoked", uint32(99), c.key)
		s.conn.Emit(serverPath, serverName+".ActionInvoked", uint32(1), "unknown")
		s.conn.Emit(serverPath, serverName+".ActionInvoked", uint32(1), c.key)
		expect(t, did, c.want)
	}
	var icon picture
	if err := s.note(1).hints["image-data"].Store(&icon); err != nil || icon.Width != 64 || len(icon.Data) != 64*64*4 {
		t.Errorf("the icon is %d wide, %d bytes, %v; want 64, %d and no error", icon.Width, len(icon.Data), err, 64*64*4)
	}
	if _, sound := s.note(1).hints["sound-name"]; sound {
		t.Error("it has a sound")
	}
	n.Show(Message{ID: "q", Title: "It changed"})
	s.wait(t, "notify 1")
	expect(t, did, "shown q")
	n.Remove("q")
	s.wait(t, "close 1")
	n.Remove("q") // it is no longer shown
	n.Show(Message{ID: "p"})
	s.wait(t, "notify 2")
}

func TestLockedScreenHidesTheSubject(t *testing.T) {
	s := newServer(t, "actions")
	s.lock(true)
	n, did := newNotifier(t)
	n.Show(Message{ID: "q", Title: "Fairlead wants to run a command", Body: "cat secret", Deny: true})
	s.wait(t, "notify 1")
	if got := s.note(1); got.title != "Fairlead needs you" || strings.Contains(got.body, "secret") || len(got.keys) != 4 {
		t.Errorf(`got %+v; want title "Fairlead needs you", no "secret" in body and keys of length 4`, got)
	}
	s.lock(false)
	n.Show(Message{ID: "q", Title: "Fairlead wants to run a command", Body: "cat secret"})
	s.wait(t, "notify 1")
	expect(t, did, "shown q") // only now
	if got := s.note(1); got.body != "cat secret" {
		t.Errorf(`got %+v; want "cat secret"`, got)
	}
}

func TestServerWithoutButtonsGetsNone(t *testing.T) {
	s := newServer(t, "body")
	n, _ := newNotifier(t)
	n.Show(Message{ID: "q", Body: "a < b", Deny: true})
	s.wait(t, "notify 1")
	if got := s.note(1); len(got.keys) != 0 || got.body != "a < b" {
		t.Errorf(`got %+v; want no keys and "a < b"`, got)
	}
}

func TestMissingServerIsNotAnError(t *testing.T) {
	bustest.Start(t)
	n, did := newNotifier(t)
	n.Show(Message{ID: "q"})
	n.Remove("q")
	n.Close()
	if len(did) != 0 {
		t.Errorf("got %v; want no requests", <-did)
	}
}

// login1 simulates logind on the system bus.
type login1 struct{}

func (login1) Get(_, name string) (dbus.Variant, *dbus.Error) {
	return dbus.MakeVariant(name == "LockedHint"), nil
}

func TestScreenLockIsReadFromLogind(t *testing.T) {
	conn := bustest.Start(t)
	if lockedByLogind(t.Context()) {
		t.Error("locked without logind")
	}
	if err := conn.Export(login1{}, "/org/freedesktop/login1/session/auto", "org.freedesktop.DBus.Properties"); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.RequestName("org.freedesktop.login1", 0); err != nil {
		t.Fatal(err)
	}
	if !lockedByLogind(t.Context()) {
		t.Error("not locked although logind says so")
	}
}

func TestOtherProgramsCannotPressTheButtons(t *testing.T) {
	s := newServer(t, "actions")
	n, did := newNotifier(t)
	n.Show(Message{ID: "a", Title: "Question", Allow: true, Deny: true})
	s.wait(t, "notify 1")
	expect(t, did, "shown a")
	other, err := dbus.Connect(os.Getenv("DBUS_SESSION_BUS_ADDRESS"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { other.Close() })
	if err := other.Emit(serverPath, serverName+".ActionInvoked", uint32(1), keyAllow); err != nil {
		t.Fatal(err)
	}
	// The bus keeps the order of signals per sender only: after a reply, the first one was sent.
	if err := other.BusObject().Call("org.freedesktop.DBus.GetId", 0).Err; err != nil {
		t.Fatal(err)
	}
	s.conn.Emit(serverPath, serverName+".ActionInvoked", uint32(1), keyDeny)
	expect(t, did, "deny a")
}

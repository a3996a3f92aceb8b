//go:build desktop

package desktoptest

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// Names of the notification server on the bus.
const (
	notifications     = "org.freedesktop.Notifications"
	notificationsPath = dbus.ObjectPath("/org/freedesktop/Notifications")
)

// notificationServer records the notifications that a desktop would show.
type notificationServer struct {
	conn *dbus.Conn

	mu    sync.Mutex // guards shown
	shown []shownNotification
}

// shownNotification is a notification; its ID is its place in the list, from 1.
type shownNotification struct {
	title, body string
	keys        []string
}

// GetCapabilities implements the server.
func (*notificationServer) GetCapabilities() ([]string, *dbus.Error) {
	return []string{"actions", "body"}, nil
}

// Notify implements the server.
func (s *notificationServer) Notify(_ string, _ uint32, _, title, body string, keys []string, _ map[string]dbus.Variant, _ int32) (uint32, *dbus.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.shown = append(s.shown, shownNotification{title, body, keys})
	return uint32(len(s.shown)), nil
}

// CloseNotification implements the server.
func (*notificationServer) CloseNotification(uint32) *dbus.Error { return nil }

func (s *notificationServer) list() []shownNotification {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.shown)
}

func newNotificationServer(t *testing.T) *notificationServer {
	t.Helper()
	conn, err := dbus.ConnectSessionBus()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	s := &notificationServer{conn: conn}
	if err := conn.Export(s, notificationsPath, notifications); err != nil {
		t.Fatal(err)
	}
	if r, err := conn.RequestName(notifications, dbus.NameFlagReplaceExisting); err != nil || r != dbus.RequestNameReplyPrimaryOwner {
		t.Fatalf("got %v, %v; want no error and %v", r, err, dbus.RequestNameReplyPrimaryOwner)
	}
	return s
}

// TestAQuestionIsNotifiedWithoutAWindow closes the main window to the tray, after a dialog that had
// the focus, and allows a question from its notification.
func TestAQuestionIsNotifiedWithoutAWindow(t *testing.T) {
	server := newNotificationServer(t)
	p := startProgram(newDesktop(t))
	p.clickText(mainWindow, "Start now")
	c := p.gateway()
	ask := func(text string) {
		t.Helper()
		if _, err := client.Call(context.Background(), c, protocol.ChatSend, protocol.ChatSendParams{SessionKey: protocol.MainSession, Message: text}); err != nil {
			t.Fatal(err)
		}
	}
	p.activate(p.waitWindow(mainWindow))
	ask("run echo one")
	p.clickDeny()
	p.waitNoWindow(question)
	if list := server.list(); len(list) != 0 {
		t.Errorf("with a window in front it showed %+v", list)
	}

	p.activate(p.waitWindow(mainWindow))
	p.keys("ctrl+w")
	p.waitNoWindow(mainWindow)
	ask("run echo two")
	p.waitWindow(question)
	p.waitFor("the notification", func() bool { return len(server.list()) > 0 })
	n := server.list()[0]
	if !strings.Contains(n.body, "echo two on ") || !slices.Contains(n.keys, "Allow once") || !slices.Contains(n.keys, "Deny") {
		t.Errorf("the notification is %+v", n)
	}
	time.Sleep(3 * time.Second) // a person reads it; an earlier click opens the dialog
	if err := server.conn.Emit(notificationsPath, notifications+".ActionInvoked", uint32(1), "allow"); err != nil {
		t.Fatal(err)
	}
	p.waitFor("the command's end", func() bool { return callStates(c)[protocol.CallDone] > 0 })
	p.waitNoWindow(question)
}

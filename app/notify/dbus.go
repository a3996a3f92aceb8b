//go:build linux || freebsd || openbsd || netbsd

package notify

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"image"
	"image/png"
	"slices"
	"sync"

	"github.com/godbus/dbus/v5"
	"golang.org/x/image/draw"

	"fairlead/assets"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/keychain"
)

// Names of the Desktop Notifications Specification 1.2.
const (
	serverName = "org.freedesktop.Notifications"
	serverPath = "/org/freedesktop/Notifications"
)

// bus is the desktop's notification server; its signals arrive on another goroutine.
type bus struct {
	conn    *dbus.Conn
	server  dbus.BusObject
	buttons bool // the server supports actions
	markup  bool // the server interprets markup in the body
	signals chan *dbus.Signal
	done    crash.Group

	mu    sync.Mutex // guards the fields below
	shown map[string]uint32
}

func open(actions Actions) (system, error) {
	conn, err := keychain.ConnectSessionBus()
	if err != nil {
		return nil, fmt.Errorf("connecting to the session bus: %w", err)
	}
	b := &bus{conn: conn, server: conn.Object(serverName, serverPath), signals: make(chan *dbus.Signal, 32), shown: make(map[string]uint32)}
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	var caps []string
	if err := b.server.CallWithContext(ctx, serverName+".GetCapabilities", 0).Store(&caps); err != nil {
		conn.Close()
		return nil, fmt.Errorf("asking the notification server: %w", err)
	}
	b.buttons, b.markup = slices.Contains(caps, "actions"), slices.Contains(caps, "body-markup")
	if err := conn.AddMatchSignalContext(ctx, dbus.WithMatchInterface(serverName), dbus.WithMatchObjectPath(serverPath)); err != nil {
		conn.Close()
		return nil, fmt.Errorf("listening to the notification server: %w", err)
	}
	conn.Signal(b.signals)
	b.done.Go(func() { b.listen(actions) })
	return b, nil
}

func (b *bus) close() {
	b.conn.Close() // closes signals
	b.done.Wait()
}

// listen handles the person's actions on notifications. It ends with the connection.
func (b *bus) listen(actions Actions) {
	for s := range b.signals {
		if len(s.Body) < 2 {
			continue
		}
		n, _ := s.Body[0].(uint32)
		id := b.find(n)
		if id == "" || !b.isFromServer(s) {
			continue // a notification of another program, or a click that another program pretends
		}
		switch s.Name {
		case serverName + ".NotificationClosed":
			b.forget(id)
		case serverName + ".ActionInvoked":
			key, _ := s.Body[1].(string)
			actions.perform(key, id)
		}
	}
}

// isFromServer reports whether the notification server sent a signal. Every program on the bus can
// send one to this program, and must not be able to answer an approval.
func (b *bus) isFromServer(s *dbus.Signal) bool {
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	var owner string
	err := b.conn.BusObject().CallWithContext(ctx, "org.freedesktop.DBus.GetNameOwner", 0, serverName).Store(&owner)
	return err == nil && s.Sender == owner
}

func (b *bus) find(n uint32) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, x := range b.shown {
		if x == n {
			return id
		}
	}
	return ""
}

func (b *bus) forget(id string) (n uint32) {
	b.mu.Lock()
	defer b.mu.Unlock()
	n = b.shown[id]
	delete(b.shown, id)
	return n
}

func (b *bus) show(ctx context.Context, m Message) error {
	b.mu.Lock()
	before := b.shown[m.ID]
	b.mu.Unlock()
	body := oneLine(m.Body, 300)
	if b.markup {
		body = html.EscapeString(body)
	}
	var keys []string
	if b.buttons {
		keys = []string{keyDefault, "Open"} // a click on the notification
		for _, x := range m.buttons() {
			keys = append(keys, x.key, x.label)
		}
	}
	hints := map[string]dbus.Variant{
		"urgency": dbus.MakeVariant(byte(1)), "category": dbus.MakeVariant("im.received"), "desktop-entry": dbus.MakeVariant("fairlead"),
		"suppress-sound": dbus.MakeVariant(!m.Sound), "image-data": dbus.MakeVariant(appIcon()),
	}
	if m.Sound {
		hints["sound-name"] = dbus.MakeVariant("message-new-instant")
	}
	var n uint32
	err := b.server.CallWithContext(ctx, serverName+".Notify", 0, "Fairlead", before, "", oneLine(m.Title, 100), body, keys, hints, int32(-1)).Store(&n)
	if err != nil {
		return fmt.Errorf("showing a notification: %w", err)
	}
	b.mu.Lock()
	b.shown[m.ID] = n
	b.mu.Unlock()
	return nil
}

// picture is the value of the hint image-data, eight bits per channel.
type picture struct {
	Width, Height, Stride int32
	Alpha                 bool
	Bits, Channels        int32
	Data                  []byte
}

// iconSize is the size of the icon in pixels.
const iconSize = 64

// appIcon is the program's icon. The hint needs no installed file.
var appIcon = sync.OnceValue(func() picture {
	p := picture{Width: iconSize, Height: iconSize, Stride: 4 * iconSize, Alpha: true, Bits: 8, Channels: 4}
	full, err := png.Decode(bytes.NewReader(assets.AppPNG))
	if err != nil {
		panic(err) // it is part of the program
	}
	small := image.NewNRGBA(image.Rect(0, 0, iconSize, iconSize))
	draw.ApproxBiLinear.Scale(small, small.Rect, full, full.Bounds(), draw.Src, nil)
	p.Data = small.Pix
	return p
})

func (b *bus) remove(ctx context.Context, id string) {
	if n := b.forget(id); n != 0 {
		// errors are ignored: it may be closed already
		b.server.CallWithContext(ctx, serverName+".CloseNotification", 0, n)
	}
}

// locked asks screen savers and logind. No answer counts as unlocked.
func (b *bus) locked(ctx context.Context) bool {
	for _, saver := range []struct{ name, path string }{
		{"org.freedesktop.ScreenSaver", "/org/freedesktop/ScreenSaver"},
		{"org.gnome.ScreenSaver", "/org/gnome/ScreenSaver"},
		{"org.cinnamon.ScreenSaver", "/org/cinnamon/ScreenSaver"},
		{"org.xfce.ScreenSaver", "/org/xfce/ScreenSaver"},
	} {
		var active bool
		call := b.conn.Object(saver.name, dbus.ObjectPath(saver.path)).CallWithContext(ctx, saver.name+".GetActive", dbus.FlagNoAutoStart)
		if call.Store(&active) == nil && active {
			return true
		}
	}
	return lockedByLogind(ctx)
}

func lockedByLogind(ctx context.Context) bool {
	system, err := dbus.ConnectSystemBus(dbus.WithContext(ctx))
	if err != nil {
		return false
	}
	defer system.Close()
	var locked bool
	err = system.Object("org.freedesktop.login1", "/org/freedesktop/login1/session/auto").
		CallWithContext(ctx, "org.freedesktop.DBus.Properties.Get", dbus.FlagNoAutoStart, "org.freedesktop.login1.Session", "LockedHint").Store(&locked)
	return err == nil && locked
}

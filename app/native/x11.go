//go:build linux || freebsd || openbsd || netbsd

package native

import (
	"image/color"
	"io"
	"log"
	"log/slog"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
)

// markUnrequested marks a window that is not shown yet: no user action led to it, so the window
// manager does not focus it, and it demands attention (EWMH, _NET_WM_USER_TIME and _NET_WM_STATE).
func markUnrequested(id uintptr) {
	withX(func(c *xgb.Conn) error {
		wants, err := atom(c, "_NET_WM_STATE_DEMANDS_ATTENTION")
		if err != nil {
			return err
		}
		if err := setProperty(c, id, "_NET_WM_USER_TIME", xproto.AtomCardinal, 0); err != nil {
			return err
		}
		return setProperty(c, id, "_NET_WM_STATE", xproto.AtomAtom, uint32(wants))
	})
}

// raise puts a window in front of the others without changing the focus.
func raise(id uintptr) {
	withX(func(c *xgb.Conn) error {
		return xproto.ConfigureWindowChecked(c, xproto.Window(id), xproto.ConfigWindowStackMode, []uint32{xproto.StackModeAbove}).Check()
	})
}

// setBackground sets what the X server shows of a window until the program has painted it. When the
// window grows, this is shown beside its last picture.
func setBackground(id uintptr, c color.Color) {
	r, g, b, _ := c.RGBA()
	pixel := r>>8<<16 | g>>8<<8 | b>>8
	withX(func(conn *xgb.Conn) error {
		return xproto.ChangeWindowAttributesChecked(conn, xproto.Window(id), xproto.CwBackPixel|xproto.CwBitGravity,
			[]uint32{pixel, xproto.GravityNorthWest}).Check()
	})
}

// focusedWindow returns the window with the keyboard focus. known is false if the X server does not
// answer.
func focusedWindow() (id uintptr, known bool) {
	withX(func(c *xgb.Conn) error {
		r, err := xproto.GetInputFocus(c).Reply()
		if err == nil {
			id, known = uintptr(r.Focus), true
		}
		return err
	})
	return id, known
}

// withX talks to the X server over a connection of its own, because the toolkit does not expose its
// connection. On failure windows open and take the focus like any others.
func withX(talk func(*xgb.Conn) error) {
	// xgb would log a warning for a server without authentication, which is normal
	xgb.Logger = log.New(io.Discard, "", 0)
	c, err := xgb.NewConn()
	if err == nil {
		defer c.Close()
		err = talk(c)
	}
	if err != nil {
		slog.Warn("Talking to the X server failed", "err", err)
	}
}

func setProperty(c *xgb.Conn, id uintptr, name string, kind xproto.Atom, value uint32) error {
	a, err := atom(c, name)
	if err != nil {
		return err
	}
	data := make([]byte, 4)
	xgb.Put32(data, value)
	return xproto.ChangePropertyChecked(c, xproto.PropModeReplace, xproto.Window(id), a, kind, 32, 1, data).Check()
}

func atom(c *xgb.Conn, name string) (xproto.Atom, error) {
	r, err := xproto.InternAtom(c, false, uint16(len(name)), name).Reply()
	if err != nil {
		return 0, err
	}
	return r.Atom, nil
}

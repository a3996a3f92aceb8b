//go:build linux || freebsd || openbsd || netbsd

package app

import (
	"io"
	"log"
	"log/slog"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
)

// unasked marks a window that is not shown yet as one that no act of the person led to, so that the window manager does not give it the
// keyboard, and as one that wants to be looked at (EWMH, _NET_WM_USER_TIME and _NET_WM_STATE).
func unasked(id uintptr) {
	onX(func(c *xgb.Conn) error {
		wants, err := atom(c, "_NET_WM_STATE_DEMANDS_ATTENTION")
		if err != nil {
			return err
		}
		if err := property(c, id, "_NET_WM_USER_TIME", xproto.AtomCardinal, 0); err != nil {
			return err
		}
		return property(c, id, "_NET_WM_STATE", xproto.AtomAtom, uint32(wants))
	})
}

// raise puts a window before the others and leaves the keyboard where it is.
func raise(id uintptr) {
	onX(func(c *xgb.Conn) error {
		return xproto.ConfigureWindowChecked(c, xproto.Window(id), xproto.ConfigWindowStackMode, []uint32{xproto.StackModeAbove}).Check()
	})
}

// onX talks to the X server over a connection of its own: the toolkit's is not within reach. Without success the window opens as any other.
func onX(talk func(*xgb.Conn) error) {
	xgb.Logger = log.New(io.Discard, "", 0) // it would complain of a server without a password, which is no fault
	c, err := xgb.NewConn()
	if err == nil {
		defer c.Close()
		err = talk(c)
	}
	if err != nil {
		slog.Warn("A window could not be opened without the keyboard", "err", err)
	}
}

func property(c *xgb.Conn, id uintptr, name string, kind xproto.Atom, value uint32) error {
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

//go:build desktop

package desktoptest

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net/url"
	"strconv"
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
)

// drop drags a file from a window of its own and drops it at a position of another window, with the
// protocol of file managers (XDND version 5).
func (d *desktop) drop(path string, onto window, x, y int) {
	d.t.Helper()
	if err := dropFile(path, onto, x, y); err != nil {
		d.screenshot("failed")
		d.t.Fatalf("drop a file: %v", err)
	}
}

// source is the window that a file is dragged from.
type source struct {
	c     *xgb.Conn
	id    xproto.Window
	onto  xproto.Window
	atoms map[string]xproto.Atom
	uri   string
}

func dropFile(path string, onto window, x, y int) error {
	n, err := strconv.ParseUint(onto.id, 10, 32)
	if err != nil {
		return err
	}
	xgb.Logger = log.New(io.Discard, "", 0)
	c, err := xgb.NewConn()
	if err != nil {
		return err
	}
	defer c.Close()
	s := &source{c: c, onto: xproto.Window(n), atoms: map[string]xproto.Atom{}, uri: (&url.URL{Scheme: "file", Path: path}).String() + "\r\n"}
	for _, name := range []string{"XdndSelection", "XdndEnter", "XdndPosition", "XdndStatus", "XdndDrop", "XdndFinished", "XdndActionCopy", "text/uri-list"} {
		r, err := xproto.InternAtom(c, false, uint16(len(name)), name).Reply()
		if err != nil {
			return err
		}
		s.atoms[name] = r.Atom
	}
	screen := xproto.Setup(c).DefaultScreen(c)
	if s.id, err = xproto.NewWindowId(c); err != nil {
		return err
	}
	if err := xproto.CreateWindowChecked(c, screen.RootDepth, s.id, screen.Root, 0, 0, 10, 10, 0, xproto.WindowClassInputOutput, screen.RootVisual, 0, nil).Check(); err != nil {
		return err
	}
	if err := xproto.SetSelectionOwnerChecked(c, s.id, s.atoms["XdndSelection"], xproto.TimeCurrentTime).Check(); err != nil {
		return err
	}
	const version = 5
	if err := s.say("XdndEnter", version<<24, uint32(s.atoms["text/uri-list"]), 0, 0); err != nil {
		return err
	}
	if err := s.say("XdndPosition", 0, uint32(x)<<16|uint32(y), 0, uint32(s.atoms["XdndActionCopy"])); err != nil {
		return err
	}
	status, err := s.wait("XdndStatus")
	if err != nil {
		return err
	}
	if status[1]&1 == 0 {
		return errors.New("the window does not take it")
	}
	if err := s.say("XdndDrop", 0, 0, 0, 0); err != nil {
		return err
	}
	_, err = s.wait("XdndFinished")
	return err
}

// say sends an XDND message; its first word is always the source.
func (s *source) say(kind string, data ...uint32) error {
	e := xproto.ClientMessageEvent{
		Format: 32, Window: s.onto, Type: s.atoms[kind],
		Data: xproto.ClientMessageDataUnionData32New(append([]uint32{uint32(s.id)}, data...)),
	}
	return xproto.SendEventChecked(s.c, false, s.onto, 0, string(e.Bytes())).Check()
}

// wait answers requests for the file's URL until a message arrives.
func (s *source) wait(kind string) ([]uint32, error) {
	for end := time.Now().Add(waitTimeout); time.Now().Before(end); {
		e, err := s.c.PollForEvent()
		if err != nil {
			return nil, err
		}
		switch e := e.(type) {
		case nil:
			time.Sleep(10 * time.Millisecond)
		case xproto.ClientMessageEvent:
			if e.Type == s.atoms[kind] {
				return e.Data.Data32, nil
			}
		case xproto.SelectionRequestEvent:
			data := []byte(s.uri)
			if err := xproto.ChangePropertyChecked(s.c, xproto.PropModeReplace, e.Requestor, e.Property, e.Target, 8, uint32(len(data)), data).Check(); err != nil {
				return nil, err
			}
			done := xproto.SelectionNotifyEvent{Time: e.Time, Requestor: e.Requestor, Selection: e.Selection, Target: e.Target, Property: e.Property}
			if err := xproto.SendEventChecked(s.c, false, e.Requestor, 0, string(done.Bytes())).Check(); err != nil {
				return nil, err
			}
		}
	}
	return nil, fmt.Errorf("no %s came", kind)
}

//go:build linux || freebsd || openbsd || netbsd

package system

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/godbus/dbus/v5"
	"github.com/google/go-cmp/cmp"

	"fairlead/app/system/bustest"
)

// portal is a portal's file chooser and a file manager on a bus of the test.
type portal struct {
	conn   *dbus.Conn
	calls  chan call
	answer func(call, dbus.ObjectPath) // answers a request
}

// call is a call of the file chooser.
type call struct {
	method, parent, title string
	options               map[string]dbus.Variant
	sender                dbus.Sender
}

func (p *portal) take(c call) (dbus.ObjectPath, *dbus.Error) {
	sender := strings.ReplaceAll(strings.TrimPrefix(string(c.sender), ":"), ".", "_")
	request := dbus.ObjectPath(portalPath + "/request/" + sender + "/" + c.options["handle_token"].Value().(string))
	p.calls <- c
	p.answer(c, request) // before the call returns, as a fast portal does
	return request, nil
}

func (p *portal) OpenFile(s dbus.Sender, parent, title string, o map[string]dbus.Variant) (dbus.ObjectPath, *dbus.Error) {
	return p.take(call{"OpenFile", parent, title, o, s})
}

func (p *portal) SaveFile(s dbus.Sender, parent, title string, o map[string]dbus.Variant) (dbus.ObjectPath, *dbus.Error) {
	return p.take(call{"SaveFile", parent, title, o, s})
}

func (p *portal) respond(request dbus.ObjectPath, code uint32, uris ...string) {
	p.conn.Emit(request, requestInterface+".Response", code, map[string]dbus.Variant{"uris": dbus.MakeVariant(uris)})
}

func serve(t *testing.T, conn *dbus.Conn, object any, path dbus.ObjectPath, name, iface string) {
	t.Helper()
	if err := conn.Export(object, path, iface); err != nil {
		t.Fatal(err)
	}
	if r, err := conn.RequestName(name, 0); err != nil || r != dbus.RequestNameReplyPrimaryOwner {
		t.Fatalf("got %v, %v; want no error and %v", r, err, dbus.RequestNameReplyPrimaryOwner)
	}
}

func startPortal(t *testing.T, answer func(p *portal, request dbus.ObjectPath)) *portal {
	t.Helper()
	p := &portal{conn: bustest.Start(t), calls: make(chan call, 1)}
	p.answer = func(_ call, request dbus.ObjectPath) { answer(p, request) }
	serve(t, p.conn, p, portalPath, portalName, chooserInterface)
	return p
}

func TestThePortalAnswersQuestionsAboutFiles(t *testing.T) {
	for name, c := range map[string]struct {
		q      Question
		method string
		want   map[string]any
	}{
		"open": {
			Question{Kind: OpenFiles, Title: "Attach files", Button: "Attach", Dir: "/srv"},
			"OpenFile",
			map[string]any{"accept_label": "Attach", "multiple": true, "current_folder": []byte("/srv\x00")},
		},
		"save":   {Question{Kind: SaveFile, Button: "Save", Name: "a.md"}, "SaveFile", map[string]any{"accept_label": "Save", "current_name": "a.md"}},
		"folder": {Question{Kind: ChooseFolder, Button: "Choose"}, "OpenFile", map[string]any{"accept_label": "Choose", "directory": true}},
	} {
		t.Run(name, func(t *testing.T) {
			p := startPortal(t, func(p *portal, request dbus.ObjectPath) {
				p.respond(request+"other", responseDone, "file:///another") // to another program
				p.respond(request, responseDone, "file:///home/an%20na/c++%C3%A4.txt", "file:///b+c")
			})
			got, err := Ask(t.Context(), "x11:1a", c.q)
			if err != nil || !reflect.DeepEqual(got, []string{"/home/an na/c++ä.txt", "/b+c"}) {
				t.Errorf("got %q, %v; want no error and %v", got, err, []string{"/home/an na/c++ä.txt", "/b+c"})
			}
			asked := <-p.calls
			if asked.method != c.method || asked.parent != "x11:1a" || asked.title != c.q.Title {
				t.Errorf(`asked: got %+v; want asked.method %v, asked.parent "x11:1a" and asked.title %v`, asked, c.method, c.q.Title)
			}
			delete(asked.options, "handle_token")
			options := map[string]any{}
			for k, v := range asked.options {
				options[k] = v.Value()
			}
			if diff := cmp.Diff(c.want, options); diff != "" {
				t.Errorf("differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestADialogThatIsCancelledReturnsNoFiles(t *testing.T) {
	startPortal(t, func(p *portal, request dbus.ObjectPath) { p.respond(request, responseCancelled) })
	if got, err := Ask(t.Context(), "", Question{}); len(got) != 0 || err != nil {
		t.Errorf("got %q, %v; want none and no error", got, err)
	}
}

func TestWithoutAPortalThereIsNoDialog(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T){
		"no bus":    func(t *testing.T) { t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+t.TempDir()+"/none") },
		"no portal": func(t *testing.T) { bustest.Start(t) },
		"no chooser": func(t *testing.T) {
			serve(t, bustest.Start(t), &struct{}{}, portalPath, portalName, "org.freedesktop.portal.Other")
		},
		"a chooser that fails": func(t *testing.T) {
			startPortal(t, func(p *portal, request dbus.ObjectPath) { p.respond(request, 2) })
		},
		"a portal that ends": func(t *testing.T) {
			startPortal(t, func(p *portal, _ dbus.ObjectPath) { p.conn.ReleaseName(portalName) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			prepare(t)
			if _, err := Ask(t.Context(), "", Question{}); !errors.Is(err, ErrNoDialog) {
				t.Errorf("got %v, want %v", err, ErrNoDialog)
			}
		})
	}
}

func TestAQuestionEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	startPortal(t, func(*portal, dbus.ObjectPath) { cancel() })
	if _, err := Ask(ctx, "", Question{}); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
}

type fileManager struct{ shown chan []string }

func (m fileManager) ShowItems(uris []string, _ string) *dbus.Error {
	m.shown <- uris
	return nil
}

func TestTheFileManagerShowsAFile(t *testing.T) {
	m := fileManager{make(chan []string, 1)}
	serve(t, bustest.Start(t), m, "/org/freedesktop/FileManager1", "org.freedesktop.FileManager1", "org.freedesktop.FileManager1")
	if err := Reveal(t.Context(), "/home/anna/a b#1.txt"); err != nil {
		t.Fatal(err)
	}
	if got := <-m.shown; !reflect.DeepEqual(got, []string{"file:///home/anna/a%20b%231.txt"}) {
		t.Errorf("got %q, want %v", got, []string{"file:///home/anna/a%20b%231.txt"})
	}
}

package service

import (
	"context"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"fairlead/gateway/protocol"
	"fairlead/gateway/service/console"
)

// terminals are terminals that send back what visitors type, after the name of who typed it.
type terminals struct {
	mu    sync.Mutex // guards the fields below
	ended []protocol.Service
	fail  error // of the next visits
}

func (x *terminals) View(_ context.Context, _ protocol.Service, who console.Viewer, conn *console.Conn) error {
	x.mu.Lock()
	fail := x.fail
	x.mu.Unlock()
	if fail != nil {
		return fail
	}
	if err := conn.Write(protocol.TerminalSnapshot, []byte("$ ")); err != nil {
		return err
	}
	for {
		kind, body, err := conn.Read()
		if err != nil {
			return err
		}
		if kind == protocol.TerminalInput {
			if err := conn.Write(protocol.TerminalOutput, []byte(who.Name+": "+string(body))); err != nil {
				return err
			}
		}
	}
}

func (x *terminals) End(v protocol.Service) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.ended = append(x.ended, v)
}

// stopped returns what the ended terminals ran.
func (x *terminals) stopped() (commands []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, v := range x.ended {
		commands = append(commands, v.Terminal.Command)
	}
	return commands
}

func (s *site) publishTerminal(t *testing.T) protocol.Service {
	t.Helper()
	v, err := s.Publish(t.Context(), Definition{NodeID: "nas", Title: "Shell", Terminal: &protocol.TerminalOpen{Command: "sh"}, Enabled: true}, "owner")
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// connectTerminal opens the WebSocket of a terminal as a page of an origin, with the cookies of a
// browser. It returns nil and the answer if the site refuses that.
func (s *site) connectTerminal(t *testing.T, b *http.Client, v protocol.Service, origin string) (*websocket.Conn, *http.Response) {
	t.Helper()
	header := http.Header{}
	if origin != "" {
		header.Set("Origin", origin)
	}
	d := websocket.Dialer{Jar: b.Jar, NetDialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return s.connect(ctx) }}
	ws, r, err := d.DialContext(t.Context(), "ws"+strings.TrimPrefix(v.URL, "http")+"/.fairlead/terminal", header)
	if err != nil {
		if r == nil {
			t.Fatal(err)
		}
		return nil, r
	}
	t.Cleanup(func() { ws.Close() })
	ws.SetReadDeadline(time.Now().Add(10 * time.Second))
	return ws, r
}

func wantFrame(t *testing.T, ws *websocket.Conn, want string) {
	t.Helper()
	if _, data, err := ws.ReadMessage(); err != nil || string(data) != want {
		t.Fatalf("got the frame %q, %v; want %q", data, err, want)
	}
}

func TestAVisitorTypesIntoATerminalOnlyAfterASignIn(t *testing.T) {
	s := newSite(t)
	v := s.publishTerminal(t)
	stranger := s.browser(t)
	for _, path := range []string{"/", "/.fairlead/terminal", "/.fairlead/terminal/page.js", "/other"} {
		if status, _ := read(t)(stranger.Get(v.URL + path)); status != http.StatusUnauthorized {
			t.Errorf("without a sign-in, %s answers %d, want 401", path, status)
		}
	}
	if ws, r := s.connectTerminal(t, stranger, v, v.URL); ws != nil || r.StatusCode != http.StatusUnauthorized {
		t.Errorf("a stranger's WebSocket: got %v, want 401", r.StatusCode)
	}
	owner := s.enter(t, v, "")
	for _, origin := range []string{"", "null", "http://other.localhost", "http://" + strings.TrimPrefix(v.URL, "http://") + "0"} {
		if ws, r := s.connectTerminal(t, owner, v, origin); ws != nil || r.StatusCode != http.StatusForbidden {
			t.Errorf("a WebSocket of the origin %q: got %v, want 403", origin, r.StatusCode)
		}
	}
	ws, _ := s.connectTerminal(t, owner, v, v.URL)
	wantFrame(t, ws, "s$ ")
	ws.WriteMessage(websocket.BinaryMessage, []byte("ils"))
	wantFrame(t, ws, "oThe owner: ls")
	if status, _ := read(t)(owner.Get(v.URL + "/other")); status != http.StatusNotFound {
		t.Errorf("another path answers %d, want 404", status)
	}
}

func TestAnAppGetsNoRequestsForTerminals(t *testing.T) {
	s := newSite(t)
	s.leadTo("127.0.0.1:1") // nothing must reach it
	v := s.publish(t, "3000", nil)
	if status, _ := read(t)(s.enter(t, v, "").Get(v.URL + "/.fairlead/terminal")); status != http.StatusNotFound {
		t.Errorf("got %d, want 404", status)
	}
}

func TestATerminalEndsWithTheRightToIt(t *testing.T) {
	s := newSite(t)
	v := s.publishTerminal(t)
	v, err := s.Share(t.Context(), v.ID, ShareAdd, []string{"ann@example.com", "bob@example.com"}, "owner")
	if err != nil {
		t.Fatal(err)
	}
	ann, _ := s.connectTerminal(t, s.enter(t, v, "ann@example.com"), v, v.URL)
	bob, _ := s.connectTerminal(t, s.enter(t, v, "bob@example.com"), v, v.URL)
	wantFrame(t, ann, "s$ ")
	wantFrame(t, bob, "s$ ")
	if _, err := s.Share(t.Context(), v.ID, ShareRemove, []string{"ann@example.com"}, "owner"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := ann.ReadMessage(); err == nil {
		t.Error("Ann still sees the terminal after she was taken off the list")
	}
	bob.WriteMessage(websocket.BinaryMessage, []byte("ils"))
	wantFrame(t, bob, "obob@example.com: ls")
	if list := s.terminals.stopped(); len(list) > 0 {
		t.Errorf("the program was ended with a visit: got %v", list)
	}
	if err := s.Close(t.Context(), "owner", protocol.ServiceParams{ID: v.ID}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := bob.ReadMessage(); err == nil {
		t.Error("Bob still sees the terminal after it was switched off")
	}
	if got := s.terminals.stopped(); !slices.Equal(got, []string{"sh"}) {
		t.Errorf("got the ended programs %v, want that of the terminal that was switched off", got)
	}
}

func TestTheProgramEndsWhenTheTerminalIsAnotherOne(t *testing.T) {
	s := newSite(t)
	v := s.publishTerminal(t)
	title, htop, shell, folder, off := "Other", "htop", "", "/srv", false
	target, err := ParseTarget("3000", "")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what string
		Change
		want []string // what ended programs ran, all in all
	}{
		{"title", Change{Title: &title}, nil},
		{"sign-in", Change{SignIn: &off}, nil},
		{"command", Change{Command: &htop}, []string{"sh"}},
		{"folder", Change{Workdir: &folder}, []string{"sh", "htop"}},
		{"an app instead", Change{Target: &target}, []string{"sh", "htop", "htop"}},
		{"a shell instead", Change{Command: &shell, SignIn: &off}, []string{"sh", "htop", "htop"}},
	} {
		got, err := s.Update(t.Context(), v.ID, c.Change, "owner")
		isTerminal := c.Target == nil
		if err != nil || !got.SignIn || (got.Mode == protocol.ServiceTerminal) != isTerminal || (got.Terminal != nil) != isTerminal || (got.Target == "") != isTerminal {
			t.Errorf("%s: got %+v, %v; want a sign-in, and a terminal or an app", c.what, got, err)
		}
		if ended := s.terminals.stopped(); !slices.Equal(ended, c.want) {
			t.Errorf("%s: got the ended programs %q, want %q", c.what, ended, c.want)
		}
	}
	if got, _ := s.Get(v.ID); got.Terminal == nil || *got.Terminal != (protocol.TerminalOpen{}) {
		t.Errorf("got %+v, want nothing left of the terminal before the app", got.Terminal)
	}
	if _, err := s.Delete(t.Context(), v.ID, "owner"); err != nil || len(s.terminals.stopped()) != 4 {
		t.Errorf("after deleting: got %v and %d ended programs, want 4", err, len(s.terminals.stopped()))
	}
}

func TestAPageLearnsWhyThereIsNoTerminal(t *testing.T) {
	s := newSite(t)
	v := s.publishTerminal(t)
	owner := s.enter(t, v, "")
	s.terminals.fail = protocol.ErrUnavailable
	ws, _ := s.connectTerminal(t, owner, v, v.URL)
	if _, _, err := ws.ReadMessage(); !websocket.IsCloseError(err, 4503) {
		t.Errorf("an offline machine: got %v, want the close code 4503, after which the page tries again", err)
	}
	s.terminals.fail = protocol.NewFault(protocol.FaultUnsupported, "no user pi")
	ws, _ = s.connectTerminal(t, owner, v, v.URL)
	wantFrame(t, ws, `e{"error":"no user pi"}`)
}

func TestVisitsToATerminalAreCounted(t *testing.T) {
	s := newSite(t)
	v := s.publishTerminal(t)
	owner := s.enter(t, v, "")
	ws, _ := s.connectTerminal(t, owner, v, v.URL)
	wantFrame(t, ws, "s$ ")
	ws.WriteMessage(websocket.BinaryMessage, []byte("ils"))
	wantFrame(t, ws, "oThe owner: ls")
	r, err := s.site.Visitors(t.Context(), protocol.ServiceParams{ID: v.ID})
	if err != nil || len(r.Visitors) != 1 || r.Visitors[0].Streams != 1 || r.Visitors[0].Received != 3 || r.Visitors[0].Sent != 3+14 {
		t.Errorf("got %+v, %v; want one visitor with an open stream, 17 bytes sent and 3 received", r.Visitors, err)
	}
}

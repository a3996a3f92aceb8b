package rpc

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"
	"golang.org/x/tools/txtar"

	"fairlead/gateway/protocol"
)

var update = flag.Bool("update", false, "rewrite the conversations in testdata")

// ids replaces IDs in received frames by $1, $2 … in the order of their appearance, and restores
// them in sent ones.
type ids struct{ list []string }

var (
	uuid     = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`)
	features = regexp.MustCompile(`"features":\{[^}]*\}`)
	invited  = regexp.MustCompile(`"(link|code|token)":"[^"]+"`)
	modified = regexp.MustCompile(`"lastModified":"[^"]+Z"`)
	// the bubble's clock advances by a millisecond when a SQLite connection waits for another
	times = regexp.MustCompile(`\b(9466\d{8})\d\b`)
)

func (v *ids) hide(s string) string {
	return uuid.ReplaceAllStringFunc(s, func(id string) string {
		i := slices.Index(v.list, id)
		if i < 0 {
			i = len(v.list)
			v.list = append(v.list, id)
		}
		return fmt.Sprintf("$%d", i+1)
	})
}

func (v *ids) show(s string) string {
	for i := len(v.list); i > 0; i-- {
		s = strings.ReplaceAll(s, fmt.Sprintf("$%d", i), v.list[i-1])
	}
	return s
}

// TestConversations plays testdata/*.txtar. A section is named
//
//	NAME >    the peer sends each line as a text frame ("hex 0102" as a binary one), in order
//	NAME <    the peer has received exactly these frames; "close CODE REASON" and "end" close it
//	NAME x    the peer's connection is cut
//	publish   each line is a change on the bus; {"chat":…} is a chat event
//	wait D    the clock advances by D
//
// Peers whose name begins with "owner" connect as the owner. Lines that begin with # are comments.
// Every frame that a peer receives must be listed.
func TestConversations(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("got %d conversations, error %v, want some", len(files), err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			script, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) { runScript(t, script) })
			if *update {
				if err := os.WriteFile(file, txtar.Format(script), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

func runScript(t *testing.T, script *txtar.Archive) {
	f := newFakes()
	if bytes.Contains(script.Comment, []byte("real schedules")) {
		schedules, end := realSchedules(t)
		f.schedules = schedules
		defer end()
	}
	if bytes.Contains(script.Comment, []byte("real channels")) {
		channels, end := realChannels(t)
		f.channels = channels
		defer end()
	}
	b, stop := open(f)
	defer stop()
	peers := make(map[string]*rawConn)
	defer func() {
		for _, m := range peers {
			m.ws.Close()
		}
	}()
	var known ids
	for i := range script.Files {
		section := &script.Files[i]
		name, verb, _ := strings.Cut(section.Name, " ")
		switch {
		case section.Name == "publish":
			for _, line := range lines(section.Data) {
				publish(t, b, line)
			}
		case name == "wait":
			d, err := time.ParseDuration(verb)
			if err != nil {
				t.Fatal(err)
			}
			time.Sleep(d)
		case verb == ">":
			if peers[name] == nil {
				m, err := b.dial(name)
				if err != nil {
					t.Fatal(err)
				}
				peers[name] = m
			}
			for _, line := range lines(section.Data) {
				sendLine(t, peers[name], known.show(line))
				synctest.Wait()
			}
		case verb == "x":
			peers[name].ws.NetConn().Close()
			synctest.Wait()
			peers[name].takeReceived()
			delete(peers, name)
		case verb == "<":
			synctest.Wait()
			heard, want := peers[name].takeReceived(), lines(section.Data)
			// the response to a node may be delayed for batching, and a SQLite connection may wait
			// for another
			for tries := 0; len(heard) < len(want) && tries < 3; tries++ {
				time.Sleep(2 * time.Millisecond)
				synctest.Wait()
				heard = append(heard, peers[name].takeReceived()...)
			}
			for j := range heard {
				heard[j] = features.ReplaceAllString(heard[j], `"features":{}`)
				heard[j] = modified.ReplaceAllString(heard[j], `"lastModified":"2026-01-02T03:04:05Z"`)
				heard[j] = invited.ReplaceAllString(heard[j], `"$1":"…"`)
				heard[j] = times.ReplaceAllString(heard[j], "${1}0")
				heard[j] = known.hide(heard[j])
			}
			if bytes.Contains(script.Comment, []byte("in any order")) {
				slices.SortStableFunc(heard, func(a, b string) int { return strings.Compare(rank(a), rank(b)) })
			}
			switch {
			case slices.Equal(heard, want):
			case *update:
				var buf bytes.Buffer
				for _, l := range slices.DeleteFunc(strings.Split(string(section.Data), "\n"), func(l string) bool { return !strings.HasPrefix(l, "#") }) {
					buf.WriteString(l + "\n")
				}
				for _, l := range heard {
					buf.WriteString(l + "\n")
				}
				section.Data = buf.Bytes()
			default:
				t.Errorf("section %d: %s heard\n%s\nwant\n%s", i+1, name, strings.Join(heard, "\n"), strings.Join(want, "\n"))
			}
		default:
			t.Fatalf("got section %q, want a known one", section.Name)
		}
	}
	synctest.Wait()
	for name, m := range peers {
		if rest := m.takeReceived(); len(rest) > 0 {
			t.Errorf("%s: got further messages, want none:\n%s", name, strings.Join(rest, "\n"))
		}
	}
}

// rank sorts responses first, in the order of arrival, and events after them by their text.
func rank(line string) string {
	if strings.HasPrefix(line, `{"type":"evt"`) {
		return line
	}
	return ""
}

func lines(data []byte) []string {
	return slices.DeleteFunc(strings.Split(string(data), "\n"), func(l string) bool { return l == "" || strings.HasPrefix(l, "#") })
}

// TestEveryMethodHasAConversation compares the list of methods with the conversations.
func TestEveryMethodHasAConversation(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	var all []byte
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, data...)
	}
	srv := New(newFakes().services())
	for _, m := range protocol.Methods {
		if !bytes.Contains(all, []byte(`"method":"`+m.Name+`"`)) {
			t.Errorf("%s: got no conversation, want one", m.Name)
		}
		if m.Name != protocol.Connect.Name && srv.methods[m.Name] == nil {
			t.Errorf("%s: got no method, want the advertised one", m.Name)
		}
	}
	if n := len(protocol.Methods) - 1; len(srv.methods) != n {
		t.Errorf("got %d methods, want the %d advertised", len(srv.methods), n)
	}
	for _, e := range []*protocol.Error{
		protocol.ErrNotConnected, protocol.ErrVersion, protocol.ErrInvalidConnect, protocol.ErrBadRequest, protocol.ErrUnauthorized,
		protocol.ErrForbidden, protocol.ErrNotFound, protocol.ErrConflict, protocol.ErrTooLarge, protocol.ErrApprovalNeeded, protocol.ErrTooMany,
		protocol.ErrInternal, protocol.ErrUnavailable, protocol.ErrTimeout, protocol.ErrStorage, protocol.ErrCancelled, protocol.ErrModelAuth,
		protocol.ErrModelRateLimit, protocol.ErrContextOverflow, protocol.ErrModel,
	} {
		if !bytes.Contains(all, fmt.Appendf(nil, `"error":{"code":%d,`, e.Code)) {
			t.Errorf("code %d: got no conversation, want one", e.Code)
		}
	}
}

func TestHealthAndOtherAddresses(t *testing.T) {
	b, stop := open(newFakes())
	defer stop()
	hc := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return b.public(ctx) }, DisableKeepAlives: true}}
	for path, want := range map[string]int{"/health": 200, "/ws": 426, "/": 404, "/ws/x": 404} {
		t.Run(path, func(t *testing.T) {
			res, err := hc.Get("http://gateway" + path)
			if err != nil {
				t.Fatal(err)
			}
			var body bytes.Buffer
			body.ReadFrom(res.Body)
			res.Body.Close()
			if res.StatusCode != want || path == "/health" && body.String() != `{"status":"healthy"}` {
				t.Errorf("%s: got status %d, %s, want %d", path, res.StatusCode, body.String(), want)
			}
		})
	}
	b.starting.Store(true)
	if res, err := hc.Get("http://gateway/health"); err != nil || res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("before the gateway is ready: got %+v, %v, want status 503", res, err)
	}
	d := websocket.Dialer{NetDialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return b.public(ctx) }}
	_, res, err := d.Dial("ws://gateway/ws", http.Header{"Origin": {"http://evil.example"}})
	if err == nil || res == nil || res.StatusCode != http.StatusForbidden {
		t.Errorf("a page from elsewhere: got %+v, error %v, want 403", res, err)
	}
}

package servicestest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// untilListens waits until a program of others accepts connections.
func untilListens(t testing.TB, address string) {
	t.Helper()
	until(t, address+" accepts connections", func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
		}
		return err == nil
	})
}

// liveReload is esbuild's server of a folder, which sends an event to its pages when a file
// changes. Its page shows word, and counts the events.
type liveReload struct{ dir, address string }

func newLiveReload(t testing.TB, word string) *liveReload {
	t.Helper()
	a := newLiveReloadIn(t, "", word)
	untilListens(t, a.address)
	return a
}

// newLiveReloadIn starts the app in a network namespace. It may not accept connections yet.
func newLiveReloadIn(t testing.TB, namespace, word string) *liveReload {
	t.Helper()
	esbuild := filepath.Join(apps, "node_modules", ".bin", "esbuild")
	needs(t, esbuild)
	port := freePort(t)
	a := &liveReload{t.TempDir(), "127.0.0.1:" + port}
	page := `<!doctype html><title>` + word + `</title><h1>` + word + `</h1><script src="app.js"></script>`
	if err := os.WriteFile(filepath.Join(a.dir, "index.html"), []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	a.change(t, "first")
	start(t, namespace, filepath.Join(a.dir, "esbuild.log"), nil, esbuild, filepath.Join(a.dir, "source.js"), "--outfile="+filepath.Join(a.dir, "app.js"),
		"--servedir="+a.dir, "--serve=127.0.0.1:"+port, "--watch=forever")
	return a
}

// change changes the app's source.
func (a *liveReload) change(t testing.TB, text string) {
	t.Helper()
	source := `window.source = "` + text + `"; window.changes = window.changes || [];
window.events = window.events || new EventSource("/esbuild");
window.events.addEventListener("change", e => window.changes.push(Date.now()));`
	if err := os.WriteFile(filepath.Join(a.dir, "source.js"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestVisitorIsLetInByALinkThatWorksOnce(t *testing.T) {
	t.Parallel()
	s, b := newStack(t), sharedBrowser(t)
	app := newLiveReload(t, "Workshop")
	v := s.publish("Workshop", app.address, map[string]any{"authorized_emails": []string{"*@company.com"}})

	ann := newVisitor(t, b)
	ann.open(v.URL)
	ann.sees("Sign in")
	ann.picture("sign-in")
	link := s.run("services", "link", v.ID, "ann@company.com")
	ann.open(link)
	ann.sees("Open Workshop")
	ann.picture("link")
	ann.enter(link)
	ann.sees("Workshop")
	ann.picture("esbuild")
	if got := eval[string](ann, "document.cookie"); got != "" {
		t.Errorf("a script of the app reads the cookie %q, want none", got)
	}
	ann.open(v.URL)
	ann.sees("Workshop")

	eve := newVisitor(t, b)
	eve.open(link)
	eve.click("button")
	eve.sees("This link does not work")
	eve.picture("used-link")
	eve.open(v.URL)
	eve.sees("Sign in")

	s.call("service_share", map[string]any{"service_id": v.ID, "action": "remove", "emails": []string{"*@company.com"}})
	ann.open(v.URL)
	ann.sees("You are not among the visitors")
	ann.picture("not-listed")

	owner := newVisitor(t, b)
	owner.enter(s.run("services", "link", v.ID))
	owner.sees("Workshop")
	s.machine.kill()
	s.untilOnline(false)
	owner.open(v.URL)
	owner.sees("The computer is offline")
	owner.picture("offline")
	s.startMachine()
	owner.sees("Workshop") // the page tries again by itself
	s.call("service_delete", map[string]any{"service_id": v.ID})
	owner.open(v.URL)
	owner.sees("There is nothing here")
	owner.picture("nothing-here")
}

func TestAPageWhoseAppStartsLaterLoadsByItself(t *testing.T) {
	t.Parallel()
	s, b := newStack(t), sharedBrowser(t)
	port := freePort(t)
	v := s.publish("Later", port, nil)
	owner := newVisitor(t, b)
	owner.enter(s.run("services", "link", v.ID))
	owner.sees("The app does not answer")
	owner.picture("no-answer")
	l, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "here it is") }))
	owner.sees("here it is")
}

func TestEventsOfEsbuildArriveAtOnce(t *testing.T) {
	t.Parallel()
	s, b := newStack(t), sharedBrowser(t)
	app := newLiveReload(t, "Workshop")
	v := s.publish("Workshop", app.address, nil)
	owner := newVisitor(t, b)
	owner.enter(s.run("services", "link", v.ID))
	direct := newVisitor(t, b)
	direct.open("http://" + app.address)
	for _, w := range []*visitor{owner, direct} {
		w.waits("window.events && events.readyState == 1")
	}
	for i := range 3 {
		app.change(t, fmt.Sprint("change ", i))
		count := fmt.Sprintf("changes.length >= %d", i+1)
		owner.waits(count)
		direct.waits(count)
		lag := eval[float64](owner, "changes.at(-1)") - eval[float64](direct, "changes.at(-1)")
		t.Logf("event %d: %.0f ms after a page without Fairlead got it", i+1, lag)
		if lag > 2000 {
			t.Errorf("event %d: got it %.0f ms later than directly, want at once", i+1, lag)
		}
	}
}

// remoteDesktop is websockify, which leads WebSockets to a VNC server and to an echo, with the
// pages of noVNC. A terminal on the desktop stores the first line that is typed in the file typed.
type remoteDesktop struct{ address, typed string }

func newRemoteDesktop(t testing.TB) *remoteDesktop {
	t.Helper()
	needs(t, "Xvfb", "x11vnc", "xterm", "websockify")
	dir := t.TempDir()
	d := &remoteDesktop{"127.0.0.1:" + freePort(t), filepath.Join(dir, "typed")}
	display := ":" + freePort(t)
	log := func(name string) string { return filepath.Join(dir, name+".log") }
	start(t, "", log("xvfb"), nil, "Xvfb", display, "-screen", "0", "640x480x24", "-nolisten", "tcp")
	vnc := freePort(t)
	until(t, "the X server accepts connections", func() bool {
		_, err := os.Stat("/tmp/.X11-unix/X" + display[1:])
		return err == nil
	})
	start(t, "", log("x11vnc"), nil, "x11vnc", "-display", display, "-rfbport", vnc, "-localhost", "-nopw", "-forever", "-shared", "-noipv6", "-noxdamage")
	start(t, "", log("xterm"), []string{"DISPLAY=" + display}, "xterm", "-fa", "Monospace", "-fs", "16", "-geometry", "50x18+0+0",
		"-e", "sh", "-c", `echo "Type a line:"; read -r line; echo "$line" >`+d.typed+`; exec cat`)
	untilListens(t, "127.0.0.1:"+vnc)
	echo, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { echo.Close() })
	go func() {
		for {
			c, err := echo.Accept()
			if err != nil {
				return
			}
			go func() { defer c.Close(); io.Copy(c, c) }()
		}
	}()
	tokens := filepath.Join(dir, "tokens")
	if err := os.WriteFile(tokens, []byte("vnc: 127.0.0.1:"+vnc+"\necho: "+echo.Addr().String()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	start(t, "", log("websockify"), nil, "websockify", "--web", "/usr/share/novnc", "--token-plugin", "TokenFile", "--token-source", tokens, d.address)
	untilListens(t, d.address)
	return d
}

// openEcho opens a WebSocket to websockify's echo. The page then has socket, the texts that came
// back in got, and the time of its end in ended.
const openEcho = `new Promise((ok, fail) => {
	window.got = []; window.ended = 0;
	window.socket = new WebSocket(location.origin.replace("http", "ws") + "/websockify?token=echo", ["binary"]);
	socket.binaryType = "arraybuffer";
	socket.onopen = () => ok(true);
	socket.onmessage = e => got.push(new TextDecoder().decode(e.data));
	socket.onclose = () => { ended = Date.now(); fail(new Error("the WebSocket was closed")); };
})`

func TestRemoteDesktopIsUsedThroughAWebSocket(t *testing.T) {
	t.Parallel()
	s, b := newStack(t), sharedBrowser(t)
	v := s.publish("Desktop", newRemoteDesktop(t).address, nil)
	owner := newVisitor(t, b)
	owner.enter(s.run("services", "link", v.ID))
	if !eval[bool](owner, openEcho) {
		t.Fatal("the WebSocket was not opened")
	}
	for i := range 5 {
		text := fmt.Sprint("message ", i)
		eval[any](owner, "void socket.send(new TextEncoder().encode("+strconv.Quote(text)+"))")
		owner.waits("got.join('') == " + strconv.Quote(text))
		eval[any](owner, "void got.splice(0)")
	}
}

func TestTypingReachesARemoteDesktop(t *testing.T) {
	t.Parallel()
	s, b := newStack(t), sharedBrowser(t)
	d := newRemoteDesktop(t)
	v := s.publish("Desktop", d.address+"/vnc_lite.html", nil)
	owner := newVisitor(t, b)
	owner.enter(s.run("services", "link", v.ID))
	owner.open(v.URL + "/vnc_lite.html?path=" + url.QueryEscape("websockify?token=vnc"))
	owner.sees("Connected to")
	owner.waits("document.querySelector('canvas') && document.querySelector('canvas').width == 640")
	owner.do(chromedp.Click(chromedp.CSS("canvas")), chromedp.KeyEvent("hello from afar"), chromedp.KeyEvent(kb.Enter))
	until(t, "the terminal got the line", func() bool {
		data, _ := os.ReadFile(d.typed)
		return string(data) == "hello from afar\n"
	})
	owner.picture("novnc")
}

func TestRevocationEndsOpenWebSocketsAndEvents(t *testing.T) {
	t.Parallel()
	s, b := newStack(t), sharedBrowser(t)
	app, desktop := newLiveReload(t, "Workshop"), newRemoteDesktop(t)
	for name, revoke := range map[string]func(id string){
		"turned off": func(id string) { s.call("service_update", map[string]any{"service_id": id, "enabled": false}) },
		"deleted":    func(id string) { s.call("service_delete", map[string]any{"service_id": id}) },
		"revoked":    func(id string) { s.call("service_share", map[string]any{"service_id": id, "action": "revoke"}) },
	} {
		t.Run(name, func(t *testing.T) {
			list := map[string]any{"authorized_emails": []string{"ann@company.com"}}
			events, sockets := s.publish("Events", app.address, list), s.publish("Sockets", desktop.address, list)
			one, two := newVisitor(t, b), newVisitor(t, b)
			one.enter(s.run("services", "link", events.ID, "ann@company.com"))
			two.enter(s.run("services", "link", sockets.ID, "ann@company.com"))
			one.waits("window.events && events.readyState == 1")
			eval[any](one, "void (window.ended = 0, events.onerror = () => ended = ended || Date.now())")
			eval[bool](two, openEcho)
			for _, c := range []struct {
				v  *visitor
				id string
			}{{one, events.ID}, {two, sockets.ID}} {
				revoke(c.id)
				answered := time.Now().UnixMilli()
				c.v.waits("ended")
				late := int64(eval[float64](c.v, "ended")) - answered
				t.Logf("ended %d ms after the command was done", late)
				if late > 2000 {
					t.Errorf("it ended %d ms after the command was done, want at most 2,000", late)
				}
			}
		})
	}
}

// newTap returns the address of a proxy that hands requests on to an app, and a function that
// returns all headers that it saw.
func newTap(t testing.TB, app string) (address string, seen func() string) {
	t.Helper()
	var mu sync.Mutex
	var all strings.Builder
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: app})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		r.Header.Write(&all)
		mu.Unlock()
		r.Host = app
		proxy.ServeHTTP(w, r)
	}))
	return l.Addr().String(), func() string { mu.Lock(); defer mu.Unlock(); return all.String() }
}

func TestCookiesOfTwoAppsStayApartAndOursReachesNone(t *testing.T) {
	t.Parallel()
	s, b := newStack(t), sharedBrowser(t)
	var addresses, urls []string
	var seen []func() string
	owner := newVisitor(t, b)
	for _, name := range []string{"one", "two"} {
		a, f := newTap(t, newLiveReload(t, name).address)
		v := s.publish(name, a, nil)
		addresses, urls, seen = append(addresses, a), append(urls, v.URL), append(seen, f)
		owner.enter(s.run("services", "link", v.ID))
		eval[any](owner, `void (document.cookie = "of`+name+`=1; Path=/", document.cookie = "wide=`+name+`; Path=/; Domain=localhost")`)
		if _, err := chromedp.Run(owner.ctx, chromedp.Reload()); err != nil {
			t.Fatal(err)
		}
	}
	for i, name := range []string{"one", "two"} {
		owner.open(urls[i])
		owner.sees(name)
		if got := eval[string](owner, "document.cookie"); got != "of"+name+"=1" {
			t.Errorf("%s has the cookies %q, want its own", name, got)
		}
		headers := seen[i]()
		if len(lines(headers, "of"+name+"=1")) == 0 || strings.Contains(headers, "fairlead-visit") || len(lines(headers, "Cookie: ")) != len(lines(headers, "of"+name+"=1")) {
			t.Errorf("%s at %s saw these headers, want its own cookie alone:\n%s", name, addresses[i], headers)
		}
	}
}

// large is the size of the file that is sent to and fetched from the file server.
func large(t testing.TB) int64 {
	t.Helper()
	n, err := strconv.ParseInt(os.Getenv("FAIRLEAD_LARGE"), 10, 64)
	if err != nil {
		n = 64 << 20
	}
	return n
}

func checksum(t testing.TB, name string) string {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// watchMemory returns a function that returns the largest private memory of a program since the
// call.
func watchMemory(t testing.TB, p *process) (most func() int64) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan int64, 1)
	go func() {
		var top int64
		for ctx.Err() == nil {
			top = max(top, p.privateMemory(t))
			select {
			case <-ctx.Done():
			case <-time.After(200 * time.Millisecond):
			}
		}
		done <- top
	}()
	return func() int64 { cancel(); return <-done }
}

func TestLargeFileGoesUpAndDownThroughCopyparty(t *testing.T) {
	copyparty := filepath.Join(apps, "py", "bin", "copyparty")
	needs(t, copyparty)
	t.Parallel()
	s, b := newStack(t), sharedBrowser(t)
	dir, port := t.TempDir(), freePort(t)
	shared := filepath.Join(dir, "shared")
	os.Mkdir(shared, 0o700)
	start(t, "", filepath.Join(dir, "copyparty.log"), []string{"HOME=" + dir}, copyparty, "-i", "127.0.0.1", "-p", port, "-v", shared+"::rw", "-q", "--no-crt", "--no-thumb")
	untilListens(t, "127.0.0.1:"+port)
	v := s.publish("Files", port, nil)
	owner := newVisitor(t, b)
	owner.enter(s.run("services", "link", v.ID))
	owner.waits("document.querySelector('#op_bup input[type=file]')")
	owner.picture("copyparty")

	sent := filepath.Join(dir, "large.bin")
	f, err := os.Create(sent)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.CopyN(f, rand.NewChaCha8([32]byte{1}), large(t)); err != nil {
		t.Fatal(err)
	}
	f.Close()
	want := checksum(t, sent)
	gateway, machine := s.gateway.privateMemory(t), s.machine.privateMemory(t)
	topGateway, topMachine := watchMemory(t, s.gateway), watchMemory(t, s.machine)

	began := time.Now()
	owner.do(chromedp.SetUploadFiles(chromedp.CSS("#op_bup input[type=file]"), []string{sent}))
	eval[any](owner, "void document.querySelector('#op_bup form').submit()")
	stored := filepath.Join(shared, "large.bin")
	owner.untilSize(stored, large(t), 10*patience)
	up := time.Since(began)
	if got := checksum(t, stored); got != want {
		t.Errorf("uploaded: got checksum %s, want %s", got, want)
	}
	fetched := filepath.Join(dir, "fetched")
	owner.downloads(fetched)
	began = time.Now()
	eval[any](owner, "void location.assign('/large.bin?dl')")
	owner.untilSize(filepath.Join(fetched, "large.bin"), large(t), 10*patience)
	down := time.Since(began)
	if got := checksum(t, filepath.Join(fetched, "large.bin")); got != want {
		t.Errorf("downloaded: got checksum %s, want %s", got, want)
	}
	moreGateway, moreMachine := topGateway()-gateway, topMachine()-machine
	t.Logf("%d MiB: up in %s, down in %s; private memory of the gateway grew by %d KiB, of the machine by %d KiB",
		large(t)>>20, up.Round(time.Millisecond), down.Round(time.Millisecond), moreGateway>>10, moreMachine>>10)
	if limit := int64(48 << 20); moreGateway > limit || moreMachine > limit {
		t.Errorf("private memory grew by %d and %d bytes, want at most %d", moreGateway, moreMachine, limit)
	}
}

// untilSize waits until a file has a size.
func (v *visitor) untilSize(name string, size int64, limit time.Duration) {
	v.t.Helper()
	var got int64
	for end := time.Now().Add(limit); got != size; time.Sleep(50 * time.Millisecond) {
		if info, err := os.Stat(name); err == nil {
			got = info.Size()
		}
		if time.Now().After(end) {
			v.t.Fatalf("%s has %d bytes after %s, want %d", name, got, limit, size)
		}
	}
}

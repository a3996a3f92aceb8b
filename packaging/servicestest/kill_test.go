package servicestest

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// ofTunnels matches goroutines of tunnels and their streams.
var ofTunnels = regexp.MustCompile(`go-yamux|fairlead/gateway/peer/tunnel\.|fairlead/gateway/protocol/forward\.`)

// endless is an app that sends bytes to each connection until that ends, and says how many are
// open.
type endless struct {
	address string
	open    chan int // one value at any time
}

func newEndless(t testing.TB) *endless {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	e := &endless{l.Addr().String(), make(chan int, 1)}
	e.open <- 0
	go http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/small" {
			io.WriteString(w, "small")
			return
		}
		e.open <- <-e.open + 1
		defer func() { e.open <- <-e.open - 1 }()
		for chunk := make([]byte, 64<<10); ; {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}))
	return e
}

// has reports whether n connections are open.
func (e *endless) has(n int) func() bool {
	return func() bool { now := <-e.open; e.open <- now; return now == n }
}

// request sends a GET for a path to an address, by the name of a host, and returns the connection.
func request(t testing.TB, address, host, path string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", path, host)
	return c
}

// small checks that an endless app answers.
func small(t testing.TB, address, host string) error {
	t.Helper()
	c, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(patience))
	fmt.Fprintf(c, "GET /small HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", host)
	data, err := io.ReadAll(c)
	if err == nil && !strings.HasSuffix(string(data), "small") {
		err = fmt.Errorf("got %q, want small", data)
	}
	return err
}

// stream is a stack with an endless app, published without a sign-in and forwarded, and streams
// through both ways.
type stream struct {
	*stack
	app     *endless
	service service
	host    string   // of the service
	forward *process // fairlead forward
	local   string   // its address
}

func newStream(t testing.TB) *stream {
	t.Helper()
	s := &stream{stack: newStack(t), app: newEndless(t)}
	s.service = s.publish("Endless", s.app.address, map[string]any{"auth_required": false})
	s.host = strings.TrimPrefix(s.service.URL, "http://")
	s.forward, s.local = s.stack.forward(s.app.address)
	s.works()
	return s
}

// works waits until both ways lead to the app.
func (s *stream) works() {
	s.t.Helper()
	for way, f := range map[string]func() error{
		"service": func() error { return small(s.t, s.listen, s.host) },
		"forward": func() error { return small(s.t, s.local, s.app.address) },
	} {
		until(s.t, "the app answers through the "+way, func() bool { return f() == nil })
	}
}

// flow opens n streams each way that move bytes until they end, and returns a function that waits
// for the ends.
func (s *stream) flow(n int) (ended func()) {
	s.t.Helper()
	ends := make(chan struct{}, 2*n)
	for range n {
		for _, c := range []net.Conn{request(s.t, s.listen, s.host, "/"), request(s.t, s.local, s.app.address, "/")} {
			go func() { io.Copy(io.Discard, c); ends <- struct{}{} }()
		}
	}
	until(s.t, "all streams reach the app", s.app.has(2*n))
	return func() {
		s.t.Helper()
		for i := range 2 * n {
			select {
			case <-ends:
			case <-time.After(patience):
				s.t.Fatalf("%d of %d streams ended within %s, want all", i, 2*n, patience)
			}
		}
		until(s.t, "the app's connections ended", s.app.has(0))
	}
}

// settles waits until a program has at most as many sockets as it had before.
func settles(t testing.TB, what string, p *process, before int) {
	t.Helper()
	until(t, fmt.Sprintf("the %s has at most %d sockets again", what, before), func() bool { return p.sockets(t) <= before })
}

// connections returns the number of open connections of each forward.
func (s *stream) connections() (counts []int) {
	s.t.Helper()
	var list struct{ Forwards []struct{ Connections int } }
	text := s.run("forward", "--list", "--json")
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		s.t.Fatalf("forward --list: %v: %s", err, text)
	}
	for _, f := range list.Forwards {
		counts = append(counts, f.Connections)
	}
	return counts
}

func TestGatewayLosesNothingByTheKillOfAMachine(t *testing.T) {
	t.Parallel()
	s := newStream(t)
	before := s.gateway.sockets(t)
	for range 3 {
		ended := s.flow(5)
		s.machine.kill()
		ended()
		until(t, "the forward has no connections", func() bool { return slices.Equal(s.connections(), []int{0}) })
		s.startMachine()
		s.works()
		settles(t, "gateway", s.gateway, before)
	}
	s.forward.kill()
	s.machine.kill()
	s.untilOnline(false)
	if left := s.gateway.goroutines(t, ofTunnels); len(left) > 0 {
		t.Errorf("the gateway has %d goroutines of tunnels, want none:\n%s", len(left), strings.Join(left, "\n\n"))
	}
}

func TestMachineLosesNothingByTheKillOfTheGateway(t *testing.T) {
	t.Parallel()
	s := newStream(t)
	before, beforeForward := s.machine.sockets(t), s.forward.sockets(t)
	for range 3 {
		ended := s.flow(5)
		s.gateway.kill()
		ended()
		s.startGateway()
		s.works()
		settles(t, "machine", s.machine, before)
		settles(t, "forward", s.forward, beforeForward)
	}
	// A gateway that is killed writes no line; each start has one.
	if audit := s.run("audit"); len(lines(audit, "opened a forward")) != 4 || len(lines(audit, "closed the forward")) != 0 {
		t.Errorf("audit log: got this, want 4 opened forwards and none closed:\n%s", audit)
	}
	s.gateway.kill()
	for name, p := range map[string]*process{"machine": s.machine, "forward": s.forward} {
		until(t, "the "+name+" has lost its streams", s.app.has(0))
		if left := p.goroutines(t, regexp.MustCompile(`go-yamux`)); len(left) > 0 {
			t.Errorf("the %s has %d goroutines of tunnels, want none:\n%s", name, len(left), strings.Join(left, "\n\n"))
		}
	}
}

func TestNobodyLosesAnythingByTheKillOfAForward(t *testing.T) {
	t.Parallel()
	s := newStream(t)
	gateway, machine := s.gateway.sockets(t), s.machine.sockets(t)
	for range 3 {
		var conns []net.Conn
		for range 5 {
			conns = append(conns, request(t, s.local, s.app.address, "/"))
		}
		until(t, "all streams reach the app", s.app.has(len(conns)))
		s.forward.kill()
		until(t, "the app's connections ended", s.app.has(0))
		until(t, "the forward is not listed", func() bool { return len(s.connections()) == 0 })
		s.forward, s.local = s.stack.forward(s.app.address)
		s.works()
		settles(t, "gateway", s.gateway, gateway)
		settles(t, "machine", s.machine, machine)
	}
	audit := s.run("audit")
	if opened, closed := len(lines(audit, "opened a forward")), len(lines(audit, "closed the forward")); opened != 4 || closed != 3 {
		t.Errorf("audit log: got %d opened and %d closed forwards, want 4 and 3:\n%s", opened, closed, audit)
	}
}

func TestEightyStalledReadersHoldNobodyUp(t *testing.T) {
	t.Parallel()
	s := newStream(t)
	gateway, machine := s.gateway.privateMemory(t), s.machine.privateMemory(t)
	for range 40 {
		request(t, s.listen, s.host, "/")
		request(t, s.local, s.app.address, "/")
	}
	until(t, "all stalled readers reach the app", s.app.has(80))
	for way, f := range map[string]func() error{
		"service": func() error { return small(t, s.listen, s.host) },
		"forward": func() error { return small(t, s.local, s.app.address) },
	} {
		var took []time.Duration // the first ones wait until the other readers have stalled
		for range 100 {
			began := time.Now()
			if err := f(); err != nil {
				t.Fatalf("%s: %v", way, err)
			}
			took = append(took, time.Since(began))
		}
		took = took[75:]
		slices.Sort(took)
		t.Logf("%s: %s for a request beside 80 stalled readers", way, took[len(took)/2])
	}
	t.Logf("private memory: gateway %d KiB more, machine %d KiB more", (s.gateway.privateMemory(t)-gateway)>>10, (s.machine.privateMemory(t)-machine)>>10)
}

// inside returns a command in a network namespace.
func inside(namespace string, args ...string) *exec.Cmd {
	return exec.Command("ip", append([]string{"netns", "exec", namespace}, args...)...)
}

package servicestest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// way leads to an app: directly, through a service of the built programs, whose visitor is signed
// in, or through ssh -L.
type way struct{ name, address, host, cookie string }

// ways starts an app and returns the ways to it.
func ways(b *testing.B, app http.HandlerFunc) (*stack, []way) {
	b.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	go http.Serve(l, app)
	target := l.Addr().String()
	s := newStack(b)
	v := s.publish("App", target, nil)
	return s, []way{
		{"direct", target, target, ""},
		{"service", s.listen, strings.TrimPrefix(v.URL, "http://"), cookie(b, s, v)},
		{"ssh", sshForward(b, target), target, ""},
	}
}

// cookie uses a link, as its page's button does, and returns the cookie of the visitor.
func cookie(b *testing.B, s *stack, v service) string {
	b.Helper()
	link, err := url.Parse(s.run("services", "link", v.ID))
	if err != nil {
		b.Fatal(err)
	}
	c := way{address: s.listen}.client(1)
	c.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	a, err := c.PostForm(link.String(), link.Query())
	if err != nil {
		b.Fatal(err)
	}
	a.Body.Close()
	if len(a.Cookies()) != 1 {
		b.Fatalf("the link: got %s and the cookies %v, want one", a.Status, a.Cookies())
	}
	return a.Cookies()[0].String()
}

// sshForward starts an sshd of its own, and ssh -L through it to a target. It returns the local
// address; empty without sshd.
func sshForward(b *testing.B, target string) string {
	b.Helper()
	sshd := "/usr/sbin/sshd"
	if _, err := os.Stat(sshd); err != nil {
		return ""
	}
	dir, port, local := b.TempDir(), freePort(b), "127.0.0.1:"+freePort(b)
	os.MkdirAll("/run/sshd", 0o755)
	for _, name := range []string{"host", "user"} {
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", filepath.Join(dir, name)).CombinedOutput(); err != nil {
			b.Fatalf("ssh-keygen: %v: %s", err, out)
		}
	}
	config := fmt.Sprintf("Port %s\nListenAddress 127.0.0.1\nHostKey %s\nAuthorizedKeysFile %s\nStrictModes no\nUsePAM no\nPidFile none\nMaxStartups 100\n", port, filepath.Join(dir, "host"), filepath.Join(dir, "user.pub"))
	if err := os.WriteFile(filepath.Join(dir, "config"), []byte(config), 0o600); err != nil {
		b.Fatal(err)
	}
	start(b, "", filepath.Join(dir, "sshd.log"), nil, sshd, "-D", "-f", filepath.Join(dir, "config"))
	untilListens(b, "127.0.0.1:"+port)
	start(b, "", filepath.Join(dir, "ssh.log"), nil, "ssh", "-N", "-p", port, "-i", filepath.Join(dir, "user"), "-o", "StrictHostKeyChecking=no",
		"-o", "UserKnownHostsFile=/dev/null", "-F", "none", "-L", local+":"+target, "127.0.0.1")
	untilListens(b, local)
	return local
}

// client returns a client of a way, with n kept connections.
func (w way) client(n int) *http.Client {
	return &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: n, DisableCompression: true,
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, w.address)
		},
	}}
}

// do makes a request and reads the answer.
func (w way) do(c *http.Client, method, path string, body io.Reader) (int64, error) {
	r, err := http.NewRequest(method, "http://"+w.host+path, body)
	if err != nil {
		return 0, err
	}
	r.Header.Set("Cookie", w.cookie)
	a, err := c.Do(r)
	if err != nil {
		return 0, err
	}
	defer a.Body.Close()
	n, err := io.Copy(io.Discard, a.Body)
	if err == nil && a.StatusCode != http.StatusOK {
		err = fmt.Errorf("status %s", a.Status)
	}
	return n, err
}

func report(b *testing.B, took []time.Duration) {
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
}

// BenchmarkRequests makes requests for 1 KiB over 8 kept connections, also to a service without a
// sign-in.
func BenchmarkRequests(b *testing.B) {
	s, all := ways(b, func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, 1024)) })
	open := s.publish("Open", all[0].address, map[string]any{"auth_required": false})
	all = append(all, way{"open", s.listen, strings.TrimPrefix(open.URL, "http://"), ""})
	const clients = 8
	for _, w := range all {
		b.Run(w.name, func(b *testing.B) {
			if w.address == "" {
				b.Skip("there is no sshd to compare with")
			}
			c := w.client(clients)
			var mu sync.Mutex
			var took []time.Duration
			next := make(chan bool)
			var group sync.WaitGroup
			for range clients {
				group.Go(func() {
					for range next {
						began := time.Now()
						if _, err := w.do(c, "GET", "/", nil); err != nil {
							b.Error(err)
						}
						mu.Lock()
						took = append(took, time.Since(began))
						mu.Unlock()
					}
				})
			}
			for b.Loop() {
				next <- true
			}
			close(next)
			group.Wait()
			b.ReportMetric(float64(len(took))/b.Elapsed().Seconds(), "requests/s")
			report(b, took)
		})
	}
}

// zeros are endless.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// BenchmarkLarge moves 1 GiB in one answer and in one request.
func BenchmarkLarge(b *testing.B) {
	const size = 1 << 30
	_, all := ways(b, func(w http.ResponseWriter, r *http.Request) {
		if n, _ := io.Copy(io.Discard, r.Body); n > 0 {
			return
		}
		w.Header().Set("Content-Length", strconv.Itoa(size))
		io.Copy(w, io.LimitReader(zeros{}, size))
	})
	for _, w := range all {
		for _, method := range []string{"GET", "POST"} {
			b.Run(method+"/"+w.name, func(b *testing.B) {
				if w.address == "" {
					b.Skip("there is no sshd to compare with")
				}
				c := w.client(1)
				b.SetBytes(size)
				for b.Loop() {
					var body io.Reader
					if method == "POST" {
						body = io.LimitReader(zeros{}, size)
					}
					if n, err := w.do(c, method, "/", body); err != nil || method == "GET" && n != size {
						b.Fatalf("got %d bytes, %v", n, err)
					}
				}
			})
		}
	}
}

// BenchmarkIdleVisitors measures the private memory of gateway and machine for each visitor with a
// kept connection, and for each with an open answer.
func BenchmarkIdleVisitors(b *testing.B) {
	for name, c := range map[string]struct {
		path     string
		visitors int
	}{"kept": {"/", 1000}, "open": {"/events", 250}} {
		b.Run(name, func(b *testing.B) {
			s, all := ways(b, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				io.WriteString(w, "data: 1\n\n")
				if r.URL.Path == "/events" {
					w.(http.Flusher).Flush()
					<-r.Context().Done()
				}
			})
			w := all[1]
			gateway, machine := s.gateway.privateMemory(b), s.machine.privateMemory(b)
			var conns []net.Conn
			for range c.visitors {
				conn, err := net.Dial("tcp", w.address)
				if err != nil {
					b.Fatal(err)
				}
				conns = append(conns, conn)
				fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nCookie: %s\r\n\r\n", c.path, w.host, w.cookie)
				if answer, err := io.ReadAll(io.LimitReader(conn, 15)); string(answer) != "HTTP/1.1 200 OK" {
					b.Fatalf("got %q, %v", answer, err)
				}
			}
			more, moreMachine := s.gateway.privateMemory(b)-gateway, s.machine.privateMemory(b)-machine
			for b.Loop() { // a second time would use memory that the first one left
			}
			b.ReportMetric(float64(more)/float64(c.visitors)/1024, "gateway-KiB/visitor")
			b.ReportMetric(float64(moreMachine)/float64(c.visitors)/1024, "machine-KiB/visitor")
			for _, conn := range conns {
				conn.Close()
			}
		})
	}
}

// BenchmarkCallBesideStream calls a tool of the machine 100 times a second, without and with a
// stream from the same machine that moves all it can.
func BenchmarkCallBesideStream(b *testing.B) {
	app := newEndless(b)
	s := newStack(b)
	_, local := s.forward(app.address)
	var token struct{ Token string }
	if err := json.Unmarshal([]byte(s.run("tokens", "create", "--name", "bench", "--json", "--scopes", "fs.read")), &token); err != nil {
		b.Fatal(err)
	}
	args, _ := json.Marshal(map[string]any{"target": map[string]string{"node_id": "tower"}, "path": filepath.Join(s.dir, "machine")})
	call := func(b *testing.B) {
		r, _ := http.NewRequest("POST", "http://"+s.listen+"/api/v1/tools/fs_stat", bytes.NewReader(args))
		r.Header.Set("Authorization", "Bearer "+token.Token)
		r.Header.Set("Content-Type", "application/json")
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			b.Fatal(err)
		}
		defer a.Body.Close()
		if text, _ := io.ReadAll(a.Body); a.StatusCode != http.StatusOK {
			b.Fatalf("fs_stat: got %s %s", a.Status, text)
		}
	}
	for _, beside := range []string{"alone", "stream"} {
		b.Run(beside, func(b *testing.B) {
			var moved int64
			if beside == "stream" {
				c := request(b, local, app.address, "/")
				done := make(chan struct{})
				go func() { defer close(done); moved, _ = io.Copy(io.Discard, c) }()
				began := time.Now()
				defer func() {
					c.Close()
					<-done
					b.ReportMetric(float64(moved)/time.Since(began).Seconds()/1e6, "stream-MB/s")
				}()
			}
			var took []time.Duration
			tick := time.NewTicker(10 * time.Millisecond)
			defer tick.Stop()
			for b.Loop() {
				<-tick.C
				began := time.Now()
				call(b)
				took = append(took, time.Since(began))
			}
			report(b, took)
		})
	}
}

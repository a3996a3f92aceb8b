package address

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// memory is a listener whose connections are in memory.
type memory chan net.Conn

func (m memory) Addr() net.Addr { return &net.UnixAddr{Name: "memory"} }
func (m memory) Close() error   { close(m); return nil }

func (m memory) Accept() (net.Conn, error) {
	if c, ok := <-m; ok {
		return c, nil
	}
	return nil, net.ErrClosed
}

func (m memory) dial() net.Conn {
	near, far := net.Pipe()
	m <- far
	return near
}

// headerBlock returns a frame of HTTP/2 with a request, after what begins a connection.
func headerBlock(t *testing.T) (preface, frame string) {
	t.Helper()
	var fields, first, second strings.Builder
	e := hpack.NewEncoder(&fields)
	for _, f := range [][2]string{{":method", "GET"}, {":scheme", "https"}, {":path", "/"}, {":authority", "wiki." + domain}, {"x-long", strings.Repeat("a", 4000)}} {
		if err := e.WriteField(hpack.HeaderField{Name: f[0], Value: f[1]}); err != nil {
			t.Fatal(err)
		}
	}
	first.WriteString(http2.ClientPreface)
	if err := http2.NewFramer(&first, nil).WriteSettings(); err != nil {
		t.Fatal(err)
	}
	if err := http2.NewFramer(&second, nil).WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte(fields.String()), EndStream: true, EndHeaders: true}); err != nil {
		t.Fatal(err)
	}
	return first.String(), second.String()
}

// TestAClientThatSendsItsHeadersByteByByteIsEnded sends a byte each second, while another client
// is served at once.
func TestAClientThatSendsItsHeadersByteByByteIsEnded(t *testing.T) {
	a := newAuthority(t)
	cert, key := files(t)
	a.write(t, cert, key, "*."+domain, time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)) // in a bubble it is 2000
	own, err := tls.LoadX509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	preface, frame := headerBlock(t)
	for name, c := range map[string]struct {
		protocol, at, slowly string
		limit                time.Duration
	}{
		"HTTP/1.1":        {"http/1.1", "GET / HTTP/1.1\r\nHost: wiki." + domain + "\r\n", "X-Long: " + strings.Repeat("a", 4000), headerLimit},
		"HTTP/2":          {"h2", preface, frame, idleLimit},
		"HTTP/2, at once": {"h2", "", preface, headerLimit},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := make(memory)
				srv := newServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "the app") }))
				srv.TLSConfig = &tls.Config{Certificates: []tls.Certificate{own}, NextProtos: protocols}
				go srv.ServeTLS(l, "", "")
				defer time.Sleep(time.Minute) // in which connections close
				defer srv.Close()
				dial := func(protocol string) *tls.Conn {
					return tls.Client(l.dial(), &tls.Config{InsecureSkipVerify: true, NextProtos: []string{protocol}})
				}
				slow := dial(c.protocol)
				go io.Copy(io.Discard, slow)
				began := time.Now()
				if _, err := io.WriteString(slow, c.at); err != nil {
					t.Fatal(err)
				}
				for i := range len(c.slowly) {
					if _, err = io.WriteString(slow, c.slowly[i:i+1]); err != nil {
						break
					}
					time.Sleep(time.Second)
					if i == 5 {
						serves(t, dial("http/1.1"))
					}
				}
				if took := time.Since(began); err == nil || took > c.limit+2*time.Second {
					t.Errorf("the connection ended after %s with %v, want an end within %s", took, err, c.limit)
				}
			})
		})
	}
}

// serves checks that a connection is served at once.
func serves(t *testing.T, c net.Conn) {
	t.Helper()
	defer c.Close()
	began := time.Now()
	b := &http.Client{Transport: &http.Transport{DialTLS: func(string, string) (net.Conn, error) { return c, nil }, DisableKeepAlives: true}}
	res, err := b.Get("https://wiki." + domain)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if data, err := io.ReadAll(res.Body); string(data) != "the app" || err != nil || time.Since(began) > time.Second {
		t.Errorf("another client got %q, %v after %s; want the app at once", data, err, time.Since(began))
	}
}

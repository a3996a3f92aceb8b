package service

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// raw sends bytes to the site and returns the whole answer, until the site closes the connection.
func (s *site) raw(t *testing.T, text string) string {
	t.Helper()
	c, err := s.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
	c.SetReadDeadline(time.Now().Add(20 * time.Second))
	data, _ := io.ReadAll(c)
	return string(data)
}

// TestNoRequestIsSmuggledToAnApp sends requests whose end two servers could see at different
// places. The app must see no second request, and none under another name.
func TestNoRequestIsSmuggledToAnApp(t *testing.T) {
	var mu sync.Mutex
	var seen []string
	srv := app(t, func(_ http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, r.Method+" "+r.URL.Path)
	})
	s := newSite(t)
	v := s.publish(t, srv.URL, func(d *Definition) { d.SignIn = false })
	host := strings.TrimPrefix(v.URL, "http://")
	const hidden = "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
	for what, head := range map[string]string{
		"CL.TE":                      fmt.Sprintf("Content-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n%s", 5+len(hidden), hidden),
		"TE.CL":                      "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n" + fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(hidden), hidden),
		"two lengths":                fmt.Sprintf("Content-Length: 0\r\nContent-Length: %d\r\n\r\n%s", len(hidden), hidden),
		"a list of lengths":          fmt.Sprintf("Content-Length: 0, %d\r\n\r\n%s", len(hidden), hidden),
		"an unknown encoding":        "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n" + hidden,
		"a space before the colon":   fmt.Sprintf("Content-Length : %d\r\n\r\n%s", len(hidden), hidden),
		"a folded header":            "Transfer-Encoding:\r\n chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n" + hidden,
		"a negative length":          "Content-Length: -1\r\n\r\n" + hidden,
		"two hosts":                  "Host: other.localhost\r\nContent-Length: 0\r\n\r\n",
		"a length of a named header": fmt.Sprintf("Connection: Content-Length\r\nContent-Length: %d\r\n\r\n%s", len(hidden), hidden),
	} {
		mu.Lock()
		seen = nil
		mu.Unlock()
		answer := s.raw(t, "POST /a HTTP/1.1\r\nHost: "+host+"\r\n"+head+"GET /end HTTP/1.1\r\nHost: "+host+"\r\nConnection: close\r\n\r\n")
		mu.Lock()
		for _, r := range seen {
			if r != "POST /a" && r != "GET /end" {
				t.Errorf("%s: the app sees %q, want at most the two visible requests; the answer is %q", what, seen, answer)
			}
		}
		mu.Unlock()
	}
	if answer := s.raw(t, "GET http://"+host+"/whole HTTP/1.1\r\nHost: other.localhost\r\nConnection: close\r\n\r\n"); !strings.HasPrefix(answer, "HTTP/1.1 200") {
		t.Errorf("a whole address: got %q, want the app that it names", answer)
	}
	if answer := s.raw(t, "GET http://other.localhost/whole HTTP/1.1\r\nHost: "+host+"\r\nConnection: close\r\n\r\n"); !strings.HasPrefix(answer, "HTTP/1.1 404") {
		t.Errorf("a whole address of no app: got %q, want 404", answer)
	}
}

// TestTheAppDecidesWhetherAnUploadContinues waits for 100 Continue before it sends the body, and
// sends a trailer after it.
func TestTheAppDecidesWhetherAnUploadContinues(t *testing.T) {
	srv := app(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/no" {
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			return
		}
		data, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s %s", data, r.Trailer.Get("Sum"))
	})
	s := newSite(t)
	v := s.publish(t, srv.URL, func(d *Definition) { d.SignIn = false })
	host := strings.TrimPrefix(v.URL, "http://")
	for path, want := range map[string]string{"/no": "HTTP/1.1 413", "/yes": "HTTP/1.1 100"} {
		c, err := s.connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		c.SetDeadline(time.Now().Add(20 * time.Second))
		fmt.Fprintf(c, "POST %s HTTP/1.1\r\nHost: %s\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\nTrailer: Sum\r\nConnection: close\r\n\r\n", path, host)
		in := bufio.NewReader(c)
		if line, err := in.ReadString('\n'); err != nil || !strings.HasPrefix(line, want) {
			t.Errorf("%s: got %q, %v; want %s", path, line, err, want)
			continue
		}
		if path == "/no" {
			continue
		}
		io.WriteString(c, "5\r\nhello\r\n0\r\nSum: five\r\n\r\n")
		if rest, err := io.ReadAll(in); err != nil || !bytes.Contains(rest, []byte("hello five")) {
			t.Errorf("got %q, %v; want the body and the trailer as the app saw them", rest, err)
		}
	}
}

// TestVisitorsWhoDoNotReadHoldNobodyUp has eighty of them beside one who reads.
func TestVisitorsWhoDoNotReadHoldNobodyUp(t *testing.T) {
	part := bytes.Repeat([]byte("x"), 1<<20)
	left := make(chan struct{}, 80)
	srv := app(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/endless" {
			io.WriteString(w, "hello")
			return
		}
		for {
			if _, err := w.Write(part); err != nil {
				left <- struct{}{}
				return
			}
		}
	})
	s := newSite(t)
	v := s.publish(t, srv.URL, func(d *Definition) { d.SignIn = false })
	var stalled []net.Conn
	for range 80 {
		c, err := s.connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "GET /endless HTTP/1.1\r\nHost: %s\r\n\r\n", strings.TrimPrefix(v.URL, "http://"))
		if _, err := c.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		stalled = append(stalled, c)
	}
	b := s.browser(t)
	for range 20 {
		if status, text := read(t)(b.Get(v.URL + "/a")); text != "hello" {
			t.Fatalf("beside them: got %d %s, want the app", status, text)
		}
	}
	for _, c := range stalled {
		c.Close()
	}
	for range stalled { // the app learns that each of them left
		select {
		case <-left:
		case <-time.After(30 * time.Second):
			t.Fatal("the app still writes to a visitor who left")
		}
	}
}

package service

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"fairlead/gateway/protocol"
)

// app starts an app that a service can lead to.
func app(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	return srv
}

func hello(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") }

func TestWithoutASignInNothingReachesTheApp(t *testing.T) {
	s := newSite(t)
	v := s.publish(t, app(t, hello).URL, nil)
	b := s.browser(t)
	for _, path := range []string{"/", "/a", enterPath, ownPath + "x"} {
		status, text := read(t)(b.Get(v.URL + path))
		if text == "hello" || status == http.StatusOK && path != enterPath {
			t.Errorf("%s answers %d %s, want a page of the gateway", path, status, text)
		}
	}
	r, _ := http.NewRequest("GET", v.URL, nil)
	r.AddCookie(&http.Cookie{Name: plainCookie + string(v.ID), Value: "guessed"})
	if status, text := read(t)(b.Do(r)); status != http.StatusUnauthorized || !strings.Contains(text, "Sign in") {
		t.Errorf("a guessed cookie gets %d %s, want 401 and the page", status, text)
	}
	if len(s.dialed) > 0 {
		t.Errorf("got connections to the app %v, want none", s.dialed)
	}
}

func TestALinkWorksOnceAndOnlyByItsButton(t *testing.T) {
	s := newSite(t)
	v := s.publish(t, app(t, hello).URL, nil)
	link, err := s.visits.Link(t.Context(), v, "")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // what programs do that show a preview of a link
		if status, text := read(t)(s.browser(t).Get(link)); status != http.StatusOK || text == "hello" {
			t.Errorf("looking at the link gets %d %s, want the page with the button", status, text)
		}
	}
	other, _ := http.NewRequest("POST", link, strings.NewReader(url.Values{"link": {strings.Split(link, "=")[1]}}.Encode()))
	other.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	other.Header.Set("Origin", "https://evil.example")
	if status, text := read(t)(s.browser(t).Do(other)); status != http.StatusForbidden {
		t.Errorf("another site's form gets %d %s, want 403", status, text)
	}
	b := s.browser(t)
	if status, text := use(t, b, link); status != http.StatusOK || text != "hello" {
		t.Errorf("the button gets %d %s, want the app", status, text)
	}
	if status, text := use(t, s.browser(t), link); status != http.StatusForbidden || !strings.Contains(text, "used already") {
		t.Errorf("the second use gets %d %s, want 403 and the reason", status, text)
	}
	if status, text := read(t)(b.Get(v.URL + "/again")); text != "hello" {
		t.Errorf("a later visit gets %d %s, want the app", status, text)
	}
}

func TestALinkTakesASignedInOwnerToTheAppUnused(t *testing.T) {
	s := newSite(t)
	v := s.publish(t, app(t, hello).URL, nil)
	link, err := s.visits.Link(t.Context(), v, "")
	if err != nil {
		t.Fatal(err)
	}
	if status, text := read(t)(s.enter(t, v, "").Get(link)); text != "hello" {
		t.Errorf("a signed-in owner gets %d %s, want the app", status, text)
	}
	if status, text := use(t, s.browser(t), link); text != "hello" {
		t.Errorf("a later use gets %d %s, want the app", status, text)
	}
}

// TestBrowsersSendTheFormOfALinkWithItsOrigin: with the policy no-referrer, they send the origin
// null, and the form is refused as another site's. With any wider policy than the origin, the app
// would get the link.
func TestBrowsersSendTheFormOfALinkWithItsOrigin(t *testing.T) {
	s := newSite(t)
	v := s.publish(t, app(t, hello).URL, nil)
	link, err := s.visits.Link(t.Context(), v, "")
	if err != nil {
		t.Fatal(err)
	}
	r, _ := http.NewRequest("GET", link, nil)
	r.Header.Set("Accept", "text/html")
	page, err := s.browser(t).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	page.Body.Close()
	if got := page.Header.Get("Referrer-Policy"); got != "strict-origin" {
		t.Errorf("Referrer-Policy: got %q, want strict-origin", got)
	}
}

func TestALinkOfOneServiceOpensNoOther(t *testing.T) {
	s := newSite(t)
	one, two := s.publish(t, app(t, hello).URL, nil), s.publish(t, app(t, hello).URL, nil)
	link, err := s.visits.Link(t.Context(), one, "")
	if err != nil {
		t.Fatal(err)
	}
	moved := strings.Replace(link, one.Name, two.Name, 1)
	if status, text := use(t, s.browser(t), moved); status != http.StatusForbidden {
		t.Errorf("got %d %s, want 403", status, text)
	}
	b := s.enter(t, one, "")
	u, _ := url.Parse(one.URL)
	r, _ := http.NewRequest("GET", two.URL, nil)
	r.AddCookie(b.Jar.Cookies(u)[0])
	if status, text := read(t)(s.browser(t).Do(r)); status != http.StatusUnauthorized {
		t.Errorf("the cookie of another service gets %d %s, want 401", status, text)
	}
}

func TestWhoIsTakenOffTheListIsOutAtOnce(t *testing.T) {
	s := newSite(t)
	v := s.publish(t, app(t, hello).URL, func(d *Definition) { d.Visitors = []string{"*@company.com", "bob@partner.com"} })
	if link, err := s.visits.Link(t.Context(), v, "eve@evil.example"); err == nil {
		t.Errorf("got the link %s for somebody who is not on the list, want an error", link)
	}
	owner, ann, bob := s.enter(t, v, ""), s.enter(t, v, "Ann@Company.com"), s.enter(t, v, "bob@partner.com")
	if _, err := s.Share(t.Context(), v.ID, ShareRemove, []string{"*@COMPANY.com"}, "owner"); err != nil {
		t.Fatal(err)
	}
	for who, c := range map[string]struct {
		b    *http.Client
		want int
	}{"the owner": {owner, 200}, "Ann": {ann, 403}, "Bob": {bob, 200}} {
		if status, text := read(t)(c.b.Get(v.URL)); status != c.want {
			t.Errorf("%s gets %d %s, want %d", who, status, text, c.want)
		}
	}
	if _, err := s.Share(t.Context(), v.ID, ShareRevoke, nil, "owner"); err != nil {
		t.Fatal(err)
	}
	if status, text := read(t)(bob.Get(v.URL)); status != 403 || !strings.Contains(text, "bob@partner.com") {
		t.Errorf("Bob gets %d %s after all were removed, want 403 and his address", status, text)
	}
}

func TestAVisitorSignsOut(t *testing.T) {
	s := newSite(t)
	v := s.publish(t, app(t, hello).URL, nil)
	b := s.enter(t, v, "")
	u, _ := url.Parse(v.URL)
	was := b.Jar.Cookies(u)
	other, _ := http.NewRequest("POST", v.URL+leavePath, nil)
	other.Header.Set("Origin", "https://evil.example")
	if status, text := read(t)(b.Do(other)); status != http.StatusForbidden {
		t.Errorf("another site's form gets %d %s, want 403", status, text)
	}
	if status, text := read(t)(b.Get(v.URL + leavePath)); status != http.StatusOK || !strings.Contains(text, "Sign out") {
		t.Errorf("looking at the page gets %d %s, want the page with the button", status, text)
	}
	if status, text := read(t)(b.Get(v.URL)); text != "hello" {
		t.Errorf("before the button was pressed: got %d %s, want the app", status, text)
	}
	if status, text := read(t)(b.PostForm(v.URL+leavePath, nil)); status != http.StatusUnauthorized {
		t.Errorf("the button gets %d %s, want 401", status, text)
	}
	if left := b.Jar.Cookies(u); len(left) > 0 {
		t.Errorf("the browser kept %v, want no cookie", left)
	}
	r, _ := http.NewRequest("GET", v.URL, nil)
	r.AddCookie(was[0])
	if status, text := read(t)(s.browser(t).Do(r)); status != http.StatusUnauthorized {
		t.Errorf("the cookie of before gets %d %s, want 401", status, text)
	}
}

func TestTheAppSeesNeitherOurCookieNorForgedAddresses(t *testing.T) {
	var got http.Header
	var host string
	srv := app(t, func(_ http.ResponseWriter, r *http.Request) { got, host = r.Header.Clone(), r.Host })
	s := newSite(t)
	v := s.publish(t, srv.URL, nil)
	b := s.enter(t, v, "")
	r, _ := http.NewRequest("GET", v.URL+"/page", nil)
	r.AddCookie(&http.Cookie{Name: "theirs", Value: "1"})
	for name, value := range map[string]string{
		"X-Forwarded-For": "6.6.6.6", "X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https", "X-Forwarded-Prefix": "/x", "X-Real-IP": "6.6.6.6",
		"Forwarded": "for=6.6.6.6", "Referer": v.URL + "/before?q=1",
	} {
		r.Header.Set(name, value)
	}
	if status, text := read(t)(b.Do(r)); status != http.StatusOK {
		t.Fatalf("got %d %s, want 200", status, text)
	}
	public, _ := url.Parse(v.URL)
	for name, want := range map[string]string{
		"Cookie": "theirs=1", "X-Forwarded-For": "127.0.0.1", "X-Forwarded-Host": public.Host, "X-Forwarded-Proto": "http", "X-Forwarded-Prefix": "", "X-Real-Ip": "",
		"Forwarded": "", "Origin": "", "Referer": srv.URL + "/before?q=1",
	} {
		if text := strings.Join(got.Values(name), "|"); text != want {
			t.Errorf("%s: got %q, want %q", name, text, want)
		}
	}
	if want := strings.TrimPrefix(srv.URL, "http://"); host != want {
		t.Errorf("Host: got %q, want %q", host, want)
	}
}

// TestAppsThatCompareOriginsSeeOneHost: an app compares the origin of a form with X-Forwarded-Host
// if it trusts that header, as copyparty and Rails do, and with Host otherwise.
func TestAppsThatCompareOriginsSeeOneHost(t *testing.T) {
	var got http.Header
	srv := app(t, func(_ http.ResponseWriter, r *http.Request) { got = r.Header.Clone() })
	s := newSite(t)
	v := s.publish(t, srv.URL, nil)
	b := s.enter(t, v, "")
	public, _ := url.Parse(v.URL)
	for origin, want := range map[string][2]string{v.URL: {srv.URL, ""}, "http://other.example": {"http://other.example", public.Host}} {
		r, _ := http.NewRequest("POST", v.URL+"/form", nil)
		r.Header.Set("Origin", origin)
		r.Header.Set("Sec-Fetch-Site", "cross-site") // without it, the other origin counts as that of a neighbour
		if status, text := read(t)(b.Do(r)); status != http.StatusOK {
			t.Fatalf("got %d %s, want 200", status, text)
		}
		if now := [2]string{got.Get("Origin"), got.Get("X-Forwarded-Host")}; now != want {
			t.Errorf("Origin and X-Forwarded-Host from %s: got %q, want %q", origin, now, want)
		}
	}
}

func TestTheAppsAnswersStayOnTheServicesHost(t *testing.T) {
	s := newSite(t)
	var own string
	srv := app(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", r.URL.Query().Get("to"))
		w.Header().Add("Set-Cookie", "id=1; Domain=localhost; Path=/; HttpOnly")
		w.Header().Add("Set-Cookie", plainCookie+"svc_1=stolen; Path=/")
		w.Header().Add("Set-Cookie", " "+safeCookie+"svc_1 =stolen; Path=/")
	})
	own = srv.URL
	v := s.publish(t, own, nil)
	b := s.enter(t, v, "")
	port := own[strings.LastIndex(own, ":"):]
	for to, want := range map[string]string{
		own + "/next?a=1":          "/next?a=1",
		"http://localhost" + port:  "/",
		"/relative":                "/relative",
		"https://example.com/away": "https://example.com/away",
		"//evil.example/":          "//evil.example/",
	} {
		r, err := b.Get(v.URL + "/?to=" + url.QueryEscape(to))
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if got := r.Header.Get("Location"); got != want {
			t.Errorf("Location %s: got %s, want %s", to, got, want)
		}
		if got := strings.Join(r.Header.Values("Set-Cookie"), "|"); got != "id=1; Path=/; HttpOnly" {
			t.Errorf("Set-Cookie: got %q, want only the app's, without its domain", got)
		}
	}
}

func TestAWebSocketPassesAndEndsWithTheService(t *testing.T) {
	var up websocket.Upgrader
	srv := app(t, func(w http.ResponseWriter, r *http.Request) {
		c, err := up.Upgrade(w, r, nil) // it compares Origin and Host, as most apps do
		if err != nil {
			return
		}
		defer c.Close()
		for {
			kind, data, err := c.ReadMessage()
			if err != nil {
				return
			}
			c.WriteMessage(kind, data)
		}
	})
	s := newSite(t)
	v := s.publish(t, srv.URL, nil)
	b := s.enter(t, v, "")
	u, _ := url.Parse(v.URL)
	d := websocket.Dialer{NetDialContext: b.Transport.(*http.Transport).DialContext, Jar: b.Jar}
	c, _, err := d.Dial("ws://"+u.Host+"/socket", http.Header{"Origin": {v.URL}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.WriteMessage(websocket.TextMessage, []byte("ping"))
	if _, data, err := c.ReadMessage(); string(data) != "ping" {
		t.Fatalf("got %q, %v; want the echo", data, err)
	}
	if err := s.Close(t.Context(), "owner", protocol.ServiceParams{ID: v.ID}); err != nil {
		t.Fatal(err)
	}
	c.SetReadDeadline(time.Now().Add(20 * time.Second))
	if _, data, err := c.ReadMessage(); err == nil || isTimeout(err) {
		t.Errorf("got %q, %v after the service was turned off; want the end of the connection", data, err)
	}
	if status, text := read(t)(b.Get(v.URL)); status != http.StatusNotFound {
		t.Errorf("got %d %s, want 404", status, text)
	}
}

func isTimeout(err error) bool {
	t, ok := err.(interface{ Timeout() bool })
	return ok && t.Timeout()
}

func TestEventsArriveAtOnceAndEndWithTheService(t *testing.T) {
	next := make(chan string)
	srv := app(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		for {
			select {
			case text := <-next:
				fmt.Fprintf(w, "data: %s\n\n", text)
				w.(http.Flusher).Flush()
			case <-r.Context().Done():
				return
			}
		}
	})
	s := newSite(t)
	v := s.publish(t, srv.URL, nil)
	r, err := s.enter(t, v, "").Get(v.URL + "/events")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	lines := bufio.NewReader(r.Body)
	for _, text := range []string{"one", "two"} {
		next <- text // the next one comes only after this one was seen
		if got, err := lines.ReadString('\n'); got != "data: "+text+"\n" {
			t.Fatalf("got %q, %v; want the event %s", got, err, text)
		}
		lines.ReadString('\n')
	}
	if _, err := s.Delete(t.Context(), v.ID, "owner"); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(lines); err == nil {
		t.Errorf("got %q and a proper end, want a broken connection: the answer was not whole", rest)
	}
}

func TestTheEndOfTheSiteEndsItsVisits(t *testing.T) {
	srv := app(t, func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	s := newSite(t)
	v := s.publish(t, srv.URL, nil)
	r, err := s.enter(t, v, "").Get(v.URL + "/endless")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	s.site.Close(t.Context())
	if text, err := io.ReadAll(r.Body); err == nil {
		t.Errorf("got %q and a proper end, want a broken connection", text)
	}
}

func TestLargeBodiesPassBothWays(t *testing.T) {
	big := bytes.Repeat([]byte("0123456789abcdef"), 1<<20)
	srv := app(t, func(w http.ResponseWriter, r *http.Request) {
		sum := sha256.New()
		io.Copy(sum, r.Body)
		w.Header().Set("Trailer", "Sum")
		w.Write(big)
		w.Header().Set("Sum", fmt.Sprintf("%x", sum.Sum(nil)))
	})
	s := newSite(t)
	v := s.publish(t, srv.URL, nil)
	r, err := s.enter(t, v, "").Post(v.URL+"/up", "application/octet-stream", bytes.NewReader(big))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	got, err := io.ReadAll(r.Body)
	if err != nil || !bytes.Equal(got, big) {
		t.Errorf("got %d bytes, %v; want %d", len(got), err, len(big))
	}
	if want := fmt.Sprintf("%x", sha256.Sum256(big)); r.Trailer.Get("Sum") != want {
		t.Errorf("the trailer is %q, want the checksum of the upload", r.Trailer.Get("Sum"))
	}
}

func TestHalfAnAnswerIsNotTakenForAWholeOne(t *testing.T) {
	srv := app(t, func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "half")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	s := newSite(t)
	v := s.publish(t, srv.URL, nil)
	b := s.enter(t, v, "")
	r, err := b.Get(v.URL + "/half")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	if text, err := io.ReadAll(r.Body); err == nil {
		t.Errorf("got %q and a proper end, want an error", text)
	}
}

func TestAServiceBeginsAtThePathOfItsTarget(t *testing.T) {
	srv := app(t, func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, r.URL.Path) })
	s := newSite(t)
	v := s.publish(t, srv.URL+"/admin/", nil)
	b := s.enter(t, v, "")
	for path, want := range map[string]string{"": "/admin/", "/": "/admin/", "/other": "/other"} {
		if _, text := read(t)(b.Get(v.URL + path)); text != want {
			t.Errorf("%q shows %s, want %s", path, text, want)
		}
	}
}

func TestVisitorsAreToldWhatIsAway(t *testing.T) {
	s := newSite(t)
	v := s.publish(t, "http://127.0.0.1:1/", func(d *Definition) { d.SignIn = false })
	b := s.browser(t)
	for _, c := range []struct {
		fail   error
		status int
		want   string
	}{
		{nil, 502, "The app does not answer"},
		{protocol.ErrUnavailable, 503, "The computer is offline"},
	} {
		s.mu.Lock()
		s.fail = c.fail
		s.mu.Unlock()
		r, _ := http.NewRequest("GET", v.URL, nil)
		r.Header.Set("Accept", "text/html")
		status, text := read(t)(b.Do(r))
		if status != c.status || !strings.Contains(text, c.want) || !strings.Contains(text, `http-equiv="refresh"`) {
			t.Errorf("got %d %s; want %d, %q, and a page that tries again", status, text, c.status, c.want)
		}
	}
}

func TestAnAppWithItsOwnCertificateIsReached(t *testing.T) {
	srv := httptest.NewTLSServer(http.HandlerFunc(hello))
	t.Cleanup(srv.Close)
	s := newSite(t)
	v := s.publish(t, srv.URL, nil)
	if status, text := read(t)(s.enter(t, v, "").Get(v.URL)); text != "hello" {
		t.Errorf("got %d %s, want the app", status, text)
	}
}

func TestAChangedTargetIsUsedAtOnce(t *testing.T) {
	s := newSite(t)
	v := s.publish(t, app(t, hello).URL, nil)
	b := s.enter(t, v, "")
	read(t)(b.Get(v.URL)) // leaves an open connection
	other := app(t, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "the other") })
	to, err := ParseTarget(other.URL, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Update(t.Context(), v.ID, Change{Target: &to}, "owner"); err != nil {
		t.Fatal(err)
	}
	if _, text := read(t)(b.Get(v.URL)); text != "the other" {
		t.Errorf("got %q, want the other app", text)
	}
}

func TestServiceNamesAreThoseOfLocalHosts(t *testing.T) {
	for host, want := range map[string]string{
		"app-1.localhost:8787": "app-1", "APP.localhost.": "app", "app.localhost": "app",
		"localhost:8787": "", "127.0.0.1:8787": "", "[::1]:8787": "", "app.localhost.evil.example": "", "evil-localhost": "",
	} {
		if name, ok := NameIn(host); ok != (want != "") || ok && name != want {
			t.Errorf("%s: got %q, %v; want %q", host, name, ok, want)
		}
	}
}

// unread is the body of an upload that nobody should read.
type unread struct{ reads atomic.Int32 }

func (u *unread) Read([]byte) (int, error) { u.reads.Add(1); return 0, io.EOF }

func TestAnAppRefusesAnUploadBeforeItIsSent(t *testing.T) {
	srv := app(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusRequestEntityTooLarge) })
	s := newSite(t)
	v := s.publish(t, srv.URL, nil)
	b := s.enter(t, v, "")
	b.Transport.(*http.Transport).ExpectContinueTimeout = 20 * time.Second
	body := new(unread)
	r, err := http.NewRequest("POST", v.URL+"/upload", body)
	if err != nil {
		t.Fatal(err)
	}
	r.ContentLength = 1 << 30
	r.Header.Set("Expect", "100-continue")
	if status, text := read(t)(b.Do(r)); status != http.StatusRequestEntityTooLarge || body.reads.Load() > 0 {
		t.Errorf("got %d %s and %d reads of the body, want 413 and none", status, text, body.reads.Load())
	}
}

func TestAnAppAcceptsAnUploadBeforeItIsSent(t *testing.T) {
	srv := app(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Expect") != "100-continue" {
			http.Error(w, "no Expect", http.StatusExpectationFailed)
			return
		}
		io.Copy(w, r.Body) // the first read answers 100
	})
	s := newSite(t)
	v := s.publish(t, srv.URL, nil)
	b := s.enter(t, v, "")
	b.Transport.(*http.Transport).ExpectContinueTimeout = 20 * time.Second
	r, err := http.NewRequest("POST", v.URL+"/upload", strings.NewReader("the file"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Expect", "100-continue")
	if status, text := read(t)(b.Do(r)); status != http.StatusOK || text != "the file" {
		t.Errorf("got %d %s, want the file back", status, text)
	}
}

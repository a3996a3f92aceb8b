//go:build desktop

package desktoptest

import (
	"context"
	"fmt"
	"image"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// TestAnAppIsPublishedAndDeletedInTheWindow publishes a small app through the form and its
// question, opens its address with the link of the owner, adds a visitor, and deletes it.
func TestAnAppIsPublishedAndDeletedInTheWindow(t *testing.T) {
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "the garden at ", r.URL.Path) }))
	t.Cleanup(app.Close)
	_, port, err := net.SplitHostPort(app.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	d := startApprovalProgram(t)
	d.clickText(mainWindow, "Start now")
	d.useDarkTheme(d.c)
	d.openPageOfMain("Published apps")
	d.waitText(mainWindow, "Nothing is published yet")
	d.screenshot("empty")

	d.keys("ctrl+k")
	d.typeText("publish an app")
	d.keys("Return")
	d.waitText(mainWindow, "Who gets in")
	d.typeText(port)
	d.waitText(mainWindow, "Means http")
	d.keys("Tab")
	d.typeText("Garden")
	d.screenshot("form")
	d.keys("Return")
	d.waitText(question, "reachable")
	d.screenshot("question")
	d.clickAllowOnce()
	d.waitFor("the published app", func() bool { return len(d.services()) == 1 })
	s := d.services()[0]
	if s.Title != "Garden" || !s.SignIn || s.Target != "http://127.0.0.1:"+port+"/" {
		t.Errorf("published %+v, want Garden at %s for the owner alone", s, port)
	}
	d.waitText(mainWindow, "All published apps")
	d.screenshot("published")

	link, err := client.Call(context.Background(), d.c, protocol.ServiceLink, protocol.ServiceLinkParams{ID: s.ID})
	if err != nil {
		t.Fatal(err)
	}
	if got := d.visit(link.URL, s.URL+"/bed"); got != "the garden at /bed" {
		t.Errorf("the address of the app: got %q, want the app", got)
	}

	d.click(d.waitText(mainWindow, "ann@company.com, or"))
	d.typeText("bob@company.com")
	d.keys("Return")
	d.waitText(question, "bob@company.com")
	d.clickAllowOnce()
	d.waitFor("the visitor", func() bool { return len(d.services()[0].Visitors) == 1 })
	d.waitNoWindow(question)
	d.activateMain()
	d.waitText(mainWindow, "Copy link")
	d.screenshot("visitor")

	d.clickText(mainWindow, "Delete")
	d.waitText(mainWindow, "with its address")
	d.click(d.waitText(mainWindow, "Cancel").Sub(image.Pt(70, 0))) // the button before it, not the word in the question
	d.waitText(question, "address")
	d.clickAllowOnce()
	d.waitFor("no published app", func() bool { return len(d.services()) == 0 })
	d.activateMain()
	d.waitText(mainWindow, "Nothing is published yet")
}

func (d *approvalProgram) services() []protocol.Service {
	r, err := client.Call(context.Background(), d.c, protocol.ServicesList, protocol.Empty{})
	if err != nil {
		d.t.Fatal(err)
	}
	return r.Services
}

// browser returns an HTTP client that reaches published apps and remembers its sign-ins.
func (p *program) browser() *http.Client {
	p.t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		p.t.Fatal(err)
	}
	return &http.Client{Jar: jar, Transport: &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, p.addr) // browsers look up names below localhost so
	}}}
}

// visit signs in with a link, as the button of its page does, and returns what is at an address.
func (d *approvalProgram) visit(link, address string) string {
	d.t.Helper()
	browser := d.browser()
	u, err := url.Parse(link)
	if err != nil {
		d.t.Fatal(err)
	}
	entered, err := browser.PostForm(link, u.Query())
	if err != nil {
		d.t.Fatal(err)
	}
	entered.Body.Close()
	return d.read(browser.Get(address))
}

// read returns the text of an answer.
func (p *program) read(r *http.Response, err error) string {
	p.t.Helper()
	if err != nil {
		p.t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		p.t.Fatal(err)
	}
	return strings.TrimSpace(string(text))
}

//go:build desktop

package desktoptest

import (
	"fmt"
	"image"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// TestAVisitorWhoAsksIsLetInAndCutOffInTheWindow publishes an app for the owner alone. A visitor
// asks for access, the owner allows it on the page Needs you and closes the app on the page Who can
// reach what.
func TestAVisitorWhoAsksIsLetInAndCutOffInTheWindow(t *testing.T) {
	p := startProgram(newDesktop(t))
	c := p.gateway()
	p.clickText(mainWindow, "Start now")
	p.useDarkTheme(c)
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "the wiki")
		if r.URL.Path == "/live" {
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}
	}))
	t.Cleanup(app.Close)
	s := p.publish(c, app.URL, "Wiki", true)

	ann, eve := p.browser(), p.browser()
	const signIn = "Sign in." // programs get the pages of the gateway as text
	if got := p.read(ann.Get(s.URL)); !strings.HasPrefix(got, signIn) {
		t.Fatalf("before the request: got %q, want %q", got, signIn)
	}
	asked := p.read(ann.PostForm(s.URL+"/.fairlead/ask", url.Values{"email": {"ann@company.com"}, "message": {"Ann from the club"}}))
	if want := "The owner has been asked"; !strings.Contains(asked, want) {
		t.Fatalf("after the request: got %q, want %q", asked, want)
	}
	p.waitTray("Let ann@company.com visit “Wiki”?")
	p.activate(p.waitWindow(mainWindow))
	p.openPage("Needs you")
	p.waitPlaces(mainWindow, content, "visit “Wiki”?", "Nobody has checked", "Ann from the club", "An hour", "Deny")
	p.screenshot("asked")
	if got := p.read(ann.Get(s.URL)); strings.Contains(got, "the wiki") {
		t.Error("the visitor gets the app before the answer")
	}
	var allow image.Rectangle
	p.waitFor("the button that allows", func() bool {
		areas := p.colouredAreas(content(p.waitWindow(mainWindow)))
		if len(areas) == 1 && p.buttonSays(areas[0], "Allow") {
			allow = areas[0]
		}
		return !allow.Empty()
	})
	p.screenshot("armed")
	p.click(allow.Min.Add(allow.Size().Div(2)))
	p.waitFor("the app for the visitor", func() bool { return p.read(ann.Get(s.URL)) == "the wiki" })
	if got := p.read(eve.Get(s.URL)); !strings.HasPrefix(got, signIn) {
		t.Errorf("another visitor: got %q, want %q", got, signIn)
	}
	live, err := ann.Get(s.URL + "/live")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { live.Body.Close() })

	p.openPage("Who can reach what")
	p.waitPlaces(mainWindow, content, "Wiki", "sign-in")
	p.screenshot("listed")
	p.closeExposure()
	closed := time.Now()
	p.waitFor("the end of the app", func() bool { return !strings.Contains(p.read(ann.Get(s.URL)), "the wiki") })
	if _, err := io.Copy(io.Discard, live.Body); err == nil {
		t.Error("the open page ended as if it was complete, want it cut")
	}
	if took := time.Since(closed); took > 2*time.Second {
		t.Errorf("the app was closed after %s, want at most 2 s", took)
	}
	p.waitFor("a list without the app", func() bool {
		words := p.readOnce(content(p.waitWindow(mainWindow)), "")
		_, hasTokens := find(words, "TOKENS")
		_, hasApp := find(words, "Turn off")
		return hasTokens && !hasApp
	})
	p.screenshot("closed")
}

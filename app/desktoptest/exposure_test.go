//go:build desktop

package desktoptest

import (
	"context"
	"encoding/json"
	"fmt"
	"image"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// publish publishes an app of this computer, to everyone or behind a sign-in, and answers the
// question about that.
func (p *program) publish(c *client.Client, target, title string, signIn bool) protocol.Service {
	p.t.Helper()
	var machine protocol.NodeID
	p.waitFor("this computer", func() bool {
		r, err := client.Call(context.Background(), c, protocol.NodesList, protocol.Empty{})
		if err == nil && len(r.Nodes) > 0 && r.Nodes[0].Online {
			machine = r.Nodes[0].ID
		}
		return machine != ""
	})
	published := make(chan error, 1)
	go func() {
		args := fmt.Sprintf(`{"node_id":%q,"proxy_target_url":%q,"title":%q,"auth_required":%t}`, machine, target, title, signIn)
		r, err := client.Call(context.Background(), c, protocol.CatalogCall, protocol.CatalogCallParams{Tool: "service_publish", Args: json.RawMessage(args)})
		if err == nil && r.Fault != nil {
			err = r.Fault
		}
		published <- err
	}()
	p.activate(p.waitWindow(question))
	p.screenshot("publish")
	p.clickAllowOnce()
	if err := <-published; err != nil {
		p.t.Fatal(err)
	}
	list, err := client.Call(context.Background(), c, protocol.ServicesList, protocol.Empty{})
	if err != nil || len(list.Services) != 1 {
		p.t.Fatalf("got %+v, %v; want the published app", list, err)
	}
	return list.Services[0]
}

// closeExposure closes the only way in that the page “Who can reach what” can turn off.
func (p *program) closeExposure() {
	p.t.Helper()
	p.click(p.waitTextIn(mainWindow, "Turn off", content))
	cancel := p.waitTextIn(mainWindow, "Cancel", content)
	p.screenshot("close")
	p.click(cancel.Sub(image.Pt(switchOffLeft, 0)))
}

// TestWhatIsPublicIsMarkedAndClosed publishes an app to everyone, finds it by the tray's mark, and
// closes it on the page.
func TestWhatIsPublicIsMarkedAndClosed(t *testing.T) {
	p := startProgram(newDesktop(t))
	c := p.gateway()
	p.clickText(mainWindow, "Start now")
	p.useDarkTheme(c)
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "the app") }))
	t.Cleanup(app.Close)
	s := p.publish(c, app.URL, "Wiki", false)
	browser := p.browser()
	status := func() int {
		res, err := browser.Get(s.URL)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res.StatusCode
	}
	if got := status(); got != http.StatusOK {
		t.Errorf("the published app: got %d, want 200", got)
	}

	const line = "1 app is public without sign-in"
	p.waitTray(line)
	p.screenshot("tray")
	p.chooseTray(line)
	p.waitTextIn(mainWindow, "Public without", content)
	p.screenshot("page")
	p.closeExposure()
	closed := time.Now()
	p.waitFor("the end of the app", func() bool { return status() == http.StatusNotFound })
	if took := time.Since(closed); took > 2*time.Second {
		t.Errorf("the app was closed after %s, want at most 2 s", took)
	}
	p.waitTextIn(mainWindow, "Nothing is public", content)
	p.waitFor("no line about it in the tray", func() bool {
		return !slices.ContainsFunc(p.trayMenu(), func(e menuEntry) bool { return strings.Contains(e.label, "public") })
	})
	p.screenshot("closed")
}

// switchOffLeft is how far the button that confirms is left of “Cancel”, from centre to centre.
const switchOffLeft = 87

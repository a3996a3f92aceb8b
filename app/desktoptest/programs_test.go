//go:build desktop

package desktoptest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// browser is what a program and the browser of its person do over HTTP.
type browser struct {
	*program
	base string
}

// send makes a request without following redirects, and returns the answer and its body.
func (b *browser) send(method, path, token, contentType string, body []byte) (*http.Response, string) {
	b.t.Helper()
	r, err := http.NewRequestWithContext(b.t.Context(), method, b.base+path, bytes.NewReader(body))
	if err != nil {
		b.t.Fatal(err)
	}
	r.Header.Set("Content-Type", contentType)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	c := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := c.Do(r)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	return resp, string(raw)
}

// fields makes a request whose answer is an object with texts.
func (b *browser) fields(path, contentType string, body []byte) map[string]any {
	b.t.Helper()
	resp, text := b.send(http.MethodPost, path, "", contentType, body)
	var out map[string]any
	if err := json.Unmarshal([]byte(text), &out); err != nil || resp.StatusCode >= 300 {
		b.t.Fatalf("%s: got %s %s; want no error and StatusCode below 300", path, resp.Status, text)
	}
	return out
}

const (
	formType = "application/x-www-form-urlencoded"
	jsonType = "application/json"
	verifier = "0123456789012345678901234567890123456789012345"
)

// signIn begins to sign a program in. It returns the address of the page that waits in the browser,
// and a function that exchanges the code for a token.
func (b *browser) signIn(name, scope string) (wait string, exchange func(code string) map[string]any) {
	b.t.Helper()
	const back = "http://127.0.0.1:9/back"
	registered := b.fields("/oauth/register", jsonType, []byte(fmt.Sprintf(`{"client_name":%q,"redirect_uris":[%q],"token_endpoint_auth_method":"none"}`, name, back)))
	id := fmt.Sprint(registered["client_id"])
	sum := sha256.Sum256([]byte(verifier))
	q := url.Values{
		"response_type": {"code"}, "client_id": {id}, "redirect_uri": {back}, "scope": {scope}, "state": {"s"},
		"code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}
	resp, text := b.send(http.MethodGet, "/oauth/authorize?"+q.Encode(), "", "", nil)
	wait = resp.Header.Get("Location")
	if resp.StatusCode != http.StatusFound || !strings.HasPrefix(wait, "/oauth/wait") {
		b.t.Fatalf(`authorize: got %s %s; want StatusCode StatusFound and a text that begins with "/oauth/wait"`, resp.Status, text)
	}
	return wait, func(code string) map[string]any {
		form := url.Values{"grant_type": {"authorization_code"}, "code": {code}, "client_id": {id}, "redirect_uri": {back}, "code_verifier": {verifier}}
		return b.fields("/oauth/token", formType, []byte(form.Encode()))
	}
}

// TestAppConnectsCallsAndIsRevoked signs a program in as its browser would, allows it less than
// it asks for, answers its call, and takes its access away on the page Connected apps.
func TestAppConnectsCallsAndIsRevoked(t *testing.T) {
	p := startProgram(newDesktop(t))
	c := p.gateway()
	p.clickText(mainWindow, "Start now")
	var machine protocol.NodeID
	p.waitFor("this computer", func() bool {
		r, err := client.Call(context.Background(), c, protocol.NodesList, protocol.Empty{})
		if err == nil && len(r.Nodes) > 0 && r.Nodes[0].Online {
			machine = r.Nodes[0].ID
		}
		return machine != ""
	})
	p.useDarkTheme(c)
	b := &browser{p, "http://" + p.addr}

	wait, exchange := b.signIn("Paper editor", "network.read fs.read fs.write shell.exec")
	const asks = "^Connect .*Paper editor"
	p.waitWindow(asks)
	p.waitTray("Connect “Paper editor”?")
	list, err := client.Call(t.Context(), c, protocol.QuestionList, protocol.Empty{})
	if err != nil || len(list.Questions) != 1 {
		t.Fatalf("got %+v, %v; want 1 question and no error", list, err)
	}
	if _, page := b.send(http.MethodGet, wait, "", "", nil); !strings.Contains(page, list.Questions[0].App.Code) {
		t.Errorf("the browser does not show the code %s: %s", list.Questions[0].App.Code, page)
	}
	p.waitText(asks, list.Questions[0].App.Code)
	p.click(p.waitText(asks, "Run commands"))
	p.screenshot("consent")
	code := ""
	p.waitFor("the consent", func() bool {
		if now, ok := p.windowNamed(asks); ok {
			if areas := p.colouredAreas(buttonRow(now)); len(areas) > 0 {
				p.click(areas[0].Min.Add(areas[0].Size().Div(2)))
			}
		}
		resp, _ := b.send(http.MethodGet, wait, "", "", nil)
		u, err := url.Parse(resp.Header.Get("Location"))
		if err == nil {
			code = u.Query().Get("code")
		}
		return code != ""
	})
	p.waitNoWindow(asks)
	out := exchange(code)
	if got := out["scope"]; got != "fs.read fs.write network.read" {
		t.Errorf(`it may %v, want "fs.read fs.write network.read"`, got)
	}
	token := fmt.Sprint(out["access_token"])

	// A call with an effect asks, and the dialog names the program.
	written := make(chan string, 1)
	go func() {
		body, _ := json.Marshal(map[string]any{"target": map[string]string{"node_id": string(machine)}, "path": p.workspace + "/made.txt", "encoding": "utf8", "chunk": "made", "done": true})
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, b.base+"/api/v1/tools/fs_write", bytes.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", jsonType)
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			written <- err.Error()
			return
		}
		defer resp.Body.Close()
		raw, _ := io.ReadAll(resp.Body)
		written <- resp.Status + " " + string(raw)
	}()
	p.waitText(question, "Paper editor")
	p.screenshot("question")
	p.clickAction("Allow once")
	if got := <-written; !strings.HasPrefix(got, "200") {
		t.Errorf(`the call: %s, want it to begin with "200"`, got)
	}
	p.waitNoWindow(question)

	// The page shows the program and its last call, and ends its access.
	p.activate(p.waitWindow(mainWindow))
	p.openPage("Connected apps")
	p.screenshot("apps")
	p.click(p.waitTextIn(mainWindow, "Paper editor", content))
	p.waitTextIn(mainWindow, "fs_write", content)
	p.screenshot("app")
	p.click(p.waitTextIn(mainWindow, "Revoke access", content))
	cancel := p.waitTextIn(mainWindow, "Cancel", content)
	p.screenshot("revoke")
	p.click(cancel.Sub(image.Pt(90, 0))) // Revoke, whose name is in the question, too
	p.waitFor("the end of the access", func() bool {
		resp, _ := b.send(http.MethodPost, "/api/v1/tools/whoami", token, jsonType, []byte("{}"))
		return resp.StatusCode == http.StatusUnauthorized
	})
	p.screenshot("revoked")
}

//go:build unix

package gateway_test

import (
	"bytes"
	"crypto/sha256"
	"crypto/tls"
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"fairlead/gateway/protocol"
)

// request makes a request without following redirects. Headers are pairs; Host is one of them.
func (p *programs) request(method, path, body string, headers ...string) (status int, answer string, head http.Header) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), method, p.base+path, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		if r.Header.Set(headers[i], headers[i+1]); headers[i] == "Host" {
			r.Host = headers[i+1]
		}
	}
	resp, err := http.DefaultTransport.RoundTrip(r)
	return readResponse(p.t, resp, err)
}

func TestWebPagesReachNoSurface(t *testing.T) {
	p := openPrograms(t)
	bearer := "Bearer " + p.token("A", protocol.AppScopes...)
	port := p.base[strings.LastIndex(p.base, ":"):]
	for path, method := range map[string]string{
		"/mcp": "POST", "/api/v1/tools": "GET", "/api/v1/tools/whoami": "POST", "/api/v1/openapi.json": "GET", "/api/": "GET", "/oauth/register": "POST", "/oauth/authorize": "GET",
		"/oauth/token": "POST", "/oauth/revoke": "POST", "/oauth/wait": "GET", "/oauth/client.json": "GET", "/.well-known/oauth-authorization-server": "GET", "/.well-known/oauth-protected-resource/mcp": "GET",
	} {
		if status, answer, _ := p.request(method, path, `{}`, "Authorization", bearer); status == http.StatusForbidden {
			t.Errorf("%s, a program: %d %s; want other than StatusForbidden", path, status, answer)
		}
		for name, headers := range map[string][]string{
			"a rebound name": {"Host", "attacker.example" + port}, "a similar name": {"Host", "127.0.0.1.attacker.example" + port}, "a foreign page": {"Origin", "https://attacker.example"}, "a page without an origin": {"Origin", "null"},
		} {
			status, answer, head := p.request(method, path, `{}`, append(headers, "Authorization", bearer)...)
			var refusal struct{ Error protocol.Fault }
			if err := json.Unmarshal([]byte(answer), &refusal); err != nil || refusal.Error.Code != protocol.FaultForbidden || refusal.Error.Message == "" {
				t.Errorf("%s, %s: got %s, want the envelope of an error with the code forbidden", path, name, answer)
			}
			if status != http.StatusForbidden || head.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf(`%s, %s: got %d %s; want status StatusForbidden and an empty Get of "Access-Control-Allow-Origin"`, path, name, status, answer)
			}
		}
	}
}

func TestAppsOnOtherMachinesMustBeAllowedByTheOwner(t *testing.T) {
	p := openPrograms(t)
	bearer := "Bearer " + p.token("A", protocol.AppScopes...)
	over := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}} // of a gateway that this program is not paired with
	t.Cleanup(over.CloseIdleConnections)
	addresses := p.list().Network.Addresses
	if len(addresses) == 0 {
		t.Fatal("the gateway has no address for other machines")
	}
	status := func(base string, transport http.RoundTripper) int {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), "GET", base+"/api/v1/openapi.json", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", bearer)
		resp, err := transport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		return resp.StatusCode
	}
	for _, c := range []struct {
		path, value   string
		here, outside int
	}{{"api.network", "false", 200, 404}, {"api.network", "true", 200, 200}, {"api.enabled", "false", 404, 404}} {
		ask(p.accessGateway, protocol.ConfigSet, protocol.ConfigSetParams{Path: c.path, Value: json.RawMessage(c.value)})
		if here, outside := status(p.base, http.DefaultTransport), status("https://"+addresses[0], over); here != c.here || outside != c.outside {
			t.Errorf("%s is %s: got %d here and %d outside, want %d and %d", c.path, c.value, here, outside, c.here, c.outside)
		}
	}
}

func TestAReverseProxyMayPassItsOwnName(t *testing.T) {
	p := openPrograms(t)
	call := func(host string) int {
		status, _, _ := p.request("POST", "/api/v1/tools/whoami", `{}`, "Authorization", "Bearer "+p.token(host, protocol.AppScopes...), "Host", host)
		return status
	}
	if status := call("tools.example"); status != http.StatusForbidden {
		t.Errorf("before the proxy is known: %d, want %d", status, http.StatusForbidden)
	}
	ask(p.accessGateway, protocol.ConfigSet, protocol.ConfigSetParams{Path: "api.publicUrl", Value: json.RawMessage(`"https://tools.example:8443/"`)})
	for host, want := range map[string]int{"tools.example": http.StatusOK, "tools.example:8443": http.StatusOK, "x.tools.example": http.StatusForbidden} {
		if status := call(host); status != want {
			t.Errorf("%s: %d, want %d", host, status, want)
		}
	}
}

func TestDeepBodiesAreRefused(t *testing.T) {
	p := openPrograms(t)
	bearer := "Bearer " + p.token("A", protocol.AppScopes...)
	_, _, head := p.send(strings.TrimPrefix(bearer, "Bearer "), openSession, nil)
	nested := func(n int) string { return strings.Repeat(`{"a":`, n) + `1` + strings.Repeat(`}`, n) }
	for name, args := range map[string]string{
		"objects": `{"target":` + nested(600_000) + `}`, "objects, few": `{"target":` + nested(9_000) + `}`, "lists": `{"path":` + strings.Repeat(`[`, 2<<20) + `}`, "batches": strings.Repeat(`{"op":"batch","ops":[`, 150_000),
	} {
		for path, body := range map[string]string{
			"/api/v1/tools/file": args, "/oauth/register": args, "/mcp": `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"file","arguments":` + args + `}}`,
		} {
			status, answer, _ := p.request("POST", path, body, "Authorization", bearer, "Content-Type", "application/json", "Accept", "application/json, text/event-stream",
				"Mcp-Session-Id", head.Get("Mcp-Session-Id"), "MCP-Protocol-Version", "2025-11-25")
			if status != http.StatusBadRequest {
				t.Errorf("%s, %s: got %d %.200s, want 400", name, path, status, answer)
			}
		}
	}
	if status, _, _ := p.request("POST", "/api/v1/tools/whoami", `{}`, "Authorization", bearer); status != http.StatusOK {
		t.Errorf("afterwards: got %d, want 200", status)
	}
}

// buffer is what the gateway logs. It is safe for concurrent use.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// signIn connects an app, and returns every secret of it.
func (p *programs) signIn() (secrets []string) {
	p.t.Helper()
	post := func(path string, form url.Values) (out map[string]any) {
		_, answer, _ := p.request("POST", path, form.Encode(), "Content-Type", "application/x-www-form-urlencoded")
		json.Unmarshal([]byte(answer), &out)
		return out
	}
	_, answer, _ := p.request("POST", "/oauth/register", `{"redirect_uris":["http://localhost/cb"]}`)
	var client struct {
		ID string `json:"client_id"`
	}
	if json.Unmarshal([]byte(answer), &client) != nil || client.ID == "" {
		p.t.Fatalf("got %s, want a client ID", answer)
	}
	verifier := strings.Repeat("secret-verifier-", 4)
	sum := sha256.Sum256([]byte(verifier))
	_, _, head := p.request("GET", "/oauth/authorize?"+url.Values{
		"response_type": {"code"}, "client_id": {client.ID}, "redirect_uri": {"http://localhost/cb"}, "code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])}, "code_challenge_method": {"S256"},
	}.Encode(), "")
	wait := head.Get("Location")
	consents := p.questions(protocol.AskApp)
	if len(consents) != 1 {
		p.t.Fatalf("%s, asked %+v; want length 1", wait, consents)
	}
	p.accessGateway.allow(consents[0])
	_, _, head = p.request("GET", wait, "")
	back, _ := url.Parse(head.Get("Location"))
	code := back.Query().Get("code")
	out := post("/oauth/token", url.Values{"grant_type": {"authorization_code"}, "code": {code}, "client_id": {client.ID}, "code_verifier": {verifier}})
	access, _ := out["access_token"].(string)
	refresh, _ := out["refresh_token"].(string)
	again := post("/oauth/token", url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refresh}, "client_id": {client.ID}})
	next, _ := again["refresh_token"].(string)
	post("/oauth/token", url.Values{"grant_type": {"refresh_token"}, "refresh_token": {refresh}, "client_id": {client.ID}}) // used twice
	_, id, _ := strings.Cut(wait, "id=")
	secrets = []string{verifier, code, access, refresh, next, id}
	for i, s := range secrets {
		if len(s) < 20 {
			p.t.Fatalf("secret %d is %q, want at least 20 characters", i, s)
		}
	}
	return secrets
}

func TestSecretsOfAppsAreNeitherLoggedNorStored(t *testing.T) {
	p := openPrograms(t)
	logged := new(buffer)
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(logged, &slog.HandlerOptions{Level: slog.LevelDebug})))
	defer slog.SetDefault(before)
	token, wrong := p.token("A", protocol.AppScopes...), "flt_this-token-was-never-made-by-anybody"
	p.call(p.connect(token, nil, false), "network_directory", map[string]any{})
	p.request("POST", "/api/v1/tools/fs_stat", `{"target":{"node_name":"box"},"path":"/none"}`, "Authorization", "Bearer "+token, "Idempotency-Key", "k")
	for _, bearer := range []string{"Bearer " + wrong, "Basic " + wrong, wrong} {
		p.request("GET", "/api/v1/tools", "", "Authorization", bearer)
	}
	for _, path := range []string{"/mcp?access_token=", "/api/v1/tools?access_token=", "/api/v1/tools?token="} {
		if status, answer, _ := p.request("GET", path+token, ""); status != http.StatusUnauthorized || strings.Contains(answer, token) {
			t.Errorf("%s: got %d %s; want status StatusUnauthorized and no %v", path, status, answer, token)
		}
	}
	secrets := append(p.signIn(), token, wrong)
	if !strings.Contains(logged.String(), "Call ended") {
		t.Error("nothing was logged")
	}
	for i, s := range secrets {
		if strings.Contains(logged.String(), s) {
			t.Errorf("secret %d is in the log", i)
		}
	}
	err := filepath.WalkDir(p.home, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		raw, err := os.ReadFile(path)
		for i, s := range secrets {
			if bytes.Contains(raw, []byte(s)) {
				t.Errorf("secret %d is in %s", i, path)
			}
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// A token that is limited to another machine reaches this one in no way, and raises no question.
func TestLimitedTokenReachesNoOtherMachine(t *testing.T) {
	p := openPrograms(t)
	p.startMachine("elsewhere", t.TempDir())
	made := ask(p.accessGateway, protocol.TokenCreate, protocol.TokenCreateParams{Name: "A", Scopes: protocol.AppScopes, Nodes: []protocol.NodeID{"elsewhere"}})
	target := map[string]any{"node_name": "box"}
	for _, legacy := range []bool{false, true} {
		s := p.connect(made.Token, nil, legacy)
		for name, args := range map[string]map[string]any{
			"fs_read": {"target": target, "path": "/etc/hosts"}, "command": start("echo x"), "net_dns": {"target": target}, "net_peers": {"target": target},
			"file": {"target": target, "op": "batch", "ops": []any{map[string]any{"op": "stat", "path": "/etc/hosts"}}},
		} {
			if got := p.call(s, name, args); !strings.Contains(got, `"target_not_found"`) {
				t.Errorf("%s: got %s; want `\"target_not_found\"` in it", name, got)
			}
		}
		for name, args := range map[string]map[string]any{
			"box__Bash": {"command": "echo x"}, "box__Read": {"path": "/etc/hosts"}, "gsv__LogsGet": {"nodeId": "box"}, "gsv__Transfer": {"source": "box:/etc/hosts", "destination": "gsv:hosts"},
			"gsv__SessionSend": {"sessionKey": "main", "message": "!id"}, "gsv__ReadFile": {"path": "SOUL.md"},
		} {
			if r, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: args}); err == nil {
				t.Errorf("%s: got %+v; want an error", name, r.Content[0])
			}
			raw, _ := json.Marshal(args)
			if status, answer, _ := p.request("POST", "/api/v1/tools/"+name, string(raw), "Authorization", "Bearer "+made.Token); status != http.StatusNotFound {
				t.Errorf("%s over REST: got %d %s, want 404", name, status, answer)
			}
		}
		for _, uri := range []string{"fairlead://box/file/etc/hosts", "fairlead://machines/box", "fairlead://journal", "fairlead://transfers"} {
			if r, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err == nil {
				t.Errorf("%s: got %+v; want an error", uri, r.Contents[0])
			}
		}
		for arg, value := range map[string]string{"machine": "b", "path": "/"} {
			r, err := s.Complete(t.Context(), &sdk.CompleteParams{
				Ref: &sdk.CompleteReference{Type: "ref/resource", URI: "fairlead://{machine}/file{+path}"}, Argument: sdk.CompleteParamsArgument{Name: arg, Value: value},
				Context: &sdk.CompleteContext{Arguments: map[string]string{"machine": "box"}},
			})
			if err != nil || len(r.Completion.Values) != 0 {
				t.Errorf("completion of a %s: got %+v, %v; want no values", arg, r, err)
			}
		}
		if got := p.call(s, "network_directory", map[string]any{}); strings.Contains(got, "box") {
			t.Errorf("it is listed: %s", got)
		}
	}
	if list := p.pending(); len(list) != 0 {
		t.Errorf("got questions %+v, want none", list)
	}
}

// However the address of a file is written, the rules see the path that it means.
func TestFileAddressesDoNotAvoidTheRules(t *testing.T) {
	p := openPrograms(t)
	s := p.connect(p.token("A", protocol.ScopeFilesRead), nil, false)
	for _, path := range []string{
		"/etc/passwd", "//etc/passwd", "/../../etc/passwd", "/tmp/../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2F..%2Fetc%2Fpasswd", "/etc/passwd%00.txt", "/./etc/./passwd", "/proc/self/root/etc/passwd",
	} {
		if r, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "fairlead://box/file" + path}); err == nil {
			t.Errorf("%s: got %.80s, want an error", path, r.Contents[0].Text)
		}
	}
	for _, uri := range []string{"file:///etc/passwd", "fairlead://box%2F..%2Fbox/file/etc/passwd", "fairlead://../file/etc/passwd", "fairlead:///file/etc/passwd", "fairlead://gsv/file/SOUL.md"} {
		if r, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err == nil {
			t.Errorf("%s: got %.80s, want an error", uri, r.Contents[0].Text)
		}
	}
}

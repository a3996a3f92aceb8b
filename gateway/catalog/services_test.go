package catalog

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"strings"
	"testing"

	"fairlead/gateway/auth"
	"fairlead/gateway/protocol"
	"fairlead/gateway/service"
	"fairlead/gateway/tool"
)

// serviceList are services that the gateway's tools have published.
type serviceList []protocol.Service

func (p serviceList) List() []protocol.Service { return p }

var wiki = protocol.Service{
	ID: "svc_1", NodeID: "nas", Name: "wiki-1", Title: "Wiki", Mode: protocol.ServiceProxy, Target: "http://127.0.0.1:3000/", Enabled: true, SignIn: true,
	Visitors: []string{"ann@example.com"}, URL: "http://wiki-1.localhost:8787",
}

// answerWith lets the gateway's tools return a service.
func (b *bench) answerWith(v protocol.Service) {
	b.answer = func(context.Context, tool.Call) (tool.Result, error) {
		return succeed(string(protocol.Encode(protocol.NativeResult{OK: true, Result: protocol.Encode(v)}))), nil
	}
}

func TestAnAppIsPublishedWithTheFieldsOfTheSpecification(t *testing.T) {
	b := newBench(t)
	b.answerWith(wiki)
	for args, want := range map[string]string{
		`{"node_id":"nas","proxy_target_url":"3000"}`: `{"machine":"nas","target":"http://127.0.0.1:3000/"}`,
		`{"network_name":"home","node_name":"nas","proxy_target_url":"bG9jYWxob3N0OjMwMDAvYQ==","proxy_target_encoding":"base64"}`: `{"machine":"nas","target":"http://localhost:3000/a"}`,
		`{"node_id":"nas","proxy_target_url":"3000","title":"W","enabled":false,"auth_required":false}`:                            `{"machine":"nas","target":"http://127.0.0.1:3000/","title":"W","enabled":false,"signIn":false}`,
		`{"node_id":"nas","proxy_target_url":"3000","auth_required":true,"authorized_emails":["*@company.com","ann@example.com"]}`: `{"machine":"nas","target":"http://127.0.0.1:3000/","signIn":true,"visitors":["*@company.com","ann@example.com"]}`,
	} {
		if got := b.must(me, "service_publish", args); got != `{"service_id":"svc_1","public_url":"http://wiki-1.localhost:8787","mode":"proxy"}` {
			t.Errorf("%s: got %s, want the service", args, got)
		}
		c := b.last()
		if string(c.Args) != want || c.Tool != "gsv__ServicePublish" || c.Direct {
			t.Errorf("%s: calls %s with %s (as the person's own act: %v), want gsv__ServicePublish with %s, about which the person is asked", args, c.Tool, c.Args, c.Direct, want)
		}
	}
}

func TestAWrongPublicationIsRefusedBeforeAnyQuestion(t *testing.T) {
	b := newBench(t)
	for args, want := range map[string]struct {
		code protocol.FaultCode
		text string
	}{
		`{"proxy_target_url":"3000"}`:                                                   {protocol.FaultInvalidArgs, "target is required"},
		`{"node_id":"none","proxy_target_url":"3000"}`:                                  {protocol.FaultTargetNotFound, "no machine fits"},
		`{"node_id":"old","proxy_target_url":"3000"}`:                                   {protocol.FaultTargetUnreachable, "offline"},
		`{"node_id":"nas","network_name":"other","proxy_target_url":"3000"}`:            {protocol.FaultTargetNotFound, "no network named"},
		`{"node_id":"nas","proxy_target_url":"3000","terminal_command":"bash"}`:         {protocol.FaultInvalidArgs, "proxy_target_url and terminal_command are mutually exclusive"},
		`{"node_id":"nas","proxy_target_url":"3000","username":"pi"}`:                   {protocol.FaultInvalidArgs, "terminal and shell services only"},
		`{"node_id":"nas","proxy_target_url":"3000","workdir":"/"}`:                     {protocol.FaultInvalidArgs, "terminal and shell services only"},
		`{"node_id":"nas","terminal_command":"a\nb"}`:                                   {protocol.FaultInvalidArgs, "terminal_command must be one line"},
		`{"node_id":"nas","workdir":"/\u0007"}`:                                         {protocol.FaultInvalidArgs, "workdir must be one line"},
		`{"node_id":"nas","proxy_target_url":"ftp://x"}`:                                {protocol.FaultInvalidArgs, "scheme"},
		`{"node_id":"nas","proxy_target_url":"3000","proxy_target_encoding":"hex"}`:     {protocol.FaultInvalidArgs, "can be utf8 or base64"},
		`{"node_id":"nas","proxy_target_url":"3000","title":"a\nb"}`:                    {protocol.FaultInvalidArgs, "title"},
		`{"node_id":"nas","proxy_target_url":"3000","authorized_emails":["everybody"]}`: {protocol.FaultInvalidArgs, "no email address"},
	} {
		b.checkFault(me, "service_publish", args, want.code, want.text)
	}
	if len(b.calls) > 0 {
		t.Errorf("got calls %v, want none", b.calls)
	}
	limited := auth.App(protocol.App{ID: "a", Name: "Editor", Scopes: protocol.AppScopes, Nodes: []protocol.NodeID{"nas"}})
	b.checkFault(limited, "service_publish", `{"node_id":"laptop","proxy_target_url":"3000"}`, protocol.FaultTargetNotFound, "no machine fits")
	b.checkFault(app("a", protocol.ScopeNetworkRead), "service_publish", `{"node_id":"nas","proxy_target_url":"3000"}`, protocol.FaultForbidden, "service.write")
}

func TestAPublishedAppIsChangedSharedAndDeleted(t *testing.T) {
	b := newBench(t)
	b.serviceList = serviceList{wiki}
	b.answerWith(wiki)
	for _, c := range []struct{ tool, args, calls, with, want string }{
		{
			"service_update", `{"service_id":"svc_1","title":"W","enabled":false,"auth_required":true,"proxy_target_url":":81"}`, "gsv__ServiceUpdate",
			`{"service":"svc_1","target":"http://127.0.0.1:81/","title":"W","enabled":false,"signIn":true}`,
			`{"service_id":"svc_1","public_url":"http://wiki-1.localhost:8787","mode":"proxy","title":"Wiki","enabled":true,"auth_required":true}`,
		},
		{
			"service_share", `{"service_id":"svc_1","action":"add","emails":["bob@example.com"]}`, "gsv__ServiceShare",
			`{"service":"svc_1","action":"add","visitors":["bob@example.com"]}`, `{"service_id":"svc_1","authorized_emails":["ann@example.com"]}`,
		},
		{
			"service_share", `{"service_id":"svc_1","action":"revoke"}`, "gsv__ServiceShare",
			`{"service":"svc_1","action":"revoke"}`, `{"service_id":"svc_1","authorized_emails":["ann@example.com"]}`,
		},
		{
			"service_delete", `{"service_id":"svc_1"}`, "gsv__ServiceDelete",
			`{"service":"svc_1"}`, `{"service_id":"svc_1","public_url":"http://wiki-1.localhost:8787","mode":"proxy"}`,
		},
	} {
		if got := b.must(me, c.tool, c.args); got != c.want {
			t.Errorf("%s: got %s, want %s", c.args, got, c.want)
		}
		if last := b.last(); string(last.Tool) != c.calls || string(last.Args) != c.with || last.Direct {
			t.Errorf("%s: calls %s with %s (as the person's own act: %v), want %s with %s, about which the person is asked", c.args, last.Tool, last.Args, last.Direct, c.calls, c.with)
		}
	}
	calls := len(b.calls)
	if got, want := b.must(me, "service_share", `{"service_id":"svc_1","action":"list"}`), `{"service_id":"svc_1","authorized_emails":["ann@example.com"]}`; got != want || len(b.calls) != calls {
		t.Errorf("list: got %s with %d calls, want %s without a call", got, len(b.calls)-calls, want)
	}
	for _, c := range []struct {
		tool, args string
		code       protocol.FaultCode
		text       string
	}{
		{"service_update", `{"service_id":"svc_2"}`, protocol.FaultNotFound, "no service svc_2"},
		{"service_delete", `{"service_id":"svc_2"}`, protocol.FaultNotFound, "no service svc_2"},
		{"service_share", `{"service_id":"svc_2","action":"list"}`, protocol.FaultNotFound, "no service svc_2"},
		{"service_update", `{"service_id":"svc_1","auth_required":false}`, protocol.FaultFailedPrecondition, "revoke first"},
		{"service_update", `{"service_id":"svc_1","terminal_command":"bash","proxy_target_url":"81"}`, protocol.FaultInvalidArgs, "proxy_target_url and terminal_command are mutually exclusive"},
		{"service_update", `{"service_id":"svc_1","username":"pi"}`, protocol.FaultInvalidArgs, "terminal and shell services only"},
		{"service_update", `{"service_id":"svc_1","terminal_command":"","workdir":"a\nb"}`, protocol.FaultInvalidArgs, "workdir must be one line"},
		{"service_update", `{"service_id":"svc_1","proxy_target_url":"0"}`, protocol.FaultInvalidArgs, "ports"},
		{"service_share", `{"service_id":"svc_1","action":"clear"}`, protocol.FaultInvalidArgs, "list, add, remove or revoke"},
		{"service_share", `{"service_id":"svc_1","action":"add"}`, protocol.FaultInvalidArgs, "needs emails"},
	} {
		b.checkFault(me, c.tool, c.args, c.code, c.text)
	}
	if len(b.calls) != calls {
		t.Errorf("refused calls made %d calls, want none", len(b.calls)-calls)
	}
}

var htop = protocol.Service{
	ID: "svc_2", NodeID: "nas", Name: "shell-1", Title: "Shell", Mode: protocol.ServiceTerminal, Terminal: &protocol.TerminalOpen{Command: "htop"}, Enabled: true, SignIn: true,
	Visitors: []string{}, URL: "http://shell-1.localhost:8787",
}

func TestTerminalsArePublishedAndChanged(t *testing.T) {
	b := newBench(t)
	b.serviceList = serviceList{wiki, htop}
	b.answerWith(htop)
	const answer = `{"service_id":"svc_2","public_url":"http://shell-1.localhost:8787","mode":"terminal"}`
	for args, want := range map[string]string{
		`{"node_id":"nas"}`: `{"machine":"nas","command":""}`,
		`{"node_id":"nas","terminal_command":"htop","username":"pi","workdir":"/srv"}`: `{"machine":"nas","command":"htop","username":"pi","workdir":"/srv"}`,
		`{"node_id":"nas","username":"pi","auth_required":false}`:                      `{"machine":"nas","command":"","username":"pi","signIn":false}`,
	} {
		if got := b.must(me, "service_publish", args); got != answer || string(b.last().Args) != want {
			t.Errorf("%s: got %s, calls with %s; want %s, %s", args, got, b.last().Args, answer, want)
		}
	}
	for args, want := range map[string]string{
		`{"service_id":"svc_1","terminal_command":""}`:                        `{"service":"svc_1","command":""}`,
		`{"service_id":"svc_1","terminal_command":"htop","username":"pi"}`:    `{"service":"svc_1","command":"htop","username":"pi"}`,
		`{"service_id":"svc_2","workdir":"/srv","title":"T"}`:                 `{"service":"svc_2","workdir":"/srv","title":"T"}`,
		`{"service_id":"svc_2","proxy_target_url":"81"}`:                      `{"service":"svc_2","target":"http://127.0.0.1:81/"}`,
		`{"service_id":"svc_2","auth_required":false,"terminal_command":"x"}`: `{"service":"svc_2","command":"x","signIn":false}`,
	} {
		got := b.must(me, "service_update", args)
		if !strings.Contains(got, `"mode":"terminal","title":"Shell","enabled":true,"auth_required":true`) || string(b.last().Args) != want {
			t.Errorf("%s: got %s, calls with %s; want %s", args, got, b.last().Args, want)
		}
	}
	got, err := b.call(me, "service_publish", `{"node_id":"nas","auth_required":false}`)
	if err != nil || !strings.HasSuffix(got.Message, "A terminal always needs a sign-in, whatever auth_required says") {
		t.Errorf("without a sign-in: got the message %q, %v; want it to say that there is one", got.Message, err)
	}
	if got := b.must(me, "network_directory", `{"node_name_glob":"nas"}`); !strings.Contains(got, `{"id":"svc_2","title":"Shell","url":"","public_url":"http://shell-1.localhost:8787","command":"htop"}`) {
		t.Errorf("the directory has %s, want the terminal with its command", got)
	}
}

func TestTheDirectoryListsPublishedApps(t *testing.T) {
	b := newBench(t)
	b.serviceList = serviceList{wiki}
	got := b.must(me, "network_directory", `{"node_name_glob":"nas"}`)
	var out directoryOut
	if err := json.Unmarshal([]byte(got), &out); err != nil {
		t.Fatal(err)
	}
	want := `"services":[{"id":"svc_1","title":"Wiki","url":"http://127.0.0.1:3000/","public_url":"http://wiki-1.localhost:8787","command":""}]`
	if !strings.Contains(got, want) {
		t.Errorf("got %s, want it to contain %s", got, want)
	}
}

func TestTheAnswerSaysWhichUnknownCertificateIsTrusted(t *testing.T) {
	b := newBench(t)
	b.serviceList = serviceList{wiki}
	b.answerWith(wiki)
	unknown := &service.UnknownCertificate{Leaf: &x509.Certificate{Raw: []byte("x"), DNSNames: []string{"router.lan"}}}
	b.probed = unknown
	for tool, args := range map[string]string{
		"service_publish": `{"node_id":"nas","proxy_target_url":"https://router.lan"}`, "service_update": `{"service_id":"svc_1","proxy_target_url":"https://router.lan"}`,
	} {
		r, err := b.call(me, tool, args)
		if err != nil || !strings.Contains(r.Message, unknown.Error()) {
			t.Errorf("%s: answers %q, %v; want what the certificate says", tool, r.Message, err)
		}
		if got := string(b.last().Args); !strings.Contains(got, `"certificate":"`+unknown.Fingerprint()+`"`) {
			t.Errorf("%s: calls with %s, want the fingerprint", tool, got)
		}
	}
}

package native

import (
	"context"
	"crypto/x509"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/gateway/event"
	"fairlead/gateway/protocol"
	"fairlead/gateway/service"
	"fairlead/gateway/store"
	"fairlead/gateway/tool"
)

func openServices(t *testing.T) (serviceTools, protocol.Service) {
	t.Helper()
	db, err := store.Open(t.Context(), filepath.Join(t.TempDir(), "gateway.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	s, err := service.Open(t.Context(), db.Services, new(event.Bus), func(v protocol.Service) []protocol.ServiceAddress {
		return []protocol.ServiceAddress{{URL: "http://" + v.Name + ".localhost"}}
	})
	if err != nil {
		t.Fatal(err)
	}
	tools := serviceTools{published: s, probe: func(context.Context, protocol.NodeID, service.Target) error { return nil }, node: func(id protocol.NodeID) (protocol.NodeInfo, bool) {
		return protocol.NodeInfo{ID: id, Name: map[protocol.NodeID]string{"nas": "The big one"}[id]}, id != "gone"
	}}
	v, err := tools.publish(t.Context(), tool.Call{}, PublishIn{Machine: "nas", Target: "3000", Title: "Wiki", Visitors: []string{"ann@example.com"}})
	if err != nil {
		t.Fatal(err)
	}
	return tools, v
}

func TestQuestionsAboutServicesSayWhoCanReachWhat(t *testing.T) {
	s, v := openServices(t)
	yes, no, other := true, false, "localhost:81"
	ctx := context.WithoutCancel(t.Context())
	preview := func(p protocol.CallPreview, _ error) string { return p.Publishes + p.Problem }
	for want, got := range map[string]string{
		"Makes http://127.0.0.1:3000/ of The big one reachable at an address of this gateway for you alone":                                                           preview(s.previewPublish(ctx, tool.Call{}, PublishIn{Machine: "nas", Target: "3000"})),
		"Makes http://127.0.0.1:3000/ of pi reachable at an address of this gateway for you and *@company.com":                                                        preview(s.previewPublish(ctx, tool.Call{}, PublishIn{Machine: "pi", Target: "3000", SignIn: &no, Visitors: []string{"*@company.com"}})),
		"Makes http://127.0.0.1:3000/ of pi reachable at an address of this gateway for EVERYONE who can reach this gateway, without a sign-in, once it is turned on": preview(s.previewPublish(ctx, tool.Call{}, PublishIn{Machine: "pi", Target: "3000", SignIn: &no, Enabled: &no})),
		"Makes http://localhost:81/ of The big one reachable at " + v.URL + " for you and ann@example.com":                                                            preview(s.previewUpdate(ctx, tool.Call{}, UpdateIn{Service: v.ID, Target: &other, Enabled: &yes})),
		"the service has a list of visitors, who sign in: clear it with service_share and the action revoke first":                                                    preview(s.previewUpdate(ctx, tool.Call{}, UpdateIn{Service: v.ID, SignIn: &no})),
		"Turns off Wiki at " + v.URL:                                         preview(s.previewUpdate(ctx, tool.Call{}, UpdateIn{Service: v.ID, Enabled: &no})),
		"Lets bob@example.com, *@x.example visit Wiki at " + v.URL:           preview(s.previewShare(ctx, tool.Call{}, ShareIn{Service: v.ID, Action: service.ShareAdd, Visitors: []string{"bob@example.com", "*@x.example"}})),
		"Keeps ann@example.com out of Wiki at " + v.URL:                      preview(s.previewShare(ctx, tool.Call{}, ShareIn{Service: v.ID, Action: service.ShareRemove, Visitors: []string{"ann@example.com"}})),
		"Keeps everyone but you out of Wiki at " + v.URL:                     preview(s.previewShare(ctx, tool.Call{}, ShareIn{Service: v.ID, Action: service.ShareRevoke})),
		"Deletes Wiki with its address " + v.URL:                             preview(s.previewDelete(ctx, tool.Call{}, DeleteIn{Service: v.ID})),
		"the target is empty: give an address such as http://127.0.0.1:3000": preview(s.previewPublish(ctx, tool.Call{}, PublishIn{Machine: "nas"})),
		`there is no machine "gone"`:                                         preview(s.previewPublish(ctx, tool.Call{}, PublishIn{Machine: "gone", Target: "3000"})),
		"there is no service svc_2":                                          preview(s.previewDelete(ctx, tool.Call{}, DeleteIn{Service: "svc_2"})),
	} {
		if !strings.HasSuffix(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestQuestionsAboutTerminalsSayWhatRunsWhereAndAsWhom(t *testing.T) {
	s, v := openServices(t)
	no, shell, htop, pi, other := false, "", "htop", "pi", "localhost:81"
	ctx := context.WithoutCancel(t.Context())
	preview := func(p protocol.CallPreview, _ error) string { return p.Publishes + p.Problem }
	for want, got := range map[string]string{
		"Lets you alone type into a terminal with the user's shell on The big one at an address of this gateway, always after a sign-in": preview(s.previewPublish(ctx, tool.Call{}, PublishIn{Machine: "nas", Command: &shell, SignIn: &no})),
		`Lets you and *@company.com type into a terminal with "htop" as pi in /srv on The big one at an address of this gateway, always after a sign-in, once it is turned on`: preview(
			s.previewPublish(ctx, tool.Call{}, PublishIn{Machine: "nas", Command: &htop, Username: "pi", Workdir: "/srv", Visitors: []string{"*@company.com"}, Enabled: &no})),
		`Lets you and ann@example.com type into a terminal with "htop" as pi on The big one at ` + v.URL + ", always after a sign-in": preview(s.previewUpdate(ctx, tool.Call{}, UpdateIn{Service: v.ID, Command: &htop, Username: &pi, SignIn: &no})),
		"proxy_target_url and terminal_command are mutually exclusive":                                                                preview(s.previewPublish(ctx, tool.Call{}, PublishIn{Machine: "nas", Command: &htop, Target: "3000"})),
		"username and workdir are for terminal and shell services only":                                                               preview(s.previewUpdate(ctx, tool.Call{}, UpdateIn{Service: v.ID, Target: &other, Username: &pi})),
	} {
		if !strings.HasSuffix(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	got, err := s.publish(ctx, tool.Call{}, PublishIn{Machine: "nas", Command: &htop, SignIn: &no})
	if err != nil || got.Mode != protocol.ServiceTerminal || got.Terminal == nil || got.Terminal.Command != "htop" || !got.SignIn || got.Title != "nas terminal" {
		t.Errorf("got %+v, %v; want a terminal with a sign-in", got, err)
	}
}

func TestTheAgentChangesServicesWithItsTools(t *testing.T) {
	s, v := openServices(t)
	if got, err := s.publish(t.Context(), tool.Call{}, PublishIn{Machine: "gone", Target: "3000"}); err == nil {
		t.Errorf("an app of no machine: got %+v, want an error", got)
	}
	title, off := "Notes", false
	if got, err := s.update(t.Context(), tool.Call{}, UpdateIn{Service: v.ID, Title: &title, Enabled: &off}); err != nil || got.Title != "Notes" || got.Enabled {
		t.Errorf("got %+v, %v; want the title changed and the service off", got, err)
	}
	if got, err := s.share(t.Context(), tool.Call{}, ShareIn{Service: v.ID, Action: service.ShareRevoke}); err != nil || len(got.Visitors) > 0 {
		t.Errorf("got %+v, %v; want no visitors", got, err)
	}
	if _, err := s.delete(t.Context(), tool.Call{}, DeleteIn{Service: v.ID}); err != nil {
		t.Error(err)
	}
	if list := s.published.List(); len(list) > 0 {
		t.Errorf("got %+v, want no services", list)
	}
}

func TestTheQuestionSaysWhichUnknownCertificateAYesTrusts(t *testing.T) {
	s, v := openServices(t)
	unknown := &service.UnknownCertificate{Leaf: &x509.Certificate{Raw: []byte("x"), DNSNames: []string{"router.lan"}}}
	s.probe = func(context.Context, protocol.NodeID, service.Target) error { return unknown }
	print, other := unknown.Fingerprint(), "00"
	for _, c := range []struct {
		certificate *string
		publishes   bool
	}{{&print, true}, {&other, false}, {nil, false}} {
		in, target := PublishIn{Machine: "nas", Target: "https://router.lan"}, "https://router.lan"
		if c.certificate != nil {
			in.Certificate = *c.certificate
		}
		published, _ := s.previewPublish(t.Context(), tool.Call{}, in)
		changed, _ := s.previewUpdate(t.Context(), tool.Call{}, UpdateIn{Service: v.ID, Target: &target, Certificate: c.certificate})
		for _, p := range []protocol.CallPreview{published, changed} {
			if text := p.Publishes + p.Problem; !strings.Contains(text, unknown.Error()) || (p.Problem == "") != c.publishes {
				t.Errorf("with the fingerprint %v: got %+v, want what the certificate says, and a problem without its own fingerprint", c.certificate, p)
			}
		}
	}
	s.probe = func(context.Context, protocol.NodeID, service.Target) error { return nil }
	if _, err := s.published.Update(t.Context(), v.ID, service.Change{Certificate: &print}, "owner"); err != nil {
		t.Fatal(err)
	}
	none := ""
	if p, _ := s.previewUpdate(t.Context(), tool.Call{}, UpdateIn{Service: v.ID, Certificate: &none}); !strings.Contains(p.Publishes, "instead of the one that you trusted") || p.Problem != "" {
		t.Errorf("a valid certificate in place of the trusted one: got %+v, want that a yes ends that trust", p)
	}
}

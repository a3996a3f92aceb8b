package gateway_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

// tool starts a call of one of the tools for programs, as the owner does on a command line.
func (f *forwarding) tool(name, args string) (result func() protocol.CatalogCallResult) {
	f.t.Helper()
	out := make(chan protocol.CatalogCallResult, 1)
	go func() {
		r, err := client.Call(context.WithoutCancel(f.t.Context()), f.owner, protocol.CatalogCall, protocol.CatalogCallParams{Tool: name, Args: json.RawMessage(args)})
		if err != nil {
			r.Fault = protocol.NewFault(protocol.FaultInternal, err.Error())
		}
		out <- r
	}()
	return func() protocol.CatalogCallResult { return <-out }
}

// decide answers the question about a call, and returns it.
func (f *forwarding) decide(decision string) protocol.Question {
	f.t.Helper()
	q := f.request(protocol.AskCall)
	f.answer(answerTo(q, decision))
	return q
}

// visit returns a browser that finds the names of the gateway's services.
func (f *forwarding) visit() *http.Client {
	gw, _ := url.Parse(f.gw.URL())
	jar, _ := cookiejar.New(nil)
	return &http.Client{Jar: jar, Transport: &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, gw.Host)
	}}}
}

func get(t *testing.T, b *http.Client, address string) (int, string) {
	t.Helper()
	r, err := b.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	data, _ := io.ReadAll(r.Body)
	return r.StatusCode, string(data)
}

func TestAPublishedAppIsReachedThroughItsMachine(t *testing.T) {
	f := newForwarding(t)
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "the app at ", r.URL.Path) }))
	t.Cleanup(app.Close)
	publish := fmt.Sprintf(`{"node_id":"laptop","proxy_target_url":%q,"title":"Wiki"}`, strings.TrimPrefix(app.URL, "http://"))

	refused := f.tool("service_publish", publish)
	if q := f.decide(protocol.DecisionDeny); !q.Floor || !strings.Contains(q.Why, "Makes "+app.URL+"/ of ") || !strings.HasSuffix(q.Why, "for you alone") {
		t.Errorf("the question says %q (always asked: %v), want the target and who can reach it, always asked", q.Why, q.Floor)
	}
	if r := refused(); r.Fault == nil || r.Fault.Code != protocol.FaultPermissionDenied {
		t.Errorf("got %s, %v; want permission_denied", r.Data, r.Fault)
	}
	publishes := f.tool("service_publish", publish)
	f.decide(protocol.DecisionAllow)
	r := publishes()
	var service struct {
		ID  protocol.ServiceID `json:"service_id"`
		URL string             `json:"public_url"`
	}
	if err := json.Unmarshal(r.Data, &service); err != nil || r.Fault != nil {
		t.Fatalf("got %s, %v; want the service", r.Data, r.Fault)
	}

	b := f.visit()
	if status, text := get(t, b, service.URL); status != http.StatusUnauthorized {
		t.Errorf("without a link: got %d %s, want 401", status, text)
	}
	if status, text := get(t, b, "http://localhost/.fairlead/callback?state=guessed"); status != http.StatusBadRequest || !strings.Contains(text, "sign in again") {
		t.Errorf("a guessed way back from a provider: got %d %s, want 400 and what to do", status, text)
	}
	link, err := client.Call(t.Context(), f.owner, protocol.ServiceLink, protocol.ServiceLinkParams{ID: service.ID})
	if err != nil {
		t.Fatal(err)
	}
	u, _ := url.Parse(link.URL)
	entered, err := b.PostForm(link.URL, u.Query())
	if err != nil {
		t.Fatal(err)
	}
	entered.Body.Close()
	if status, text := get(t, b, service.URL+"/page"); text != "the app at /page" {
		t.Errorf("got %d %s, want the app", status, text)
	}
	f.stop()
	f.until("the machine is offline", func() bool { return !f.info("laptop").Online })
	if status, text := get(t, b, service.URL); status != http.StatusServiceUnavailable {
		t.Errorf("while the machine is offline: got %d %s, want 503", status, text)
	}
	f.start(nil)
	if status, text := get(t, b, service.URL+"/again"); text != "the app at /again" {
		t.Errorf("after the machine came back: got %d %s, want the app", status, text)
	}

	opens := f.tool("service_update", fmt.Sprintf(`{"service_id":%q,"auth_required":false}`, service.ID))
	if q := f.decide(protocol.DecisionAllow); !strings.Contains(q.Why, "EVERYONE") || !strings.Contains(q.Why, service.URL) {
		t.Errorf("the question says %q, want the address, and that everyone can reach it", q.Why)
	}
	if r := opens(); r.Fault != nil {
		t.Fatal(r.Fault)
	}
	if status, text := get(t, f.visit(), service.URL+"/open"); text != "the app at /open" {
		t.Errorf("without a sign-in: got %d %s, want the app", status, text)
	}
	deletes := f.tool("service_delete", fmt.Sprintf(`{"service_id":%q}`, service.ID))
	f.decide(protocol.DecisionAllow)
	if r := deletes(); r.Fault != nil {
		t.Fatal(r.Fault)
	}
	if status, text := get(t, b, service.URL); status != http.StatusNotFound {
		t.Errorf("after it was deleted: got %d %s, want 404", status, text)
	}
}

// TestAServiceLeadsNowhereItsMachineDoesNotAllow publishes an address outside the machine's list.
func TestAServiceLeadsNowhereItsMachineDoesNotAllow(t *testing.T) {
	f := newForwarding(t)
	for _, target := range []string{"http://169.254.169.254/latest/meta-data/", "http://192.0.2.7/"} {
		publishes := f.tool("service_publish", fmt.Sprintf(`{"node_id":"laptop","proxy_target_url":%q,"auth_required":false}`, target))
		f.decide(protocol.DecisionAllow)
		r := publishes()
		var service struct {
			URL string `json:"public_url"`
		}
		if err := json.Unmarshal(r.Data, &service); err != nil || r.Fault != nil {
			t.Fatalf("got %s, %v; want the service", r.Data, r.Fault)
		}
		if status, text := get(t, f.visit(), service.URL+"/x"); status != http.StatusBadGateway || !strings.Contains(text, "does not allow") {
			t.Errorf("%s: got %d %s, want 502 and that the machine does not allow it", target, status, text)
		}
	}
}

// TestServicesAreListedWhileTheirCertificateIsMissing asks for services whose certificates the
// authority does not issue: whether it does depends on the services themselves.
func TestServicesAreListedWhileTheirCertificateIsMissing(t *testing.T) {
	f := newForwarding(t)
	listen := freeAddress(t)
	for path, value := range map[string]any{
		"services.acme.directory": "https://" + freeAddress(t) + "/dir", "services.domain": "apps.example.com", "services.listen": listen,
	} {
		ask(f.accessGateway, protocol.ConfigSet, protocol.ConfigSetParams{Path: path, Value: protocol.Encode(value)})
	}
	publishes := f.tool("service_publish", `{"node_id":"laptop","proxy_target_url":"3000","title":"Wiki"}`)
	f.decide(protocol.DecisionAllow)
	if r := publishes(); r.Fault != nil {
		t.Fatal(r.Fault)
	}
	list := func() protocol.Service {
		return ask(f.accessGateway, protocol.ServicesList, protocol.Empty{}).Services[0]
	}
	if _, err := tls.Dial("tcp", listen, &tls.Config{ServerName: list().Name + ".apps.example.com", InsecureSkipVerify: true}); err == nil {
		t.Fatal("got a certificate, want none")
	}
	if got := list().Addresses[0]; !strings.Contains(got.Problem, "no certificate for ") {
		t.Errorf("got the address %+v, want that it has no certificate", got)
	}
}

// freeAddress returns an address of this computer at which nobody listens.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// TestALimitedTokenPublishesOnItsMachinesAlone publishes with a token for one of two machines.
func TestALimitedTokenPublishesOnItsMachinesAlone(t *testing.T) {
	p := openPrograms(t)
	p.startMachine("elsewhere", t.TempDir())
	scopes := []protocol.Scope{protocol.ScopeService, protocol.ScopeNetworkRead}
	limited := ask(p.accessGateway, protocol.TokenCreate, protocol.TokenCreateParams{Name: "A", Scopes: scopes, Nodes: []protocol.NodeID{"elsewhere"}}).Token
	call := func(token, tool, args string) string {
		_, answer, _ := p.request("POST", "/api/v1/tools/"+tool, args, "Authorization", "Bearer "+token)
		return answer
	}
	allowed := func(token, tool, args string) (id string) {
		t.Helper()
		done := make(chan string, 1)
		go func() { done <- call(token, tool, args) }()
		p.accessGateway.allow(p.accessGateway.request(protocol.AskCall))
		answer := <-done
		found := regexp.MustCompile(`svc_[a-z0-9]+`).FindString(answer)
		if found == "" {
			t.Fatalf("%s %s: got %s, want the service", tool, args, answer)
		}
		return found
	}
	own := allowed(limited, "service_publish", `{"node_id":"elsewhere","proxy_target_url":"3000"}`)
	allowed(limited, "service_update", `{"service_id":"`+own+`","title":"Mine"}`)
	other := allowed(p.token("B", scopes...), "service_publish", `{"node_id":"box","proxy_target_url":"3000"}`)
	for _, c := range []struct{ tool, args, want string }{
		{"service_publish", `{"node_id":"box","proxy_target_url":"3000"}`, "target_not_found"},
		{"service_update", `{"service_id":"` + other + `","auth_required":false}`, "not_found"},
		{"service_share", `{"service_id":"` + other + `","action":"list"}`, "not_found"},
		{"service_delete", `{"service_id":"` + other + `"}`, "not_found"},
		{"gsv__ServicePublish", `{"machine":"box","target":"3000"}`, "not_found"},
		{"gsv__ServicePublish", `{"machine":"box","service":"` + own + `","target":"3000"}`, "not_found"},
		{"gsv__ServiceUpdate", `{"service":"` + other + `","machine":"elsewhere","title":"Mine"}`, "not_found"},
		{"gsv__ServiceDelete", `{"service":"` + other + `"}`, "not_found"},
		{"gsv__ServiceList", `{}`, "not_found"},
	} {
		if got := call(limited, c.tool, c.args); !strings.Contains(got, `"`+c.want+`"`) {
			t.Errorf("%s %s: got %s, want %s", c.tool, c.args, got, c.want)
		}
	}
	allowed(limited, "service_delete", `{"service_id":"`+own+`"}`)
	if list := p.pending(); len(list) > 0 {
		t.Errorf("got questions %+v, want no more", list)
	}
}

// TestAVisitorAsksTheOwnerForAccess also lists the visitor, and signs them out in the middle of an
// answer of the app.
func TestAVisitorAsksTheOwnerForAccess(t *testing.T) {
	f := newForwarding(t)
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "the app")
		if r.URL.Path == "/endless" {
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}
	}))
	t.Cleanup(app.Close)
	publishes := f.tool("service_publish", fmt.Sprintf(`{"node_id":"laptop","proxy_target_url":%q,"title":"Wiki"}`, app.URL))
	f.decide(protocol.DecisionAllow)
	var service struct {
		ID  protocol.ServiceID `json:"service_id"`
		URL string             `json:"public_url"`
	}
	if r := publishes(); json.Unmarshal(r.Data, &service) != nil || r.Fault != nil {
		t.Fatalf("got %s, %v; want the service", r.Data, r.Fault)
	}
	b := f.visit()
	asked, err := b.PostForm(service.URL+"/.fairlead/ask", url.Values{"email": {"ann@example.com"}})
	if err != nil {
		t.Fatal(err)
	}
	asked.Body.Close()
	q := f.request(protocol.AskVisit)
	if q.Visit.Email != "ann@example.com" || q.Visit.Title != "Wiki" || q.Visit.From != "127.0.0.1" {
		t.Errorf("got a question about %+v, want who asks, for what, and from where", q.Visit)
	}
	answer := answerTo(q, protocol.DecisionAllow)
	answer.For = protocol.VisitDay
	f.answer(answer)
	if status, text := get(t, b, service.URL); text != "the app" {
		t.Errorf("after the answer: got %d %s, want the app", status, text)
	}
	stream, err := b.Get(service.URL + "/endless")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Body.Close()
	visits, err := client.Call(t.Context(), f.owner, protocol.ServiceVisits, protocol.ServiceParams{ID: service.ID})
	if err != nil || len(visits.Visitors) != 1 || visits.Visitors[0].Email != "ann@example.com" || !visits.Visitors[0].IsClaimed {
		t.Fatalf("got %+v, %v; want the visitor, whose address nobody has checked", visits, err)
	}
	list, err := client.Call(t.Context(), f.owner, protocol.ServicesList, protocol.Empty{})
	if use := list.Use[service.ID]; err != nil || use.Visitors != 1 || use.RequestsToday != 2 || use.LastUsedAt == 0 {
		t.Errorf("got the use %+v, %v; want one visitor and two requests", use, err)
	}
	if _, err := client.Call(t.Context(), f.owner, protocol.ServiceSignOut, protocol.ServiceSignOutParams{ID: service.ID, Visitor: visits.Visitors[0].ID}); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if _, err := io.ReadAll(stream.Body); err == nil || time.Since(began) > 2*time.Second {
		t.Errorf("the stream ended after %s with %v, want it cut within two seconds", time.Since(began), err)
	}
	if status, text := get(t, b, service.URL); status != http.StatusUnauthorized {
		t.Errorf("after the sign-out: got %d %s, want 401", status, text)
	}
}

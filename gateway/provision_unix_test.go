//go:build unix

package gateway_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairlead/gateway/peer/pake"
	"fairlead/gateway/protocol"
	"fairlead/node"
)

// localProvider creates machines as files of the folder in which it is.
const localProvider = `#!/bin/sh
request=$(cat)
field() { printf %s "$request" | sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }
machine="$(dirname "$0")/made/$(field task_id)"
case "$(field action)" in
describe) echo '{"done":true,"cost":"1 cent an hour"}' ;;
create)
	mkdir -p "${machine%/*}"
	echo '{"progress":"Starting it"}'
	printf %s "$request" >"$machine.new"
	mv "$machine.new" "$machine"
	echo '{"done":true,"reference":"ref-1"}' ;;
delete) rm -f "$machine"; echo '{"done":true}' ;;
*) echo '{"done":true,"state":"absent"}' ;;
esac
`

func TestProvisionNodeRentsAMachineAndDeprovisionNodeGivesItBack(t *testing.T) {
	p := openPrograms(t)
	serveNodeProgram(t, nodeProgram)
	providers := filepath.Join(p.home, "providers")
	if err := os.Mkdir(providers, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(providers, "local"), []byte(localProvider), 0o700); err != nil {
		t.Fatal(err)
	}
	token := p.token("Editor", protocol.ScopeProvision, protocol.ScopeNetworkRead)
	call := func(tool, args, question string) string {
		t.Helper()
		answer := make(chan string, 1)
		go func() {
			_, text, _ := p.request("POST", "/api/v1/tools/"+tool, args, "Authorization", "Bearer "+token)
			answer <- text
		}()
		q := p.accessGateway.request(protocol.AskCall)
		if q.Preview == nil || q.Preview.Rents != question {
			t.Errorf("the owner is asked %+v, want %s", q.Preview, question)
		}
		p.accessGateway.allow(q)
		return <-answer
	}
	got := call("provision_node", `{"node_name":"web-1","provider":"local","cpu":2048,"memory":4096}`, "Rents the machine web-1 from local: 2 vCPU, 4 GiB RAM, 1 cent an hour")
	list := ask(p.accessGateway, protocol.ProvisionList, protocol.Empty{}).Tasks
	if len(list) != 1 {
		t.Fatalf("got %s, tasks %+v, want one", got, list)
	}
	task := string(list[0].ID)
	want := `"data":{"task_id":"` + task + `","provider":"local","resource_summary":"2 vCPU, 4 GiB RAM","notes":["Cost: 1 cent an hour.","Node will appear in network_directory once online."]}`
	if !strings.Contains(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
	made := filepath.Join(providers, "made", task)
	request, err := os.ReadFile(made)
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(request), "FAIRLEAD_PAIR='")
	text, _, _ = strings.Cut(text, "'")
	link, err := pake.ParseLink(strings.ReplaceAll(text, `\u0026`, "&"))
	if err != nil {
		t.Fatalf("%v in %s", err, request)
	}
	m := newMachine(t, "web-1")
	joining := p.nodeDevice(m, node.Confinement{})
	joining.Link = &link
	paired := <-pair(t, link.Addresses, joining)
	if paired.err != nil {
		t.Fatal(paired.err)
	}
	peer, err := m.peers.Put(paired.done)
	if err != nil {
		t.Fatal(err)
	}
	stop, ended := p.node(m, peer.ID(), node.Confinement{})
	defer func() { stop(); <-ended }()
	state := func() string {
		for _, t := range ask(p.accessGateway, protocol.ProvisionList, protocol.Empty{}).Tasks {
			return t.State
		}
		return ""
	}
	p.until("the machine runs", func() bool { return state() == protocol.TaskRunning })
	if _, text, _ := p.request("POST", "/api/v1/tools/network_directory", `{}`, "Authorization", "Bearer "+token); !strings.Contains(text, `"task_id":"`+task+`"`) {
		t.Errorf("network_directory: got %s, want the task", text)
	}
	got = call("deprovision_node", `{"task_id":"`+task+`"}`, "Deletes the rented machine web-1 (local ref-1) with all its data")
	want = `"data":{"task_id":"` + task + `","reference":"ref-1","provider":"local","notes":["The task ran for `
	if _, err := os.Stat(made); !strings.Contains(got, want) || err == nil || state() != "" {
		t.Errorf("got %s, machine left: %v, task left: %q, want %s and nothing left", got, err == nil, state(), want)
	}
}

func TestProvisioningIsForThoseWithTheRightOnly(t *testing.T) {
	p := openPrograms(t)
	for _, c := range []struct{ tool, args string }{{"provision_node", `{"node_name":"a"}`}, {"deprovision_node", `{"task_id":"x"}`}} {
		token := p.token("Editor", protocol.ScopeNetworkRead)
		_, text, _ := p.request("POST", "/api/v1/tools/"+c.tool, c.args, "Authorization", "Bearer "+token)
		if !strings.Contains(text, `"code":"forbidden","message":"Node provisioning requires special account permissions"`) || !strings.Contains(text, `"required_permission":"provisioning.write"`) {
			t.Errorf("%s: got %s, want forbidden with the permission", c.tool, text)
		}
		if _, list, _ := p.request("GET", "/api/v1/tools", "", "Authorization", "Bearer "+token); strings.Contains(list, c.tool) {
			t.Errorf("%s is listed for an app without the right", c.tool)
		}
	}
	token := p.token("Editor", protocol.ScopeProvision)
	for _, c := range []struct{ tool, args, want string }{
		{"provision_node", `{"node_name":"a","cpu":0}`, "invalid_args"},
		{"provision_node", `{"node_name":"a","cpu":128}`, "invalid_args"},
		{"provision_node", `{"node_name":"a","memory":20000}`, "invalid_args"},
		{"provision_node", `{"node_name":"a"}`, "invalid_args"}, // no provider aws here
		{"provision_node", `{}`, "invalid_args"},
		{"provision_node", `{"node_name":"box"}`, "already_exists"},
		{"provision_node", `{"node_name":"a","network_name":"none"}`, "not_found"},
		{"deprovision_node", `{"task_id":"none"}`, "not_found"},
	} {
		if _, text, _ := p.request("POST", "/api/v1/tools/"+c.tool, c.args, "Authorization", "Bearer "+token); !strings.Contains(text, `"`+c.want+`"`) {
			t.Errorf("%s %s: got %s, want %s", c.tool, c.args, text, c.want)
		}
	}
}

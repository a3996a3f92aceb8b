package gateway_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"fairlead/gateway/protocol"
)

// aimAt returns arguments of a tool that name a machine or a service wherever the schema has a field
// for one, and something valid in each other field that is required.
func aimAt(t *testing.T, s *jsonschema.Schema, texts map[string]string) map[string]any {
	t.Helper()
	args := make(map[string]any)
	for name, p := range s.Properties {
		required := false
		for _, r := range s.Required {
			required = required || r == name
		}
		switch text, aims := texts[name]; {
		case aims:
			args[name] = text
		case p.Properties["node_id"] != nil:
			args[name] = aimAt(t, p, texts)
		case !required:
		case len(p.Enum) > 0:
			args[name] = p.Enum[0]
		case p.Type == "string":
			args[name] = "/x"
		case p.Type == "boolean":
			args[name] = true
		case p.Type == "object":
			args[name] = map[string]any{}
		case p.Type == "array":
			args[name] = []any{}
		default:
			args[name] = 1
		}
	}
	return args
}

// TestATokenLimitedToANetworkReachesNoOther aims each tool that the owner has at a machine in another
// network, by its ID and by its name: no answer says anything about it, and nobody is asked.
func TestATokenLimitedToANetworkReachesNoOther(t *testing.T) {
	p := openPrograms(t)
	p.startMachine("elsewhere", t.TempDir())
	lab := ask(p.accessGateway, protocol.NetworkCreate, protocol.NetworkCreateParams{Name: "lab"})
	ask(p.accessGateway, protocol.NetworkMove, protocol.NetworkMoveParams{NodeID: "elsewhere", Network: "lab"})
	home := ask(p.accessGateway, protocol.NetworksList, protocol.Empty{}).Networks[0]
	ask(p.accessGateway, protocol.NetworkRename, protocol.NetworkRenameParams{Network: home.Name, Name: "secret-network"})
	ask(p.accessGateway, protocol.NodesUpdate, protocol.NodesUpdateParams{NodeID: "box", Name: new("Secret tower")})
	token := ask(p.accessGateway, protocol.TokenCreate, protocol.TokenCreateParams{Name: "A", Scopes: protocol.AppScopes, Networks: []protocol.NetworkID{lab.ID}}).Token

	secrets := []string{"secret-network", "Secret tower", `"box"`, "box__", string(home.ID)}
	check := func(surface, tool, args, answer string) {
		t.Helper()
		for _, secret := range secrets {
			if strings.Contains(answer, secret) {
				t.Errorf("%s %s over %s: got %.300s, want nothing about %s", tool, args, surface, answer, secret)
			}
		}
	}
	// beside those that reach no machine, every tool has to fail
	reachesNone := map[string]bool{"network_directory": true, "whoami": true}
	for _, tool := range ask(p.accessGateway, protocol.CatalogList, protocol.Empty{}).Tools {
		var in jsonschema.Schema
		if err := json.Unmarshal(tool.InputSchema, &in); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(tool.Name, "elsewhere__") {
			continue
		}
		for _, texts := range []map[string]string{
			{"node_id": "box", "machine": "box", "nodeId": "box"}, {"network_name": "secret-network", "node_name": "Secret tower"}, {"node_name": "box"}, {"network_name": string(home.ID), "node_id": "box"},
		} {
			raw, _ := json.Marshal(aimAt(t, &in, texts))
			args := string(raw)
			for surface, call := range p.surfaces() {
				_, answer, _ := call(token, tool.Name, args)
				shown := answer
				if i := strings.Index(answer, tool.Name); strings.HasPrefix(tool.Name, "box__") && i >= 0 { // a tool that does not exist is repeated
					shown = strings.ReplaceAll(answer, tool.Name, "")
				}
				for _, text := range texts { // so is what the caller wrote
					shown = strings.ReplaceAll(shown, text, "")
				}
				check(surface, tool.Name, args, shown)
				if isFault := strings.Contains(answer, "not_found") || strings.Contains(answer, "forbidden") || strings.Contains(answer, "invalid_args") ||
					strings.Contains(answer, "unknown tool") || strings.Contains(answer, `"error"`); !isFault && !reachesNone[tool.Name] {
					t.Errorf("%s %s over %s: got %.300s, want a failure", tool.Name, args, surface, answer)
				}
			}
		}
	}
	for surface, call := range p.surfaces() {
		_, answer, _ := call(token, "network_directory", `{}`)
		if check(surface, "network_directory", "{}", answer); !strings.Contains(answer, "elsewhere") || !strings.Contains(answer, "lab") {
			t.Errorf("the directory over %s: got %s, want elsewhere in lab", surface, answer)
		}
	}
	_, tools, _ := p.request("GET", "/api/v1/tools", "", "Authorization", "Bearer "+token)
	if check("REST", "the list of tools", "", tools); !strings.Contains(tools, "elsewhere__Bash") {
		t.Errorf("the list of tools: got %.300s, want elsewhere__Bash in it", tools)
	}
	if list := p.pending(); len(list) > 0 {
		t.Errorf("the owner is asked: %+v, want no question", list)
	}

	// A machine that is moved takes the right along.
	reach := func(node string) string {
		_, answer, _ := p.surfaces()["REST"](token, "net_metrics", `{"target":{"node_id":"`+node+`"}}`)
		return answer
	}
	if got := reach("elsewhere"); !strings.Contains(got, "uptime_secs") {
		t.Errorf("the machine in the network: got %s, want its metrics", got)
	}
	ask(p.accessGateway, protocol.NetworkMove, protocol.NetworkMoveParams{NodeID: "box", Network: "lab"})
	ask(p.accessGateway, protocol.NetworkMove, protocol.NetworkMoveParams{NodeID: "elsewhere", Network: "secret-network"})
	if got := reach("box"); !strings.Contains(got, "uptime_secs") {
		t.Errorf("the machine that was moved in: got %s, want its metrics", got)
	}
	if got := reach("elsewhere"); !strings.Contains(got, "target_not_found") {
		t.Errorf("the machine that was moved out: got %s, want target_not_found", got)
	}
}

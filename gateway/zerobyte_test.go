//go:build unix

package gateway_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

func TestIDsWithAZeroByteAreRefused(t *testing.T) {
	p := openPrograms(t)
	chats := len(ask(p.accessGateway, protocol.SessionsList, protocol.SessionsListParams{}).Sessions)
	for tool, args := range map[string]string{
		"box__Process":     `{"action":"poll","sessionId":"a\u0000b"}`,
		"gsv__SessionSend": `{"sessionKey":"agent:main:a\u0000b","message":"hi"}`,
		"gsv__LogsGet":     `{"nodeId":"box\u0000"}`,
		"gsv__Message":     `{"text":"hi","channel":"x","to":"y","accountId":"a\u0000b"}`,
		"command":          `{"command_id":"a\u0000b","stdin":"x"}`,
		"fs_read":          `{"file_id":"a\u0000b"}`,
		"fs_stat":          `{"target":{"node_id":"box\u0000"},"path":"a"}`,
		"net_routes":       `{"target":{"node_id":"box\u0000"}}`,
	} {
		t.Run(tool, func(t *testing.T) {
			resp, body, _ := p.request(http.MethodPost, "/api/v1/tools/"+tool, args, "Authorization", "Bearer "+ownerToken)
			if resp != http.StatusBadRequest || !strings.Contains(body, `"code":"invalid_args"`) {
				t.Errorf("got %d: %s, want 400 and invalid_args", resp, body)
			}
		})
	}
	for method, params := range map[string]string{
		protocol.ChatSend.Name:       `{"sessionKey":"a\u0000b","message":"hi"}`,
		protocol.SessionPatch.Name:   `{"sessionKey":"a\u0000b","label":"x"}`,
		protocol.SessionCreate.Name:  `{"sessionKey":"agent:main:a\u0000b"}`,
		protocol.NodesUpdate.Name:    `{"id":"box\u0000","name":"x"}`,
		protocol.RequestTool.Name:    `{"callId":"a\u0000b","tool":"box__Bash","sessionKey":"main","args":{"command":"ls"}}`,
		protocol.CronRemove.Name:     `{"id":"a\u0000b"}`,
		protocol.TransferGet.Name:    `{"id":"a\u0000b"}`,
		protocol.QuestionAnswer.Name: `{"id":"a\u0000b","decision":"allow"}`,
		protocol.TokenCreate.Name:    `{"name":"x","scopes":["fs.read"],"nodes":["box\u0000"]}`,
	} {
		t.Run(method, func(t *testing.T) {
			m := protocol.Method[json.RawMessage, json.RawMessage]{Name: method}
			if r, err := client.Call(t.Context(), p.owner, m, json.RawMessage(params)); !protocol.ErrBadRequest.Is(err) {
				t.Errorf("got %s, %v, want a bad request", r, err)
			}
		})
	}
	if got := len(ask(p.accessGateway, protocol.SessionsList, protocol.SessionsListParams{}).Sessions); got != chats {
		t.Errorf("got %d chats, want the %d from before", got, chats)
	}
	if got := ask(p.accessGateway, protocol.AppsList, protocol.Empty{}).Apps; len(got) != 0 {
		t.Errorf("got the apps %v, want none", got)
	}
}

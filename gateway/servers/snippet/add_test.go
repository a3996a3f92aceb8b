package snippet_test

import (
	"encoding/json"
	"strings"
	"testing"

	"fairlead/gateway/servers/snippet"
)

// TestCommandsOfOtherProgramsAreRead has the orders of words that the documentation of the programs
// uses. The flags of Claude Code stand before or after the name, and its -e takes several values.
func TestCommandsOfOtherProgramsAreRead(t *testing.T) {
	const notion = `[{"name":"notion","spec":{"url":"https://mcp.notion.com/mcp"}}]`
	const keyed = `[{"name":"air","spec":{"command":"npx","args":["-y","air-server"],"env":{"KEY":"1"},"network":"fetch"}}]`
	const secure = `[{"name":"api","spec":{"url":"https://api.example.com/mcp","headers":{"Authorization":"Bearer x"}}}]`
	for text, want := range map[string]string{
		`claude mcp add --transport http notion https://mcp.notion.com/mcp`:                                                notion,
		`claude mcp add notion https://mcp.notion.com/mcp -t http --scope user`:                                            notion,
		`claude mcp add --transport=http -s project notion -- https://mcp.notion.com/mcp`:                                  notion,
		`gemini mcp add notion https://mcp.notion.com/mcp`:                                                                 notion,
		`codex mcp add notion --url https://mcp.notion.com/mcp`:                                                            notion,
		`claude mcp add --transport sse asana https://mcp.asana.com/sse`:                                                   `[{"name":"asana","spec":{"url":"https://mcp.asana.com/sse"}}]`,
		`claude mcp add --transport http api https://api.example.com/mcp --header "Authorization: Bearer x"`:               secure,
		`claude mcp add -H 'Authorization:Bearer x' -t http api https://api.example.com/mcp`:                               secure,
		"claude mcp add --transport http \\\n  --header \"Authorization: Bearer x\" \\\n  api https://api.example.com/mcp": secure,
		`claude mcp add --transport stdio --env KEY=1 air -- npx -y air-server`:                                            keyed,
		`claude mcp add -e KEY=1 air -- npx -y air-server`:                                                                 keyed,
		`claude mcp add air --env KEY=1 -- npx -y air-server`:                                                              keyed,
		`claude mcp add -s user -e KEY=1 -- air npx -y air-server`:                                                         keyed,
		`codex mcp add air --env KEY=1 -- npx -y air-server`:                                                               keyed,
		`gemini mcp add -e KEY=1 air npx -- -y air-server`:                                                                 keyed,
		`claude mcp add-json air '{"type":"stdio","command":"npx","args":["-y","air-server"],"env":{"KEY":"1"}}' -s user`:  keyed,
		`code --add-mcp '{"name":"air","command":"npx","args":["-y","air-server"],"env":{"KEY":"1"}}'`:                     keyed,
		`code --add-mcp "{\"name\":\"air\",\"command\":\"npx\",\"args\":[\"-y\",\"air-server\"],\"env\":{\"KEY\":\"1\"}}"`: keyed,
		`claude mcp add x -e A=1 B=2 -- run it`:                                                                            `[{"name":"x","spec":{"command":"run","args":["it"],"env":{"A":"1","B":"2"},"network":"no"}}]`,
		`claude mcp add x -- sh -c 'a && b'`:                                                                               `[{"name":"x","spec":{"command":"sh","args":["-c","a \u0026\u0026 b"],"network":"no"}}]`,
		`claude mcp add --client-id me -t http x https://x.example/mcp`:                                                    `[{"name":"x","spec":{"url":"https://x.example/mcp","clientId":"me"}}]`,
	} {
		list, err := snippet.Parse(text)
		got, _ := json.Marshal(list)
		if err != nil || string(got) != want {
			t.Errorf("%s:\n got %s, %v\nwant %s", text, got, err, want)
		}
	}
}

func TestErrorNamesTheProblemOfACommand(t *testing.T) {
	for text, want := range map[string]string{
		`claude mcp add --callback-port 8080 x https://x.example`:  "--callback-port",
		`claude mcp add x npx -y pkg`:                              "the flag -y",
		`codex mcp add x --url https://x --bearer-token-env-var=T`: "--bearer-token-env-var",
		`claude mcp add x https://x.example --header`:              "--header needs a value",
		`claude mcp add --env KEY x -- run`:                        "--env must have the form NAME=VALUE",
		`claude mcp add -H Key x https://x.example`:                "--header must have the form NAME:VALUE",
		`claude mcp add -t ws x https://x.example`:                 `not "ws"`,
		`claude mcp add -t http x run`:                             "needs a web address",
		`claude mcp add x https://x.example --header A: b`:         `"b" after the address`,
		`claude mcp add`:        "The name of the server is missing",
		`claude mcp add x`:      "The command or the address of the server is missing",
		`claude mcp add-json x`: "JSON",
		`code --add-mcp`:        "JSON",
	} {
		if list, err := snippet.Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %+v, %v, want an error with %q", text, list, err, want)
		}
	}
}

package protocol

import (
	"strings"
	"testing"
)

func TestFetchCommands(t *testing.T) {
	for _, c := range []struct{ command, fetch, run, suggested string }{
		{"npx -y @scope/server --verbose", "npx -y --ignore-scripts -y --package=@scope/server -- node -e 0", "npx --offline -y @scope/server --verbose", "fetch"},
		{"/usr/bin/npx -p a --package=b --registry https://r.example b-bin", "/usr/bin/npx -y --ignore-scripts --registry https://r.example --package=a --package=b -- node -e 0", "/usr/bin/npx --offline -p a --package=b --registry https://r.example b-bin", "fetch"},
		{`cmd /c npx -y server`, "cmd /c npx -y --ignore-scripts -y --package=server -- node -e 0", "cmd /c npx --offline -y server", "fetch"},
		{"npx -c 'echo hello'", "", "", "yes"},
		{"npx", "", "", "yes"},
		{"uvx mcp-server-time --local-timezone UTC", "uvx --no-build --from mcp-server-time python -c ", "uvx --offline mcp-server-time --local-timezone UTC", "fetch"},
		{"uvx server@1.2", "uvx --no-build --from server==1.2 python -c ", "uvx --offline server@1.2", "fetch"},
		{"uvx server@latest", "uvx --no-build --from server python -c ", "uvx --offline server@latest", "fetch"},
		{"uvx --python 3.12 --from git+https://x.example/y@v1 run-it", "uvx --no-build --python 3.12 --from git+https://x.example/y@v1 python -c ", "uvx --offline --python 3.12 --from git+https://x.example/y@v1 run-it", "fetch"},
		{"uv tool run server", "uv tool run --no-build --from server python -c ", "uv tool run --offline server", "fetch"},
		{"uv run server.py", "", "", "yes"},
		{"uvx --unknown server", "", "", "yes"},
		{"npm exec -y server -- --port 1", "npm exec -y --ignore-scripts -y --package=server -- node -e 0", "npm exec --offline -y server -- --port 1", "fetch"},
		{"npm x server", "npm x -y --ignore-scripts --package=server -- node -e 0", "npm x --offline server", "fetch"},
		{"npm run server", "", "", "yes"},
		{"pnpm dlx --package=a b", "pnpm dlx --ignore-scripts --package=a node -e 0", "pnpm dlx --offline --package=a b", "fetch"},
		{"pnpx server", "pnpx --ignore-scripts --package=server node -e 0", "pnpx --offline server", "fetch"},
		{"bunx server --port 1", "bunx --ignore-scripts --package=server node -e 0", "bunx --ignore-scripts server --port 1", "fetch"},
		{"bunx --bun -p a b", "bunx --ignore-scripts --bun --package=a node -e 0", "bunx --ignore-scripts --bun -p a b", "fetch"},
		{"bun x server", "bun x --ignore-scripts --package=server node -e 0", "bun x --ignore-scripts server", "fetch"},
		{"bun run server.ts", "", "", "yes"},
		{"bunx --trust server", "", "", "yes"},
		{"pipx run server --port 1", "pipx run --spec server python -c ", "pipx run server --port 1", "fetch"},
		{"pipx run --spec=server==1.2 --python 3.12 run-it", "pipx run --python 3.12 --spec server==1.2 python -c ", "pipx run --spec=server==1.2 --python 3.12 run-it", "fetch"},
		{"pipx install server", "", "", "yes"},
		{"deno run -A npm:server --port 1", "deno cache npm:server", "deno run --cached-only -A npm:server --port 1", "fetch"},
		{"deno run --allow-read=/srv --config deno.json jsr:@a/server", "deno cache --config deno.json jsr:@a/server", "deno run --cached-only --allow-read=/srv --config deno.json jsr:@a/server", "fetch"},
		{"deno run --allow-scripts npm:server", "", "", "yes"},
		{"yarn dlx server", "", "", "yes"},
		{"docker run -i server", "", "", "yes"},
		{"python3 server.py", "", "", "no"},
		{"/opt/server", "", "", "no"},
	} {
		words := strings.Split(c.command, " ")
		s := ServerSpec{Command: words[0], Args: words[1:]}
		fetch, run, ok := s.FetchCommands()
		if strings.Join(fetch, " ") != c.fetch || strings.Join(run, " ") != c.run || ok != (c.fetch != "") || s.SuggestedNetwork() != c.suggested {
			t.Errorf("%s: got %q, then %q, suggested %s; want %q, then %q, %s", c.command, fetch, run, s.SuggestedNetwork(), c.fetch, c.run, c.suggested)
		}
	}
	if got := (ServerSpec{URL: "https://x.example"}).SuggestedNetwork(); got != "" {
		t.Errorf(`an address: got %q, want ""`, got)
	}
}

// A program that cannot fetch first gets a text that says what can.
func TestProgramsThatCannotFetchSayWhatCan(t *testing.T) {
	for command, want := range map[string]string{
		"yarn dlx server":      "yarn cannot fetch a package without starting it; npx -y with the same package can: use it, choose no network, or allow it",
		"docker run -i server": "docker cannot fetch a package without starting it in this form; npx, npm exec, pnpm dlx, bunx, uvx, pipx run and deno run can: choose no network, or allow it",
		"npx server":           "",
	} {
		words := strings.Split(command, " ")
		if got := (ServerSpec{Command: words[0], Args: words[1:]}).CannotFetch(); got != want {
			t.Errorf("%s: got %q, want %q", command, got, want)
		}
	}
}

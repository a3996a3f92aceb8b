package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"mvdan.cc/sh/v3/shell"

	"fairlead/gateway/peer/porttest"
)

// trial says how an example is tried, if not by running it as it is and expecting success.
type trial struct {
	why  string // why it is not run: then only the command and its flags must exist
	with string // what is run instead: the example with values for its placeholders
	code int    // expected exit code
}

// trials are by the text of the example.
var trials = map[string]trial{
	"fairlead gateway --node":                        {why: "it runs until it is interrupted; the test runs it"},
	"fairlead node --gateway ws://127.0.0.1:8787/ws": {why: "it runs until it is interrupted"},
	"fairlead node --receive ask":                    {why: "it runs until it is interrupted"},
	"fairlead node --direct lan":                     {why: "it runs until it is interrupted"},
	"fairlead mcp":                                   {why: "it serves a client on standard input until that ends"},
	"fairlead pair":                                  {why: "it waits for another machine"},
	"fairlead pair LINK-OR-CODE":                     {why: "it needs another machine"},
	"fairlead pair --ssh HOST":                       {why: "it needs another machine"},
	"fairlead network on":                            {why: "it listens on all networks"},
	"fairlead call service_publish '{\"node_id\": \"tower\", \"proxy_target_url\": \"3000\", \"title\": \"Wiki\"}'":              {why: "it waits for an answer"},
	"fairlead call service_publish '{\"node_id\": \"tower\", \"terminal_command\": \"htop\", \"title\": \"Load of the tower\"}'": {why: "it waits for an answer"},
	"fairlead call service_publish '{\"node_id\": \"tower\", \"authorized_emails\": [\"ann@company.com\"]}'":                     {why: "it waits for an answer"},
	"fairlead gateway":                                            {why: "it runs until it is interrupted; the test runs it"},
	"fairlead config set services.listen :443":                    {with: "fairlead config set services.listen 127.0.0.1:0"},
	"fairlead providers settings NAME":                            {code: exitFailed},
	"fairlead providers check NAME":                               {code: exitFailed},
	"fairlead provision create NODE --provider NAME":              {code: exitFailed},
	"fairlead provision delete TASK":                              {code: exitFailed},
	"fairlead services link SERVICE":                              {code: exitFailed},
	"fairlead services visits SERVICE":                            {code: exitFailed},
	"fairlead services signout SERVICE VISITOR":                   {code: exitFailed},
	"fairlead questions allow ID --for day":                       {code: exitFailed},
	"fairlead services link SERVICE EMAIL":                        {code: exitFailed},
	"fairlead forward tower:5432":                                 {why: "it runs until it is interrupted"},
	"fairlead forward NODE:PORT":                                  {why: "it runs until it is interrupted"},
	"fairlead forward NODE:PORT LOCAL-PORT":                       {why: "it runs until it is interrupted"},
	"fairlead forward NODE:HOST:PORT":                             {why: "it runs until it is interrupted"},
	"fairlead forward --close ID":                                 {code: exitFailed},
	"fairlead terminal NODE":                                      {why: "it needs a terminal"},
	"fairlead terminal NODE -- COMMAND…":                          {why: "it needs a terminal"},
	"fairlead terminal --attach ID":                               {code: exitUsage},
	"fairlead terminal --close ID":                                {code: exitFailed},
	"fairlead exposure close ID":                                  {code: exitFailed},
	"fairlead node allow HOST:PORT":                               {with: "fairlead node allow nas.lan:80"},
	"fairlead chat":                                               {why: "it needs a terminal"},
	"fairlead servers import NAME…":                               {why: "it needs another program's servers"},
	"fairlead servers add NAME https://…":                         {why: "it needs a server on the internet"},
	"fairlead servers add --paste '{\"mcpServers\": …}'":          {why: "it needs a server"},
	"fairlead servers add --network no|fetch|yes":                 {why: "it lists the choices"},
	"fairlead servers network NAME no|fetch|yes":                  {why: "it lists the choices"},
	"fairlead servers accept NAME":                                {why: "it needs a server whose tools have changed"},
	"fairlead mcp install CLIENT":                                 {with: "fairlead mcp install gemini --yes"},
	"fairlead mcp install claude-code":                            {with: "fairlead mcp install claude-code --yes"},
	"fairlead mcp install claude-desktop":                         {with: "fairlead mcp install claude-desktop --yes"},
	"fairlead tools call HOST__Bash '{\"command\":\"uname -a\"}'": {with: "fairlead tools call tower__Bash '{\"command\":\"uname -a\"}'"},
	"fairlead COMMAND --help":                                     {with: "fairlead status --help"},
	"fairlead approve CODE":                                       {code: exitFailed},
	"fairlead approvals undo ID":                                  {code: exitFailed},
	"fairlead tokens create":                                      {code: exitUsage},
	"fairlead servers add NAME [--env KEY=VALUE] [--node MACHINE] -- npx -y @scope/server": {why: "it fetches a package"},
	"fairlead servers add files -- npx -y @modelcontextprotocol/server-filesystem ~/notes": {why: "it fetches a package"},
	`fairlead call fs_stat '{"target":{"node_id":"tower"},"path":"/srv/notes.txt"}'`: {
		with: `fairlead call fs_stat '{"target":{"node_id":"tower"},"path":"'$HOME'/notes.txt"}'`,
	},
}

var (
	codeBlock     = regexp.MustCompile("(?ms)^```[a-z]*\n(.*?)^```")
	exampleLine   = regexp.MustCompile(`^\s*(?:\$ )?(?:\./)?((?:fairlead|curl) .+)`)
	inlineExample = regexp.MustCompile("(?:`|\\$\\()(?:\\./)?((?:fairlead|curl) [^`\n)]+)[`)]")
	shellComment  = regexp.MustCompile(`\s+#.*`)
)

// examplesOf returns the command lines in a text of Markdown.
func examplesOf(text string) (list []string) {
	for _, block := range codeBlock.FindAllStringSubmatch(text, -1) {
		for line := range strings.Lines(shellComment.ReplaceAllString(block[1], "")) {
			for part := range strings.SplitSeq(line, "; ") {
				if m := exampleLine.FindStringSubmatch(part); m != nil {
					list = append(list, strings.TrimSpace(m[1]))
				}
			}
		}
	}
	for _, m := range inlineExample.FindAllStringSubmatch(codeBlock.ReplaceAllString(text, ""), -1) {
		list = append(list, strings.TrimSpace(m[1]))
	}
	return list
}

// missingFlags returns the flags of an example that its command does not have.
func missingFlags(line string) (list []string) {
	words := strings.Fields(line)[1:]
	c, _, err := newRoot().Find(words)
	if err != nil {
		return []string{err.Error()}
	}
	c.InitDefaultHelpFlag()
	c.InitDefaultVersionFlag()
	for _, word := range words {
		if word == "--" {
			break
		}
		name, isFlag := strings.CutPrefix(strings.Trim(word, "[]"), "--")
		if name, _, _ = strings.Cut(name, "="); isFlag && c.Flags().Lookup(name) == nil && c.InheritedFlags().Lookup(name) == nil {
			list = append(list, "there is no flag --"+name)
		}
	}
	return list
}

// TestExamplesOfTheDocumentsWork tries the examples of README.md and the other documents with a
// gateway that has the machine tower.
func TestExamplesOfTheDocumentsWork(t *testing.T) {
	top, err := filepath.Abs(filepath.Join("..", "..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	home, work, address := t.TempDir(), t.TempDir(), porttest.Free(t)
	for name, value := range map[string]string{"HOME": home, "XDG_CONFIG_HOME": filepath.Join(home, ".config"), "FAIRLEAD_HOME": filepath.Join(home, "data"), "FAIRLEAD_TOKEN": "", "FAIRLEAD_URL": "ws://" + address + "/ws"} {
		t.Setenv(name, value)
	}
	for _, file := range []string{filepath.Join(home, "notes.txt"), filepath.Join(work, "report.pdf"), filepath.Join(work, "photos")} {
		if err := os.WriteFile(file, []byte("text"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(work)
	var flags nodeFlags
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	flags.Add(set, "node-id", false)
	if err := set.Parse([]string{"--node-id", "tower", "--workspace", work}); err != nil {
		t.Fatal(err)
	}
	o, err := flags.parse()
	if err != nil {
		t.Fatal(err)
	}
	pages, err := filepath.Glob(filepath.Join(top, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	tried := make(map[string]bool)
	withOptions(t, localOptions{home: filepath.Join(home, "data"), listen: address, node: &o}, func(context.Context, *connection) {
		for _, page := range append(pages, filepath.Join(top, "README.md"), filepath.Join(top, "SECURITY.md"), filepath.Join(top, "CONTRIBUTING.md")) {
			text, err := os.ReadFile(page)
			if err != nil {
				t.Error(err)
				continue
			}
			for _, line := range examplesOf(string(text)) {
				if !tried[line] {
					tried[line] = true
					tryExample(t, filepath.Base(page), line)
				}
			}
		}
	})
	for line := range trials {
		if !tried[line] {
			t.Errorf("no document has the example %q", line)
		}
	}
}

func tryExample(t *testing.T, page, line string) {
	t.Helper()
	try := trials[line]
	if strings.HasPrefix(line, "curl ") {
		if try.why == "" {
			t.Errorf("%s: %q: say in trials why it is not run", page, line)
		}
		return
	}
	for _, problem := range missingFlags(line) {
		t.Errorf("%s: %q: %s", page, line, problem)
	}
	if try.why != "" {
		return
	}
	if try.with != "" {
		line = try.with
	}
	words, err := shell.Fields(line, nil)
	if err != nil {
		t.Errorf("%s: %q: %v", page, line, err)
		return
	}
	if stdout, stderr, code := runArgs(t, words[1:]); code != try.code {
		t.Errorf("%s: %q: got exit code %d, want %d: %s%s", page, line, code, try.code, stdout, stderr)
	}
}

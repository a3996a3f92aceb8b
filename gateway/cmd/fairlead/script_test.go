package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"fairlead/gateway/peer/porttest"
	"fairlead/gateway/protocol"
	"fairlead/node/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Main()
	testscript.Main(m, map[string]func(){"fairlead": main})
}

// until polls until ok, with pauses in which the awaited program has the processor: each poll
// starts a program. The limit only matters for a condition that never becomes true: starting a
// gateway and its machine takes seconds on a busy computer.
func until(ts *testscript.TestScript, what string, ok func() bool) {
	for end := time.Now().Add(3 * time.Minute); !ok(); time.Sleep(200 * time.Millisecond) {
		if time.Now().After(end) {
			ts.Fatalf("never came: %s", what)
		}
	}
}

// request makes an HTTP request to the gateway, whose status must be status. The response's headers
// and body are stdout of the script.
func request(ts *testscript.TestScript, status, method, path, body string, headers []string) {
	r, err := http.NewRequest(method, "http://"+ts.Getenv("ADDR")+path, strings.NewReader(body))
	ts.Check(err)
	r.Header.Set("Authorization", "Bearer "+ts.Getenv("TOKEN"))
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(r)
	ts.Check(err)
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	ts.Check(err)
	fmt.Fprintf(ts.Stdout(), "%s", raw)
	for _, name := range []string{"WWW-Authenticate", "Retry-After", "Allow", "Content-Type"} {
		fmt.Fprintf(ts.Stderr(), "%s: %s\n", name, resp.Header.Get(name))
	}
	if fmt.Sprint(resp.StatusCode) != status {
		ts.Fatalf("%s %s: status %d, want %s: %s", method, path, resp.StatusCode, status, raw)
	}
}

// TestCommands runs testdata/*.txtar: the real program, a real gateway with a node, real files.
func TestCommands(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata",
		Setup: func(e *testscript.Env) error {
			addr := porttest.Free(t)
			e.Setenv("NL", "\n")
			e.Setenv("ADDR", addr)
			_, port, _ := net.SplitHostPort(addr)
			e.Setenv("PORT", port)
			e.Setenv("NETADDR", porttest.Free(t))
			e.Setenv("FAIRLEAD_URL", "ws://"+addr+"/ws")
			e.Setenv("FAIRLEAD_HOME", e.WorkDir+"/home")
			host, _ := os.Hostname()
			e.Setenv("GATEWAYNAME", host)
			e.Setenv("FAIRLEAD_SECRETS", "file")
			e.Setenv("FAIRLEAD_TOKEN", "")
			e.Setenv("SHELL", "/bin/sh")
			e.Setenv("PATH", os.Getenv("PATH"))
			// Otherwise each command takes a second to end under the race detector.
			e.Setenv("GORACE", "atexit_sleep_ms=0")
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			// code N COMMAND...: the command must end with this exit code.
			"code": func(ts *testscript.TestScript, neg bool, args []string) {
				err := ts.Exec(args[1], args[2:]...)
				got := "0"
				if exit, ok := err.(interface{ ExitCode() int }); ok {
					got = string(rune('0' + exit.ExitCode()%10))
					if exit.ExitCode() == exitInterrupted {
						got = "130"
					}
				} else if err != nil {
					ts.Fatalf("%v", err)
				}
				if got != args[0] {
					ts.Fatalf("exit code %s, want %s", got, args[0])
				}
			},
			// answer approve|deny: answers the request of the waiting device.
			"answer": func(ts *testscript.TestScript, neg bool, args []string) {
				var list deviceList
				until(ts, "somebody asks", func() bool {
					ts.Check(ts.Exec("fairlead", "pair", "list", "--json"))
					ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &list))
					return len(list.Questions) > 0
				})
				ts.Check(ts.Exec("fairlead", "pair", args[0], string(list.Questions[0].ID)))
			},
			// waiting N [later]: waits until N approvals are pending, and postponed with later;
			// $QUESTION is the first.
			"waiting": func(ts *testscript.TestScript, neg bool, args []string) {
				var list protocol.QuestionListResult
				until(ts, "so many questions are open: "+args[0], func() bool {
					ts.Check(ts.Exec("fairlead", "approvals", "list", "--json"))
					list = protocol.QuestionListResult{}
					ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &list))
					if len(args) > 1 {
						list.Questions = slices.DeleteFunc(list.Questions, func(a protocol.Question) bool { return a.Later == 0 })
					}
					return strconv.Itoa(len(list.Questions)) == args[0]
				})
				if len(list.Questions) > 0 {
					ts.Setenv("QUESTION", string(list.Questions[0].ID))
				}
			},
			// archived: $ARCHIVE is the newest earlier conversation of the main chat.
			"archived": func(ts *testscript.TestScript, neg bool, args []string) {
				var list protocol.SessionArchivesResult
				ts.Check(ts.Exec("fairlead", "sessions", "archives", "--json"))
				ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &list))
				ts.Setenv("ARCHIVE", string(list.Archives[0].ID))
			},
			// token ARGUMENT...: makes a token; $TOKEN is it, and $APP is its ID.
			"token": func(ts *testscript.TestScript, neg bool, args []string) {
				var made struct{ ID, Token string }
				ts.Check(ts.Exec("fairlead", append([]string{"tokens", "create", "--json"}, args...)...))
				ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &made))
				ts.Setenv("TOKEN", made.Token)
				ts.Setenv("APP", made.ID)
			},
			// post STATUS TOOL JSON [HEADER: VALUE]...: calls a tool over REST with $TOKEN.
			"post": func(ts *testscript.TestScript, neg bool, args []string) {
				request(ts, args[0], http.MethodPost, "/api/v1/tools/"+args[1], args[2], args[3:])
			},
			// get STATUS PATH [HEADER: VALUE]...: makes a request with $TOKEN.
			"get": func(ts *testscript.TestScript, neg bool, args []string) {
				request(ts, args[0], http.MethodGet, args[1], "", args[2:])
			},
			// field NAME JSONPATH: sets a variable to a field of stdout, such as data.file_id
			// or list.0.id.
			"field": func(ts *testscript.TestScript, neg bool, args []string) {
				var v any
				ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &v))
				for _, name := range strings.Split(args[1], ".") {
					if list, ok := v.([]any); ok && name == "0" && len(list) > 0 {
						v = list[0]
						continue
					}
					object, ok := v.(map[string]any)
					if !ok || object[name] == nil {
						ts.Fatalf("no %s in %s", args[1], ts.ReadFile("stdout"))
					}
					v = object[name]
				}
				ts.Setenv(args[0], fmt.Sprint(v))
			},
			// moved: $TRANSFER is the transfer that finished last.
			"moved": func(ts *testscript.TestScript, neg bool, args []string) {
				var list protocol.TransferListResult
				ts.Check(ts.Exec("fairlead", "transfers", "list", "--history", "--json"))
				ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &list))
				ts.Setenv("TRANSFER", string(list.Transfers[0].ID))
			},
			// serving NAME STATE: waits until an MCP server has the state.
			"serving": func(ts *testscript.TestScript, neg bool, args []string) {
				until(ts, args[0]+" is "+args[1], func() bool {
					var list protocol.ServersListResult
					ts.Check(ts.Exec("fairlead", "servers", "list", "--json"))
					ts.Check(json.Unmarshal([]byte(ts.ReadFile("stdout")), &list))
					return slices.ContainsFunc(list.Servers, func(s protocol.ServerStatus) bool { return string(s.Name) == args[0] && s.State == args[1] })
				})
			},
			// prints REGEXP COMMAND...: repeats a command until it prints a match.
			"prints": func(ts *testscript.TestScript, neg bool, args []string) {
				match := regexp.MustCompile(args[0])
				until(ts, args[0], func() bool {
					ts.Check(ts.Exec(args[1], args[2:]...))
					return match.MatchString(ts.ReadFile("stdout"))
				})
			},
			// online NODE: waits until the machine is connected.
			"online": func(ts *testscript.TestScript, neg bool, args []string) {
				until(ts, args[0]+" is there", func() bool { return ts.Exec("fairlead", "tools", "call", args[0]+"__Glob", `{"pattern":"*"}`) == nil })
			},
			// up: waits until the gateway answers and its node is connected.
			"up": func(ts *testscript.TestScript, neg bool, args []string) {
				until(ts, "the gateway is up", func() bool { return ts.Exec("fairlead", "tools", "call", "box__Glob", `{"pattern":"*"}`) == nil })
			},
		},
	})
}

package tools

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairlead/app/feed"
	"fairlead/app/feed/feedtest"
	"fairlead/app/wording"
	"fairlead/gateway/protocol"
)

func TestServersAndTheirQuestionsFollowTheGateway(t *testing.T) {
	state := protocol.ServerStarting
	feedtest.Run(t, feed.New, func(g *feedtest.Gateway) {
		g.Snapshot.Questions = []protocol.Question{{ID: "q", Kind: protocol.AskInput, State: protocol.QuestionPending, Input: &protocol.InputSubject{Server: "docs", Message: "Which one?"}}}
		feedtest.On(g, protocol.ServersList, func(protocol.Empty) (protocol.ServersListResult, error) {
			return protocol.ServersListResult{Servers: []protocol.ServerStatus{{Name: "docs", State: state}}}, nil
		})
	}, func(t *testing.T, f *feed.Feed, g *feedtest.Gateway) {
		v := f.View()
		if s, ok := v.Servers.Server("docs"); !ok || s.State != protocol.ServerStarting || len(v.Questions.Pending.Of(protocol.AskInput)) != 1 || v.Needs() != 1 {
			t.Fatalf("at first: %+v, %d questions, needs %d; want 1 and 1", v.Servers, len(v.Questions.Pending.Of(protocol.AskInput)), v.Needs())
		}
		state = protocol.ServerReady
		g.Change(protocol.Change{Kind: protocol.ChangeServers})
		if s, _ := f.View().Servers.Server("docs"); s.State != protocol.ServerReady {
			t.Errorf("after a change the server is %q, want %q", s.State, protocol.ServerReady)
		}
	})
}

func TestAServerIsDescribedInALine(t *testing.T) {
	v := feed.View{Machines: []protocol.NodeInfo{{ID: "laptop", Name: "Laptop", Local: true, Online: true}, {ID: "nas", Name: "NAS"}}}
	on := protocol.ServerTool{Name: "a", Enabled: true}
	for _, c := range []struct {
		name              string
		in                protocol.ServerStatus
		line, state, what string
		wants             bool
	}{
		{name: "ready", in: protocol.ServerStatus{Name: "m", State: protocol.ServerReady, Title: "Memory", Spec: protocol.ServerSpec{Command: "npx"}, Tools: []protocol.ServerTool{on, {Name: "b"}}}, line: "Memory · runs on Laptop · may use the network · 2 tools, 1 off", state: "ready"},
		{name: "one tool", in: protocol.ServerStatus{Name: "web", State: protocol.ServerReady, Title: "Web", Spec: protocol.ServerSpec{URL: "https://mcp.example.org/mcp"}, Tools: []protocol.ServerTool{on}}, line: "mcp.example.org · 1 tool", state: "ready"},
		{name: "changed", in: protocol.ServerStatus{State: protocol.ServerReady, Spec: protocol.ServerSpec{Node: "nas"}, Tools: []protocol.ServerTool{{Changed: true, Enabled: true}}}, line: "Runs on NAS · 1 tool", state: "1 tool to accept", wants: true},
		{name: "failed", in: protocol.ServerStatus{State: protocol.ServerFailed, Error: "npx: not found"}, line: "Npx: not found", state: "failed", what: "The server stopped. Npx: not found. Fairlead tries again automatically.", wants: true},
		{name: "sign-in", in: protocol.ServerStatus{State: protocol.ServerSignIn, Spec: protocol.ServerSpec{URL: "https://x.org"}}, line: "x.org", state: "needs sign-in", what: "You have to sign in. The server asks who you are. Sign in with your browser, and then come back here.", wants: true},
		{name: "offline", in: protocol.ServerStatus{State: protocol.ServerOffline, Spec: protocol.ServerSpec{Command: "x", Node: "nas"}}, line: "Runs on NAS · may use the network", state: "machine offline", what: "NAS is offline. The server starts when its machine is back."},
		{name: "off", in: protocol.ServerStatus{State: protocol.ServerDisabled}, line: "Runs on Laptop", state: "off", what: "The server is off. Its settings are kept. The agent cannot use its tools."},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := summary(v, c.in); got != c.line {
				t.Errorf("line: got %q, want %q", got, c.line)
			}
			if got, wants := stateText(c.in); got != c.state || wants != c.wants {
				t.Errorf("state: got %q %v, want %q %v", got, wants, c.state, c.wants)
			}
			what, next := explanation(v, c.in)
			if got := wording.Join(" ", what, next); got != c.what {
				t.Errorf("sentence: got %q, want %q", got, c.what)
			}
		})
	}
}

func TestSecretsOfAServerAreNotShown(t *testing.T) {
	s := protocol.ServerStatus{State: protocol.ServerReady, Resources: 1, Prompts: 2, Spec: protocol.ServerSpec{
		Command: "npx", Args: []string{"-y", "a b", "it's"}, Env: map[string]string{"TOKEN": protocol.MaskedSecret, "MODE": "fast"},
	}}
	got := make(map[string]string)
	for _, f := range factsOf(feed.View{}, s, time.Now()) {
		got[f.Name] = f.Text
	}
	want := map[string]string{
		"State": "Ready", "Runs on": "the gateway's machine", "Command": `npx -y 'a b' 'it'\''s'`, "Variables": "MODE=fast\nTOKEN=••••••", "Network": "Yes",
		"To attach": "1 resource and 2 prompts. Type @ in a chat.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
}

func TestTheFormOfAServerKeepsWhatItDoesNotShow(t *testing.T) {
	spec := protocol.ServerSpec{
		Command: "npx", Args: []string{"-y", "x y"}, Env: map[string]string{"A": "1=2", "KEY": protocol.MaskedSecret}, Cwd: "/srv", Node: "nas", DisabledTools: []string{"t"}, Disabled: true,
	}
	got, problem := settingsOf(spec).Spec(spec)
	if problem != "" || !reflect.DeepEqual(got, spec) {
		t.Errorf("got %+v (%s), want %+v", got, problem, spec)
	}
	remote := protocol.ServerSpec{URL: "https://x.org/mcp", Headers: map[string]string{"Authorization": "Bearer a:b"}}
	got, problem = settingsOf(remote).Spec(remote)
	if problem != "" || !reflect.DeepEqual(got, remote) {
		t.Errorf("got %+v (%s), want %+v", got, problem, remote)
	}
	for want, c := range map[string]struct {
		form   settings
		before protocol.ServerSpec
	}{
		"Enter the command that starts the server.":      {settings{Command: " "}, spec},
		"Enter the address of the server.":               {settings{}, remote},
		"Write each variable as NAME=value, one a line.": {settings{Command: "x", Env: "A=1\n\nB"}, spec},
		"Write each header as NAME: value, one a line.":  {settings{URL: "https://x.org", Headers: "no"}, remote},
	} {
		if _, problem := c.form.Spec(c.before); problem != want {
			t.Errorf("got %q, want %q", problem, want)
		}
	}
}

func TestOnlyNewServersAreAdded(t *testing.T) {
	v := feed.View{Servers: feed.ServerList{ServersListResult: protocol.ServersListResult{Servers: []protocol.ServerStatus{{Name: "old"}}}}}
	found := []protocol.FoundServer{{Name: "old", Spec: protocol.ServerSpec{Command: "a"}}, {Name: "new", Spec: protocol.ServerSpec{Command: "b"}}, {Name: "web", Spec: protocol.ServerSpec{URL: "https://x.org"}}}
	got := serversToAdd(v, found, "ignored", "nas", "yes")
	want := []protocol.FoundServer{{Name: "new", Spec: protocol.ServerSpec{Command: "b", Node: "nas"}}, found[2]}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
	if got := serversToAdd(v, found[:1], " other ", "", "fetch"); len(got) != 1 || got[0].Name != "other" {
		t.Errorf("a single server is not renamed: %+v", got)
	}
	if got := serversToAdd(v, found[:1], "old", "", "no"); got != nil {
		t.Errorf("an existing server is replaced: %+v", got)
	}
	twice := append(slices.Clone(found), protocol.FoundServer{Name: "new"})
	if got := uniqueFound(twice); len(got) != 3 || got[1].Spec.Command != "b" {
		t.Errorf(`got %+v; want length 3 and got[1].Spec.Command "b"`, got)
	}
}

func TestToolsThatAreNotListedStayDisabled(t *testing.T) {
	s := protocol.ServerStatus{Spec: protocol.ServerSpec{DisabledTools: []string{"gone", "a"}}, Tools: []protocol.ServerTool{{Name: "a"}, {Name: "b"}}}
	got := disabledTools(s, func(name string) bool { return name == "a" })
	if want := []string{"gone", "b"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestMachinesThatCanRunAServer(t *testing.T) {
	v := feed.View{Machines: []protocol.NodeInfo{{ID: "nas", Name: "NAS"}, {ID: "laptop", Name: "Laptop", Local: true, Online: true}}}
	want := []runnerChoice{{"", "Laptop"}, {"nas", "NAS (offline)"}, {"old", "old"}}
	if got := runnerChoices(v, "old"); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := runnerChoices(v, "laptop"); len(got) != 2 {
		t.Errorf("the gateway's machine is listed twice: %v", got)
	}
}

func TestSecretsOfAFoundServerAreNotShown(t *testing.T) {
	text, with := foundText(protocol.FoundServer{Spec: protocol.ServerSpec{Command: "npx", Env: map[string]string{"B": "secret", "A": "1", "C": "2"}}})
	if text != "npx" || with != "With the variables A, B and C · May use the network" {
		t.Errorf(`got %q, %q; want "npx" and with "With the variables A, B and C · May use the network"`, text, with)
	}
	text, with = foundText(protocol.FoundServer{Spec: protocol.ServerSpec{URL: "https://x.org", Headers: map[string]string{"Authorization": "secret"}}})
	if text != "https://x.org" || with != "With the header Authorization" {
		t.Errorf(`got %q, %q; want "https://x.org" and with "With the header Authorization"`, text, with)
	}
}

func TestAFoundServerNamesItsProject(t *testing.T) {
	_, got := foundText(protocol.FoundServer{Project: "/src/shop", Spec: protocol.ServerSpec{Command: "npx", Env: map[string]string{"A": "1"}, Disabled: true}})
	if want := "With the variable A · May use the network · Only in /src/shop · Turned off"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestEveryChangeOfAToolHasWords(t *testing.T) {
	for _, c := range []struct{ before, now, want string }{
		{"", "a", "This tool is new or has changed."},
		{"a", "a", "The inputs of this tool or its effect have changed."},
		{"a", "b", "The description of this tool has changed."},
	} {
		if got := changeText(protocol.ServerTool{Before: c.before, Description: c.now}); !strings.HasPrefix(got, c.want) {
			t.Errorf("%q to %q: got %q, want a text that begins with %v", c.before, c.now, got, c.want)
		}
	}
}

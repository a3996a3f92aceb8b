package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"fairlead/gateway/peer/format"
	"fairlead/gateway/peer/words"
	"fairlead/gateway/protocol"
)

// serversCommand manages the MCP servers whose tools the agent can use.
func serversCommand(o *options) *cobra.Command {
	named := func(args []string) (protocol.ServerParams, error) {
		return protocol.ServerParams{Name: protocol.ServerName(args[0])}, nil
	}
	said := func(text string) func(io.Writer, protocol.OK) error {
		return func(out io.Writer, _ protocol.OK) error { return printf(out, "%s\n", text) }
	}
	return group("servers", "Manage the MCP servers whose tools the agent can use",
		command("list", "List the servers, their state and their tools", cobra.NoArgs, onMethod(o, protocol.ServersList, nil, printServers)),
		addServerCommand(o), importServersCommand(o), networkServerCommand(o),
		command("remove NAME", "Remove a server with its keys and its sign-in", cobra.ExactArgs(1), onMethod(o, protocol.ServerRemove, named, said("Removed."))),
		command("logs NAME", "Print a server's log: its own messages, and events of its connection", cobra.ExactArgs(1), onMethod(o, protocol.ServerLogs, named, printServerLogs)),
		command("restart NAME", "Connect to a server again", cobra.ExactArgs(1), onMethod(o, protocol.ServerRestart, named, said("The server starts again. To see its state: fairlead servers list"))),
		acceptServerCommand(o),
		command("sign-in NAME", "Print the address at which you sign in to a server", cobra.ExactArgs(1), onMethod(o, protocol.ServerSignInURL, named, func(out io.Writer, r protocol.ServerSignInResult) error {
			return printf(out, "Open this address in the browser of the gateway's computer:\n%s\n", r.URL)
		})))
}

func printServers(out io.Writer, r protocol.ServersListResult) error {
	var t table
	for _, s := range r.Servers {
		on, changed := 0, 0
		for _, tool := range s.Tools {
			if tool.Changed {
				changed++
			} else if tool.Enabled {
				on++
			}
		}
		tools := format.Plural(on, "tool")
		if changed > 0 {
			tools += fmt.Sprintf(", %d changed: fairlead servers accept %s", changed, s.Name)
		}
		where := s.Spec.URL
		if where == "" {
			where = words.Join(append([]string{s.Spec.Command}, s.Spec.Args...))
		}
		t.row(string(s.Name), serverState(s), tools, s.Spec.NetworkText(), flat(where))
	}
	return t.print(out, "No server is set up. To add one: fairlead servers add NAME -- COMMAND, or fairlead servers import")
}

func serverState(s protocol.ServerStatus) string {
	switch {
	case s.State == protocol.ServerSignIn:
		return "waits for your sign-in: fairlead servers sign-in " + string(s.Name)
	case s.State == protocol.ServerDisabled:
		return "turned off"
	case s.Error != "":
		return s.State + ": " + flat(s.Error)
	}
	return s.State
}

func printServerLogs(out io.Writer, r protocol.ServerLogsResult) error {
	for _, line := range r.Lines {
		if err := printf(out, "%s\n", flat(line)); err != nil {
			return err
		}
	}
	return nil
}

func addServerCommand(o *options) *cobra.Command {
	var spec protocol.ServerSpec
	var env, headers []string
	var paste string
	cmd := command("add NAME ADDRESS | add NAME -- COMMAND [ARGUMENT]... | add --paste TEXT", "Add a server by its address, its command or a JSON snippet", cobra.ArbitraryArgs, nil)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if paste != "" {
			if len(args) > 0 {
				return usageError("--paste has the names and the commands: leave them out")
			}
			return o.withGateway(cmd, func(ctx context.Context, c *connection) error { return addPasted(ctx, c, paste, spec) })
		}
		if len(args) < 2 {
			return usageError("give the name and the address or the command of the server, such as: fairlead servers add time -- uvx mcp-server-time")
		}
		if isAddress := strings.HasPrefix(args[1], "http://") || strings.HasPrefix(args[1], "https://"); isAddress {
			spec.URL = args[1]
		} else {
			spec.Command, spec.Args = args[1], args[2:]
			if spec.Network == "" {
				spec.Network = spec.SuggestedNetwork()
			}
		}
		var err error
		if spec.Env, err = pairs(env, "=", "--env"); err != nil {
			return err
		}
		if spec.Headers, err = pairs(headers, ":", "--header"); err != nil {
			return err
		}
		return o.withGateway(cmd, func(ctx context.Context, c *connection) error {
			return addServers(ctx, c, []protocol.FoundServer{{Name: protocol.ServerName(args[0]), Spec: spec}})
		})
	}
	f := cmd.Flags()
	f.StringSliceVar(&env, "env", nil, "a variable of the command, as NAME=VALUE; keys and tokens go to the keychain")
	f.StringSliceVar(&headers, "header", nil, "a header for the address, as 'NAME: VALUE'; it goes to the keychain")
	f.StringVar(&spec.Cwd, "folder", "", "folder to run the command in (default the machine's workspace)")
	f.StringVar((*string)(&spec.Node), "node", "", "machine that runs the command (default the gateway's own)")
	f.StringVar(&spec.Network, "network", "", networkHelp)
	f.StringVar(&spec.ClientID, "client-id", "", "client ID for the sign-in at the address, if you registered Fairlead there by hand")
	f.StringVar(&spec.ClientSecret, "client-secret", "", "the secret of that client ID; it goes to the keychain")
	f.StringVar(&paste, "paste", "", "a JSON snippet, a command or an address")
	return cmd
}

// pairs splits names and values.
func pairs(list []string, separator, flag string) (map[string]string, error) {
	if len(list) == 0 {
		return nil, nil
	}
	out := make(map[string]string, len(list))
	for _, text := range list {
		name, value, ok := strings.Cut(text, separator)
		if !ok {
			return nil, usageError("%s must have the form NAME%sVALUE", flag, separator)
		}
		out[strings.TrimSpace(name)] = strings.TrimSpace(value)
	}
	return out, nil
}

const networkHelp = "whether the command may use the network: no, fetch (only to fetch its package first; npx, npm exec, pnpm dlx, bunx, uvx, pipx run and deno run) or yes (default fetch for those, yes for other programs that fetch, otherwise no)"

// networkServerCommand changes whether a server may use the network.
func networkServerCommand(o *options) *cobra.Command {
	return command("network NAME no|fetch|yes", "Choose whether a server's command may use the network; fetch: only to fetch its package first", cobra.ExactArgs(2),
		o.onGateway(func(ctx context.Context, c *connection, args []string) error {
			r, err := call(ctx, c, protocol.ServersList, protocol.Empty{})
			if err != nil {
				return err
			}
			i := slices.IndexFunc(r.Servers, func(s protocol.ServerStatus) bool { return string(s.Name) == args[0] })
			if i < 0 {
				return fmt.Errorf("no server is called %s", args[0])
			}
			spec := r.Servers[i].Spec
			spec.Network = args[1]
			return showCall(ctx, c, protocol.ServerSet, protocol.ServerSetParams{Name: r.Servers[i].Name, Spec: spec}, func(out io.Writer, s protocol.ServerStatus) error {
				return printf(out, "%s: %s. It starts again.\n", s.Name, spec.NetworkText())
			})
		}))
}

// addPasted adds the servers of a text, with the machine and the network of chosen.
func addPasted(ctx context.Context, c *connection, text string, chosen protocol.ServerSpec) error {
	r, err := call(ctx, c, protocol.ServersParse, protocol.ServerParseParams{Text: text})
	if err != nil {
		return err
	}
	for i := range r.Servers {
		if r.Servers[i].Spec.Command != "" {
			r.Servers[i].Spec.Node = chosen.Node
			if chosen.Network != "" {
				r.Servers[i].Spec.Network = chosen.Network
			}
		}
	}
	return addServers(ctx, c, r.Servers)
}

// addServers adds servers whose names are not in use.
func addServers(ctx context.Context, c *connection, list []protocol.FoundServer) error {
	have, err := call(ctx, c, protocol.ServersList, protocol.Empty{})
	if err != nil {
		return err
	}
	out := protocol.ServersListResult{}
	for _, s := range list {
		if slices.ContainsFunc(have.Servers, func(h protocol.ServerStatus) bool { return h.Name == s.Name }) {
			return fmt.Errorf("a server is called %s already. To replace it, remove it first: fairlead servers remove %[1]s", s.Name)
		}
		status, err := call(ctx, c, protocol.ServerSet, protocol.ServerSetParams{Name: s.Name, Spec: s.Spec})
		if err != nil {
			return err
		}
		out.Servers = append(out.Servers, status)
	}
	return show(c, out, nil, func(w io.Writer, r protocol.ServersListResult) error {
		for _, s := range r.Servers {
			network := ""
			if text := s.Spec.NetworkText(); text != "" {
				network = " (" + text + ")"
			}
			if err := printf(w, "Added %s%s. To see whether it works: fairlead servers list\n", s.Name, network); err != nil {
				return err
			}
			if s.Spec.MayUseNetwork() && s.Spec.NeedsNetwork() {
				if err := printf(w, "It may use the network: %s.\n", s.Spec.CannotFetch()); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

func importServersCommand(o *options) *cobra.Command {
	var all bool
	var network string
	cmd := command("import [NAME]...", "List the servers that other programs on the gateway's computer use, or add those that you name", cobra.ArbitraryArgs,
		o.onGateway(func(ctx context.Context, c *connection, args []string) error {
			r, err := call(ctx, c, protocol.ServersFind, protocol.Empty{})
			if err != nil {
				return err
			}
			if !all && len(args) == 0 {
				return show(c, r, nil, printFound)
			}
			chosen := slices.DeleteFunc(slices.Clone(r.Servers), func(f protocol.FoundServer) bool {
				return all && f.Exists || !all && !slices.Contains(args, string(f.Name))
			})
			for _, name := range args {
				if !slices.ContainsFunc(chosen, func(f protocol.FoundServer) bool { return string(f.Name) == name }) {
					return fmt.Errorf("no program uses a server called %s: see fairlead servers import", name)
				}
			}
			// two programs may use the same server
			var distinct []protocol.FoundServer
			for _, f := range chosen {
				if !slices.ContainsFunc(distinct, func(d protocol.FoundServer) bool { return d.Name == f.Name }) {
					if network != "" && f.Spec.Command != "" {
						f.Spec.Network = network
					}
					distinct = append(distinct, f)
				}
			}
			return addServers(ctx, c, distinct)
		}))
	cmd.Flags().BoolVar(&all, "all", false, "add all that are not set up yet")
	cmd.Flags().StringVar(&network, "network", "", networkHelp)
	return cmd
}

func printFound(out io.Writer, r protocol.ServersFoundResult) error {
	var t table
	for _, f := range r.Servers {
		state := "new"
		if f.Exists {
			state = "set up already"
		}
		if f.Spec.Disabled {
			state += ", turned off"
		}
		source := f.Source
		if f.Project != "" {
			source += ", only in " + f.Project
		}
		what := f.Spec.URL
		if what == "" {
			what = strings.Join(append([]string{f.Spec.Command}, f.Spec.Args...), " ")
		}
		t.row(string(f.Name), state, flat(source), f.Spec.NetworkText(), flat(what))
	}
	return t.print(out, "No other program on the gateway's computer uses MCP servers.")
}

func acceptServerCommand(o *options) *cobra.Command {
	var yes bool
	cmd := command("accept NAME [TOOL]...", "Show the tools of a server whose description has changed, and with --yes let the agent use them", cobra.MinimumNArgs(1),
		o.onGateway(func(ctx context.Context, c *connection, args []string) error {
			name, tools := protocol.ServerName(args[0]), args[1:]
			q, err := questionsOf(c).ofTools(ctx, name)
			if err != nil {
				return err
			}
			if q.Tools == nil {
				return show(c, []protocol.ServerTool{}, nil, func(out io.Writer, _ []protocol.ServerTool) error { return printf(out, "No tool has changed.\n") })
			}
			if yes {
				return questionsOf(c).answer(ctx, q, protocol.QuestionAnswerParams{Decision: protocol.DecisionAllow, Tools: tools}, func(out io.Writer, _ protocol.Question) error {
					return printf(out, "The agent can use the tools.\n")
				})
			}
			changed := slices.DeleteFunc(q.Tools.Tools, func(t protocol.ServerTool) bool { return len(tools) > 0 && !slices.Contains(tools, t.Name) })
			return show(c, changed, nil, func(out io.Writer, list []protocol.ServerTool) error { return printChanged(out, name, list) })
		}))
	cmd.Flags().BoolVar(&yes, "yes", false, "accept the tools")
	return cmd
}

// diffLines indents a diff and makes every character of it visible.
func diffLines(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		fmt.Fprintf(&b, "  %s\n", flat(strings.TrimSuffix(line, "\n")))
	}
	return b.String()
}

// ofTools returns the question about the changed tools of a server; one without a subject if
// no tool of it waits.
func (s questions) ofTools(ctx context.Context, name protocol.ServerName) (protocol.Question, error) {
	r, err := call(ctx, s.c, protocol.ServersList, protocol.Empty{})
	if err != nil {
		return protocol.Question{}, err
	}
	if !slices.ContainsFunc(r.Servers, func(one protocol.ServerStatus) bool { return one.Name == name }) {
		return protocol.Question{}, fmt.Errorf("no server is called %s", name)
	}
	open, err := call(ctx, s.c, protocol.QuestionList, protocol.Empty{})
	for _, q := range open.Questions {
		if q.Tools != nil && q.Tools.Server == name {
			return q, nil
		}
	}
	return protocol.Question{}, err
}

func printChanged(out io.Writer, server protocol.ServerName, list []protocol.ServerTool) error {
	if len(list) == 0 {
		return printf(out, "No tool of these has changed.\n")
	}
	for _, t := range list {
		if t.Diff != "" {
			if err := printf(out, "%s\n%s", flat(t.Name), diffLines(t.Diff)); err != nil {
				return err
			}
			continue
		}
		before := flat(t.Before)
		if before == "" {
			before = "(new)"
		}
		if err := printf(out, "%s\n  before: %s\n  now:    %s\n", flat(t.Name), before, flat(t.Description)); err != nil {
			return err
		}
	}
	return printf(out, "\nTo let the agent use them: fairlead servers accept %s --yes\n", server)
}

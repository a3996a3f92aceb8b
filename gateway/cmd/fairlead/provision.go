package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
	"fairlead/gateway/provision"
)

// provisionCommand rents machines.
func provisionCommand(o *options) *cobra.Command {
	var args provisionArgs
	create := command("create NAME", "Rent a machine and connect it", cobra.ExactArgs(1), func(cmd *cobra.Command, names []string) error {
		args.NodeName = names[0]
		return callTool(o, cmd, "provision_node", args)
	})
	f := create.Flags()
	f.StringVar(&args.Provider, "provider", protocol.DefaultProvider, "who rents it out: a program in the folder of providers")
	f.IntVar(&args.CPU, "cpu", protocol.DefaultCPU, "1024 is 1 vCPU; 256 to 4096")
	f.IntVar(&args.Memory, "memory", protocol.DefaultMemory, "MiB; 512 to 16384")
	f.StringVar(&args.NetworkName, "network", "", "network of the machine (default: the default network)")
	list := command("list", "List the rented machines and what the providers report", cobra.NoArgs, onMethod(o, protocol.ProvisionList, nil, printRented))
	remove := command("delete TASK", "Delete a rented machine with all its data", cobra.ExactArgs(1), func(cmd *cobra.Command, ids []string) error {
		return callTool(o, cmd, "deprovision_node", map[string]string{"task_id": ids[0]})
	})
	cmd := group("provision", "Rent machines from providers, and give them back", create, list, remove)
	cmd.Long = `Rents machines and connects them. You are asked about each, because it costs money: answer in a window, or with "fairlead questions".
A provider is a program: see "fairlead providers".`
	return cmd
}

// provisionArgs are the arguments of provision_node.
type provisionArgs struct {
	NodeName    string `json:"node_name"`
	NetworkName string `json:"network_name,omitempty"`
	Provider    string `json:"provider"`
	CPU         int    `json:"cpu"`
	Memory      int    `json:"memory"`
}

// callTool calls a tool for programs and shows its result.
func callTool(o *options, cmd *cobra.Command, name string, args any) error {
	return o.withGateway(cmd, func(ctx context.Context, c *connection) error {
		r, err := call(ctx, c, protocol.CatalogCall, protocol.CatalogCallParams{Tool: name, Args: protocol.Encode(args)})
		if err == nil && r.Fault != nil {
			err = faultError(c, r.Fault)
		}
		return show(c, r, err, printOutcome)
	})
}

func printRented(out io.Writer, r protocol.ProvisionListResult) error {
	var t table
	for _, m := range r.Tasks {
		t.row(string(m.ID), flat(string(m.Node)), m.Provider, m.State, m.Summary, flat(m.Cost), flat(m.Problem+m.Progress))
	}
	return t.print(out, "No machine is rented.")
}

// providersCommand manages the programs of providers.
func providersCommand(o *options) *cobra.Command {
	list := command("list", "List the providers and the names of their settings", cobra.NoArgs,
		onMethod(o, protocol.ProvisionList, nil, func(out io.Writer, r protocol.ProvisionListResult) error {
			var t table
			for _, p := range r.Providers {
				t.row(p.Name, strings.Join(p.Settings, ", "))
			}
			return t.print(out, "There is no provider: put its program into "+r.Folder+".")
		}))
	settings := command("settings PROVIDER", "Store the settings of a provider in the keychain", cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
		values, err := readSettings(cmd.InOrStdin())
		if err != nil {
			return err
		}
		return o.withGateway(cmd, func(ctx context.Context, c *connection) error {
			return showCall(ctx, c, protocol.ProvisionSettings, protocol.ProvisionSettingsParams{Provider: args[0], Settings: values}, func(out io.Writer, _ protocol.OK) error {
				return printf(out, "Stored.\n")
			})
		})
	})
	settings.Long = `Reads NAME=VALUE lines from standard input, such as credentials, and stores them in the keychain in place of earlier ones. No line
removes them. docs/providers.md lists the settings of each provider.`
	var create bool
	check := command("check PROVIDER", "Check that the program of a provider keeps to the contract", cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
		return checkProvider(o, cmd, args[0], create)
	})
	check.Flags().BoolVar(&create, "create", false, "also create machines and delete them again, which may cost money")
	cmd := group("providers", "See and check the programs that create machines", list, settings, check)
	cmd.Long = `A provider is a program in the folder "providers" of the data folder, with the provider's name. docs/providers.md says how to write one.`
	return cmd
}

// readSettings reads NAME=VALUE lines.
func readSettings(in io.Reader) (map[string]string, error) {
	values := map[string]string{}
	s := bufio.NewScanner(in)
	for s.Scan() {
		name, value, ok := strings.Cut(strings.TrimSpace(s.Text()), "=")
		switch {
		case s.Text() == "":
		case !ok || name == "":
			return nil, usageError("each line must be NAME=VALUE")
		default:
			values[name] = value
		}
	}
	return values, s.Err()
}

func checkProvider(o *options, cmd *cobra.Command, name string, create bool) error {
	home, err := o.homeDir()
	if err != nil {
		return err
	}
	settings, err := provision.Settings(keychain.Open(home), name)
	if err != nil {
		return err
	}
	failed := 0
	err = provision.Check(cmd.Context(), provision.Folder(filepath.Join(home, "providers")), name, settings, create, func(check string, err error) {
		text := "ok"
		if err != nil {
			failed++
			text = "FAILED: " + flat(err.Error())
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s: %s\n", check, text)
	})
	if failed > 0 {
		return fmt.Errorf("%d checks failed: docs/providers.md has the contract", failed)
	}
	return err
}

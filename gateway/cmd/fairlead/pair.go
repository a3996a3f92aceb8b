package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"fairlead/gateway/pairing"
	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/protocol"
	"fairlead/node/setup"
)

// roles are the roles in which a machine can be paired.
var roles = []string{protocol.RoleNode, protocol.RoleClient}

// pairFlags are the flags of fairlead pair.
type pairFlags struct {
	as, name, gateway, ssh, sshCommand string
	minutes, days                      int
	ask, key, noQR                     bool
	scopes                             []string
	node                               nodeFlags
}

func pairCommand(o *options) *cobra.Command {
	var p pairFlags
	cmd := &cobra.Command{
		Use:   "pair [LINK | CODE]",
		Short: "Pair another machine with this gateway, or this machine with another gateway",
		Long: `Without an argument: creates an invitation for another machine, waits until it is used, shows which machine asks, and asks you to approve it.
With a link or code from a gateway: pairs this machine and prints the command that starts its node. Use that command's flags unchanged: they are
what the person at the gateway approved.

Both sides show the same four words. If the words differ, somebody may be intercepting the connection: answer no.`,
		Example: "  fairlead pair\n  fairlead pair 'fairlead://pair?…' --workspace ~/work\n  fairlead pair 7-maple-otter-tulip\n  fairlead pair --ask --gateway 192.168.1.7:8788\n  fairlead pair --ssh me@server",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			invitation := strings.TrimSpace(strings.Join(args, " "))
			if err := p.check(cmd, args, invitation); err != nil {
				return err
			}
			switch {
			case p.key:
				id, _, err := o.identity()
				if err == nil {
					fmt.Fprintln(cmd.OutOrStdout(), identity.Fingerprint(id.Public()))
				}
				return err
			case p.ssh != "":
				return pairSSH(o, cmd, p)
			case invitation == "-":
				line, err := setup.ReadLine(cmd.Context(), cmd.InOrStdin())
				if err != nil && !errors.Is(err, io.EOF) {
					return fmt.Errorf("read the invitation: %w", err)
				}
				if line = strings.TrimSpace(line); line == "" {
					return usageError("the input contains no link or code")
				}
				return join(o, cmd, p, line)
			case invitation != "" || p.ask:
				return join(o, cmd, p, invitation)
			}
			return invite(o, cmd, p)
		},
	}
	f := cmd.Flags()
	p.as = protocol.RoleNode
	f.Var(choiceFlag[string]{&p.as, roles}, "as", "role to pair: node (runs tools) or client (shows and approves)")
	f.StringVar(&p.name, "name", "", "name for the paired machine")
	f.IntVar(&p.minutes, "minutes", 10, "minutes until the invitation expires, 1 to 60")
	f.IntVar(&p.days, "days", 0, "days until the pairing expires (default: never)")
	f.StringSliceVar(&p.scopes, "may", nil, "scopes of a client: read, chat, invoke, approve, admin (default: all)")
	f.StringVar(&p.gateway, "gateway", "", "address of the gateway, `HOST:PORT` (default: search the local network)")
	f.BoolVar(&p.ask, "ask", false, "request pairing without an invitation; the person at the gateway decides")
	f.StringVar(&p.ssh, "ssh", "", "pair `HOST` over SSH, which verifies its key, so no words are compared; node flags and folders apply to HOST")
	f.StringVar(&p.sshCommand, "ssh-command", "ssh", "SSH program")
	f.BoolVar(&p.key, "key", false, "print this machine's key and exit")
	f.BoolVar(&p.noQR, "no-qr", false, "do not print a QR code")
	p.node.add(cmd, "id", true)
	cmd.AddCommand(append(pairCommands(o), gatewaysCommand(o), leaveCommand(o), pairResetCommand(o))...)
	return cmd
}

// check returns an error for flags and arguments that contradict each other or are out of range.
func (p pairFlags) check(cmd *cobra.Command, args []string, invitation string) error {
	switch {
	case len(args) > 0 && invitation == "":
		return usageError("the link or code is empty; \"fairlead pair\" without an argument creates an invitation")
	case p.minutes < 1 || p.minutes > 60:
		return usageError("--minutes must be 1 to 60, not %d", p.minutes)
	case p.days < 0 || p.days > 3650:
		return usageError("--days must be 1 to 3650, or 0 for no expiry, not %d", p.days)
	case slices.ContainsFunc(p.scopes, func(s string) bool { return !slices.Contains(pairing.ClientScopes, protocol.Scope(s)) }):
		return usageError("--may must be a list of read, chat, invoke, approve and admin, not %q", strings.Join(p.scopes, ","))
	// Otherwise an unset variable of a script would grant all rights.
	case cmd.Flags().Changed("may") && len(p.scopes) == 0:
		return usageError("--may is empty: omit it to grant every scope, or list some of read, chat, invoke, approve and admin")
	case len(p.scopes) > 0 && p.as != protocol.RoleClient:
		return usageError("--may is for clients: add --as client")
	case p.ssh != "" && (p.as != protocol.RoleNode || p.ask || len(args) > 0):
		return usageError("--ssh pairs a node: remove --as client, --ask, and the link or code")
	case cmd.Flags().Changed("ssh") && strings.TrimSpace(p.ssh) == "":
		return usageError("--ssh is empty: give the host as for ssh")
	case strings.HasPrefix(p.ssh, "-"):
		return usageError("--ssh %q starts with a dash and is not a host name; put SSH options into --ssh-command", p.ssh)
	case strings.TrimSpace(p.sshCommand) == "":
		return usageError("--ssh-command is empty: give the program or omit the flag")
	}
	return nil
}

// identity returns this device's key and its paired gateways.
func (o *options) identity() (identity.Key, *identity.Peers, error) {
	home, err := o.homeDir()
	if err != nil {
		return identity.Key{}, nil, err
	}
	secrets := keychain.Open(home)
	id, err := identity.OpenKey(secrets)
	return id, identity.OpenPeers(home, secrets), err
}

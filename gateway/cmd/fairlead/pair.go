package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"fairlead/gateway"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/peer/identity"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/peer/pake"
	"fairlead/gateway/protocol"
	"fairlead/node/setup"
)

// roles are the roles in which a machine can be paired.
var roles = []string{protocol.RoleNode, protocol.RoleClient}

// pairFlags are the flags of fairlead pair.
type pairFlags struct {
	as, name, gateway, ssh, sshCommand string
	minutes, days                      int
	ask, key, noQR, unattended         bool
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
	f.Var(choiceFlag[string]{&p.as, roles}, "as", "role of the paired device: node (a machine that runs tools) or client (a controller, which shows chats and approvals)")
	f.StringVar(&p.name, "name", "", "name for the paired machine")
	f.IntVar(&p.minutes, "minutes", 10, "minutes until the invitation expires, 1 to 60")
	f.IntVar(&p.days, "days", 0, "days until the pairing expires (default: never)")
	f.StringSliceVar(&p.scopes, "may", nil, "scopes of a client: read, chat, invoke, approve, admin (default: all)")
	f.StringVar(&p.gateway, "gateway", "", "address of the gateway, `HOST:PORT` (default: search the local network)")
	f.BoolVar(&p.ask, "ask", false, "request pairing without an invitation; the person at the gateway decides")
	f.StringVar(&p.ssh, "ssh", "", "pair `HOST` over SSH, which verifies its key, so no words are compared; node flags and folders apply to HOST")
	f.StringVar(&p.sshCommand, "ssh-command", "ssh", "SSH program")
	f.BoolVar(&p.key, "key", false, "print this machine's key and exit")
	f.BoolVar(&p.unattended, "unattended", false, "pair the machine that uses the invitation without a question; whoever has the link or code can pair one")
	f.BoolVar(&p.noQR, "no-qr", false, "do not print a QR code")
	p.node.Add(f, "id", true)
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
	case slices.ContainsFunc(p.scopes, func(s string) bool { return !slices.Contains(protocol.ClientScopes, protocol.Scope(s)) }):
		return usageError("--may must be a list of read, chat, invoke, approve and admin, not %q", strings.Join(p.scopes, ","))
	// Otherwise an unset variable of a script would grant all rights.
	case cmd.Flags().Changed("may") && len(p.scopes) == 0:
		return usageError("--may is empty: omit it to grant every scope, or list some of read, chat, invoke, approve and admin")
	case len(p.scopes) > 0 && p.as != protocol.RoleClient:
		return usageError("--may is for clients: add --as client")
	case p.unattended && (p.as != protocol.RoleNode || p.ssh != "" || p.ask || len(args) > 0):
		return usageError("--unattended is for invitations of nodes: remove --as client, --ssh, --ask, and the link or code")
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
	return setup.Identity(home)
}

// join pairs this machine.
func join(o *options, cmd *cobra.Command, p pairFlags, invitation string) error {
	id, peers, err := o.identity()
	if err != nil {
		return err
	}
	j := setup.NewJoin(cmd.Context(), cmd.InOrStdin(), cmd.ErrOrStderr())
	j.Key, j.Peers, j.Invitation = id, peers, invitation
	if p.gateway != "" {
		j.Gateways = []string{p.gateway}
	}
	host, _ := os.Hostname()
	j.Applicant = pake.Applicant{Role: protocol.RoleClient, Name: host, Hostname: host, OS: runtime.GOOS, Platform: runtime.GOOS, Version: gateway.Version}
	if p.as == protocol.RoleNode {
		if j.Applicant, err = p.applicant(o); err != nil {
			return err
		}
	}
	peer, err := j.Run(cmd.Context())
	for free := protocol.FreeName(err); free != "" && terminalOf(cmd.InOrStdin()) >= 0; free = protocol.FreeName(err) {
		fmt.Fprintf(cmd.ErrOrStderr(), "%s\nName of this machine [%s]: ", format.Capital(err.Error()), free)
		line, readErr := setup.ReadLine(cmd.Context(), cmd.InOrStdin())
		if readErr != nil {
			break
		}
		p.node.ID = cmp.Or(strings.TrimSpace(line), string(free))
		if err := cmd.Flags().Set("id", p.node.ID); err != nil { // for the command that is printed
			return err
		}
		if j.Applicant, err = p.applicant(o); err != nil {
			return err
		}
		peer, err = j.Run(cmd.Context())
	}
	if err != nil {
		return setup.WithFlag(err)
	}
	home, err := o.homeDir()
	if err != nil {
		return err
	}
	if o.json {
		return printJSON(cmd.OutOrStdout(), peer)
	}
	fmt.Fprintf(cmd.OutOrStdout(), "Paired with %s. This machine's key is stored in: %s.\n", peer.Name, keychain.Open(home).Where())
	if p.as == protocol.RoleNode {
		fmt.Fprintf(cmd.OutOrStdout(), "To start its node: %s\n", p.node.line(cmd))
	} else {
		fmt.Fprintf(cmd.OutOrStdout(), "To use it: fairlead --url %s status\n", peer.Name)
	}
	return nil
}

// applicant describes the node of the flags.
func (p pairFlags) applicant(o *options) (pake.Applicant, error) {
	opts, err := p.node.options(o)
	if err != nil {
		return pake.Applicant{}, err
	}
	return setup.Applicant(opts)
}

// pairSSH pairs a machine over SSH: it reads the key there and passes the link.
func pairSSH(o *options, cmd *cobra.Command, p pairFlags) error {
	// The login shell there gets the words as one line and may not be sh, so it is only asked to
	// start sh. A node installed by our own script is in ~/.local/bin, perhaps not in its PATH.
	remote := func(ctx context.Context, stdin, line string) (string, error) {
		words := strings.Fields(p.sshCommand)
		line = `PATH="$PATH:$HOME/.local/bin"; ` + line
		// "--" ends the options of ssh: the host or command cannot be taken for one.
		run := exec.CommandContext(ctx, words[0], append(words[1:], "--", p.ssh, "sh -c "+singleQuoted(line))...)
		// ssh gets standard error itself: a connection that it leaves open would hold a pipe open.
		run.Stdin, run.Stderr = strings.NewReader(stdin), os.Stderr
		out, err := run.Output()
		return strings.TrimSpace(string(out)), err
	}
	key, err := remote(cmd.Context(), "", "if command -v fairlead >/dev/null; then fairlead pair --key; else fairlead-node --key; fi")
	var ended *exec.ExitError
	switch {
	case cmd.Context().Err() != nil:
		return cmd.Context().Err()
	case errors.As(err, &ended) && ended.ExitCode() == notFound:
		//lint:ignore ST1005 it begins with a name
		return fmt.Errorf("Fairlead is not installed on %s: \"fairlead pair\" prints a command that installs it", p.ssh)
	case ended != nil && ended.ExitCode() != sshFailed: // the failed command has printed the reason
		return fmt.Errorf("read the key of %s over SSH: %w", p.ssh, err)
	case err != nil:
		return fmt.Errorf("reach %s over SSH: %w", p.ssh, err)
	}
	if len(key) != 64 {
		return fmt.Errorf("%s answered %.80q instead of its key", p.ssh, key)
	}
	return o.withGateway(cmd, func(ctx context.Context, c *connection) error {
		invite, err := call(ctx, c, protocol.DeviceInviteTo, protocol.DeviceInviteParams{Role: protocol.RoleNode, Name: p.name, Device: key, PairedFor: p.days})
		if err != nil {
			return err
		}
		// These are flags of the node there.
		flags := strings.Join(append([]string{""}, p.node.arguments(cmd, false, "")...), " ")
		_, err = remote(ctx, invite.Link+"\n", fmt.Sprintf("if command -v fairlead >/dev/null; then fairlead pair -%s; else fairlead-node --pair - --only-pair%[1]s; fi", flags))
		if err == nil { // not every shell reports that it could not
			err = checkPaired(ctx, c, key, invite)
		}
		if err != nil {
			withdraw(ctx, c, invite)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			return fmt.Errorf("pair %s over SSH: %w", p.ssh, err)
		}
		fmt.Fprintf(cmd.OutOrStdout(), "Paired %s. To start its node there: fairlead node%s, or fairlead-node%[2]s\n", p.ssh, flags)
		return nil
	})
}

// Exit codes: ssh reports its own errors with a code that no command has (ssh(1)), and a shell a
// command that it does not find (POSIX, 2.8.2).
const (
	sshFailed = 255
	notFound  = 127
)

// checkPaired checks whether the device with this key has used an invitation.
func checkPaired(ctx context.Context, c *connection, key string, invite protocol.DeviceInvite) error {
	r, err := call(ctx, c, protocol.DeviceList, protocol.Empty{})
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(r.Devices, func(d protocol.Device) bool {
		return d.Fingerprint == key && d.Role == protocol.RoleNode && d.RevokedAt == 0 && d.PairedAt >= invite.CreatedAt
	}) {
		return errors.New("the machine did not use the invitation")
	}
	return nil
}

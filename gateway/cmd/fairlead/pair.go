package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"fairlead/gateway/pairing"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/peer/trust"
	"fairlead/gateway/protocol"
)

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
		Short: "Let another machine in, or pair this one with a gateway elsewhere",
		Long: `Without an argument: makes an invitation for another machine, waits for whoever takes it, shows who that is, and asks you.
With a link or code from there: pairs this machine, and prints the command that starts its node: what the person at the gateway has let in is what the
flags of both say, so they are the same.

Both ends show the same four words. If they differ, somebody sits in between: say no.`,
		Example: "  fairlead pair\n  fairlead pair 'fairlead://pair?…' --workspace ~/work\n  fairlead pair 7-maple-otter-tulip\n  fairlead pair --ask --gateway 192.168.1.7:8788\n  fairlead pair --ssh me@server",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			invitation := strings.TrimSpace(strings.Join(args, " "))
			switch {
			case len(args) > 0 && invitation == "":
				return &exitError{code: exitUsage, err: errors.New("the link or code is empty. Without any, \"fairlead pair\" makes an invitation here")}
			case p.as != protocol.RoleNode && p.as != protocol.RoleClient:
				return &exitError{code: exitUsage, err: errors.New("--as is node or client")}
			case p.minutes < 1 || p.minutes > 60:
				return &exitError{code: exitUsage, err: fmt.Errorf("--minutes is 1 to 60, not %d", p.minutes)}
			case p.days < 0 || p.days > 3650:
				return &exitError{code: exitUsage, err: fmt.Errorf("--days is 1 to 3650, or 0 for no end, not %d", p.days)}
			case slices.ContainsFunc(p.scopes, unknownScope):
				return &exitError{code: exitUsage, err: fmt.Errorf("--may is a list of read, chat, invoke, approve and admin, not %q", strings.Join(p.scopes, ","))}
			// Otherwise an unset variable of a script would grant all rights.
			case cmd.Flags().Changed("may") && len(p.scopes) == 0:
				return &exitError{code: exitUsage, err: errors.New("--may is empty: leave it out to give every right, or list some of read, chat, invoke, approve and admin")}
			case len(p.scopes) > 0 && p.as != protocol.RoleClient:
				return &exitError{code: exitUsage, err: errors.New("--may is for a client: add --as client. A node has the rights of a machine")}
			case p.ssh != "" && (p.as != protocol.RoleNode || p.ask || len(args) > 0):
				return &exitError{code: exitUsage, err: errors.New("--ssh pairs a node, without a link or code: leave out what else is there")}
			case cmd.Flags().Changed("ssh") && strings.TrimSpace(p.ssh) == "":
				return &exitError{code: exitUsage, err: errors.New("--ssh is empty: name the host, as ssh knows it")}
			case strings.HasPrefix(p.ssh, "-"):
				return &exitError{code: exitUsage, err: fmt.Errorf("--ssh %q starts with a dash, which no host name does: name the host, and put options of ssh into --ssh-command", p.ssh)}
			case strings.TrimSpace(p.sshCommand) == "":
				return &exitError{code: exitUsage, err: errors.New("--ssh-command is empty: name the program, or leave it out")}
			case p.key:
				return o.printKey(cmd)
			case p.ssh != "":
				return o.pairSSH(cmd, p)
			case invitation == "-":
				line, err := bufio.NewReader(cmd.InOrStdin()).ReadString('\n')
				if err != nil && !errors.Is(err, io.EOF) {
					return fmt.Errorf("read the invitation: %w", err)
				}
				if line = strings.TrimSpace(line); line == "" {
					return &exitError{code: exitUsage, err: errors.New("there is no link or code in the input")}
				}
				return o.join(cmd, p, line)
			case invitation != "" || p.ask:
				return o.join(cmd, p, invitation)
			}
			return o.invite(cmd, p)
		},
	}
	f := cmd.Flags()
	f.StringVar(&p.as, "as", protocol.RoleNode, "what is paired: a node, which runs tools, or a client, which looks and decides")
	f.StringVar(&p.name, "name", "", "what to call the machine that comes")
	f.IntVar(&p.minutes, "minutes", 10, "how long the invitation holds, 1 to 60")
	f.IntVar(&p.days, "days", 0, "for how many days the pairing holds (default: without an end)")
	f.StringSliceVar(&p.scopes, "may", nil, "what a client may do: read, chat, invoke, approve, admin (default: all)")
	f.StringVar(&p.gateway, "gateway", "", "address of the gateway, `HOST:PORT`; it is looked for on the local network otherwise")
	f.BoolVar(&p.ask, "ask", false, "without an invitation: have the person at the gateway asked")
	f.StringVar(&p.ssh, "ssh", "", "pair `HOST` over SSH: its key is read there, so nobody has to compare words; the node's flags and folders are those there")
	f.StringVar(&p.sshCommand, "ssh-command", "ssh", "the SSH program")
	f.BoolVar(&p.key, "key", false, "print this machine's key and end")
	f.BoolVar(&p.noQR, "no-qr", false, "print no QR code")
	p.node.add(cmd)
	cmd.AddCommand(pairListCommand(o), pairAnswerCommand(o, "approve", "Let in who asks, or allow a machine what it offers more"), pairAnswerCommand(o, "deny", "Refuse a request"),
		deviceCommand(o, "revoke", "End a pairing", protocol.DeviceRevoke), deviceCommand(o, "rotate", "Replace a device's token; it fetches the new one by itself", protocol.DeviceRotate),
		pairForgetCommand(o), pairRenameCommand(o), pairUntilCommand(o), gatewaysCommand(o), leaveCommand(o), pairResetCommand(o))
	return cmd
}

func unknownScope(s string) bool { return !slices.Contains(pairing.ClientScopes, protocol.Scope(s)) }

func (o *options) printKey(cmd *cobra.Command) error {
	id, _, err := o.identity()
	if err != nil {
		return err
	}
	fmt.Fprintln(cmd.OutOrStdout(), trust.Fingerprint(id.Public()))
	return nil
}

// identity returns this device's key and its paired gateways.
func (o *options) identity() (trust.Identity, *trust.Peers, error) {
	home, err := o.homeDir()
	if err != nil {
		return trust.Identity{}, nil, err
	}
	secrets := keychain.Open(home)
	id, err := trust.OpenIdentity(secrets)
	return id, trust.OpenPeers(home, secrets), err
}

// readLine reads a line unless ctx ends first; the reading goroutine then stays until the program
// ends.
func readLine(ctx context.Context, in io.Reader) (string, error) {
	type read struct {
		text string
		err  error
	}
	done := make(chan read, 1)
	go func() {
		text, err := bufio.NewReader(in).ReadString('\n')
		done <- read{text, err}
	}()
	select {
	case r := <-done:
		if r.text != "" {
			return r.text, nil
		}
		return "", r.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"fairlead/gateway"
	"fairlead/gateway/peer/keychain"
	"fairlead/gateway/peer/pake"
	"fairlead/gateway/protocol"
	"fairlead/node/setup"
)

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
		opts, err := p.node.options(o)
		if err != nil {
			return err
		}
		if j.Applicant, err = setup.Applicant(opts); err != nil {
			return err
		}
	}
	peer, err := j.Run(cmd.Context())
	if err != nil {
		return err
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

// pairSSH pairs a machine on which the person can log in: it reads the key there and passes the
// link through SSH.
func pairSSH(o *options, cmd *cobra.Command, p pairFlags) error {
	// The login shell there gets the words as one line and may not be sh, so it is only asked to
	// start sh. A node installed by our own script is in ~/.local/bin, which may not be in its
	// PATH.
	remote := func(ctx context.Context, stdin, line string) (string, error) {
		words := strings.Fields(p.sshCommand)
		line = `PATH="$PATH:$HOME/.local/bin"; ` + line
		// "--" ends the options of ssh: neither the host nor the command can be taken for an
		// option.
		run := exec.CommandContext(ctx, words[0], append(words[1:], "--", p.ssh, "sh -c "+singleQuoted(line))...)
		// ssh gets standard error itself: a connection that it leaves open would also hold a pipe
		// open.
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
		flags := strings.Join(append([]string{""}, nodeArguments(cmd, false, "")...), " ")
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

package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"fairlead/gateway/peer/identity"
	"fairlead/gateway/protocol"
)

func pairListCommand(o *options) *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List devices, pending requests and open invitations", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.withGateway(cmd.Context(), func(ctx context.Context, c *connection) error {
				r, err := call(ctx, c, protocol.DeviceList, protocol.Empty{})
				if err != nil {
					return err
				}
				out := cmd.OutOrStdout()
				if o.json {
					return printJSON(out, r)
				}
				w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
				for _, d := range r.Devices {
					fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", d.ID, d.Name, d.Role, deviceState(d), strings.Join(d.Words, " "))
				}
				w.Flush()
				if len(r.Devices) == 0 {
					fmt.Fprintln(out, "No device is paired. To add one: fairlead pair")
				}
				for _, q := range r.Requests {
					fmt.Fprintf(out, "\nrequest %s, %s\n", q.ID, ago(q.CreatedAt))
					printRequest(out, q)
				}
				for _, i := range r.Invites {
					fmt.Fprintf(out, "\ninvitation %s for a %s, until %s\n", i.ID, i.Role, time.UnixMilli(i.ExpiresAt).Format("15:04"))
				}
				return nil
			})
		},
	}
}

func deviceState(d protocol.Device) string {
	switch {
	case d.RevokedAt > 0:
		return "revoked by " + d.RevokedBy + " " + ago(d.RevokedAt)
	case d.ExpiresAt > 0 && d.ExpiresAt <= time.Now().UnixMilli():
		return "access expired"
	case d.Online:
		return "online" + expiryText(d)
	case d.LastSeenAt > 0:
		return "offline, last seen " + ago(d.LastSeenAt) + expiryText(d)
	}
	return "never connected" + expiryText(d)
}

// expiryText says when a pairing expires, if it does.
func expiryText(d protocol.Device) string {
	if d.ExpiresAt == 0 {
		return ""
	}
	return ", access until " + time.UnixMilli(d.ExpiresAt).Format("2006-01-02 15:04")
}

func pairAnswerCommand(o *options, verb, short string) *cobra.Command {
	return &cobra.Command{
		Use: verb + " REQUEST", Short: short + "; \"fairlead pair list\" shows the request's ID", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.withGateway(cmd.Context(), func(ctx context.Context, c *connection) error {
				p := protocol.DeviceRequestParams{ID: args[0]}
				if verb == "deny" {
					if _, err := call(ctx, c, protocol.DeviceDeny, p); err != nil || o.json {
						return err
					}
					fmt.Fprintln(cmd.OutOrStdout(), "Request denied.")
					return nil
				}
				d, err := call(ctx, c, protocol.DeviceApprove, p)
				if err != nil {
					return err
				}
				if o.json {
					return printJSON(cmd.OutOrStdout(), d)
				}
				fmt.Fprintln(cmd.OutOrStdout(), pairedText(d))
				return nil
			})
		},
	}
}

// pairedText describes the rights of a device that the person has just approved.
func pairedText(d protocol.Device) string {
	if d.Role == protocol.RoleClient {
		var rights []string
		for _, s := range d.Scopes {
			rights = append(rights, string(s))
		}
		return fmt.Sprintf("%s is paired as a client. It can: %s.", d.Name, strings.Join(rights, ", "))
	}
	tools := "none"
	if d.Reach != nil && len(d.Reach.Tools) > 0 {
		tools = strings.Join(d.Reach.Tools, ", ")
	}
	return fmt.Sprintf("%s is paired as the machine %s. Its tools: %s.", d.Name, d.NodeID, flat(tools))
}

// device finds a device by ID, name or machine.
func device(ctx context.Context, c *connection, text string) (protocol.Device, error) {
	if text == "" {
		return protocol.Device{}, &exitError{code: exitUsage, err: errors.New("the device name is empty; to list devices: fairlead pair list")}
	}
	r, err := call(ctx, c, protocol.DeviceList, protocol.Empty{})
	if err != nil {
		return protocol.Device{}, err
	}
	var found []protocol.Device
	for _, d := range r.Devices {
		if string(d.ID) == text {
			return d, nil
		}
		if strings.EqualFold(d.Name, text) || string(d.NodeID) == text {
			found = append(found, d)
		}
	}
	switch len(found) {
	case 0:
		return protocol.Device{}, protocol.ErrNotFound.With(fmt.Sprintf("no paired device is named %s; to list devices: fairlead pair list", text))
	case 1:
		return found[0], nil
	}
	var ids []string
	for _, d := range found {
		ids = append(ids, fmt.Sprintf("%s (%s)", d.ID, d.Role))
	}
	return protocol.Device{}, protocol.ErrConflict.With(fmt.Sprintf("%d devices are named %s; use an ID instead: %s", len(found), text, strings.Join(ids, ", ")))
}

func deviceCommand(o *options, verb, short string, m protocol.Method[protocol.DeviceParams, protocol.Device]) *cobra.Command {
	return &cobra.Command{
		Use: verb + " DEVICE", Short: short, Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error { return onDevice(o, cmd, args[0], m) },
	}
}

func onDevice(o *options, cmd *cobra.Command, name string, m protocol.Method[protocol.DeviceParams, protocol.Device]) error {
	return o.withGateway(cmd.Context(), func(ctx context.Context, c *connection) error {
		d, err := device(ctx, c, name)
		if err != nil {
			return err
		}
		d, err = call(ctx, c, m, protocol.DeviceParams{ID: d.ID})
		if err == nil && o.json {
			err = printJSON(cmd.OutOrStdout(), d)
		} else if err == nil && d.RevokedAt > 0 {
			noteOtherRole(ctx, cmd, c, d)
		}
		return err
	})
}

// noteOtherRole prints a note when a device whose pairing has ended still has access in another
// role.
func noteOtherRole(ctx context.Context, cmd *cobra.Command, c *connection, ended protocol.Device) {
	r, err := call(ctx, c, protocol.DeviceList, protocol.Empty{})
	if err != nil {
		return
	}
	for _, d := range r.Devices {
		if d.Fingerprint == ended.Fingerprint && d.ID != ended.ID && d.RevokedAt == 0 {
			fmt.Fprintf(cmd.ErrOrStderr(), "The same device is still paired as a %s. To revoke that too: fairlead pair revoke %s\n", d.Role, d.ID)
		}
	}
}

func pairForgetCommand(o *options) *cobra.Command {
	return &cobra.Command{
		Use: "forget DEVICE", Short: "Revoke a device and delete its record", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.withGateway(cmd.Context(), func(ctx context.Context, c *connection) error {
				d, err := device(ctx, c, args[0])
				if err != nil {
					return err
				}
				if _, err = call(ctx, c, protocol.DeviceForget, protocol.DeviceParams{ID: d.ID}); err == nil && !o.json {
					noteOtherRole(ctx, cmd, c, d)
				}
				return err
			})
		},
	}
}

func pairRenameCommand(o *options) *cobra.Command {
	return &cobra.Command{
		Use: "rename DEVICE NAME", Short: "Rename a device", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return o.withGateway(cmd.Context(), func(ctx context.Context, c *connection) error {
				d, err := device(ctx, c, args[0])
				if err != nil {
					return err
				}
				_, err = call(ctx, c, protocol.DeviceUpdate, protocol.DeviceUpdateParams{ID: d.ID, Name: &args[1]})
				return err
			})
		},
	}
}

func pairUntilCommand(o *options) *cobra.Command {
	return &cobra.Command{
		Use: "until DEVICE END", Short: "Set when a device's access expires: 1h, today, 30d, never or now", Args: cobra.ExactArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			end, ok := protocol.RuleEndByKey(args[1])
			if !ok && args[1] != "now" {
				return &exitError{code: exitUsage, err: fmt.Errorf("END must be 1h, today, 30d, never or now, not %s", args[1])}
			}
			return o.withGateway(cmd.Context(), func(ctx context.Context, c *connection) error {
				d, err := device(ctx, c, args[0])
				if err != nil {
					return err
				}
				until := time.Now().UnixMilli()
				if ok {
					until = end.At(time.Now())
				}
				d, err = call(ctx, c, protocol.DeviceUpdate, protocol.DeviceUpdateParams{ID: d.ID, ExpiresAt: &until})
				if err == nil && o.json {
					return printJSON(cmd.OutOrStdout(), d)
				}
				return err
			})
		},
	}
}

// pairingsToLeave finds the pairings to leave with a gateway, in one role or in all. Pairings that
// this machine has left already, without the gateway knowing, are returned only if there are no
// others.
func pairingsToLeave(peers *identity.Peers, name, role string) ([]identity.Peer, error) {
	peer, err := peers.Find(name, role)
	list, listErr := peers.List()
	switch {
	case listErr != nil:
		return nil, listErr
	case err == nil:
		return slices.DeleteFunc(list, func(p identity.Peer) bool { return p.Pin != peer.Pin || p.EndedAt > 0 || role != "" && p.Role != role }), nil
	case !errors.Is(err, protocol.ErrNotFound):
		return nil, err
	}
	list = slices.DeleteFunc(list, func(p identity.Peer) bool {
		return p.EndedAt == 0 || !strings.EqualFold(p.Name, name) || role != "" && p.Role != role
	})
	if len(list) == 0 {
		return nil, err
	}
	return list, nil
}

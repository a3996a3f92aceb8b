package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"fairlead/gateway/peer/identity"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
)

func gatewaysCommand(o *options) *cobra.Command {
	return &cobra.Command{
		Use: "gateways", Short: "List the gateways this machine is paired with", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, peers, err := o.identity()
			if err != nil {
				return err
			}
			list, err := peers.List()
			if err != nil {
				return err
			}
			if o.json {
				// Without gateways, print an empty list and not null.
				return printJSON(cmd.OutOrStdout(), append([]identity.Peer{}, list...))
			}
			if len(list) == 0 {
				_, err := fmt.Fprintln(cmd.OutOrStdout(), "This machine is not paired with a gateway. To pair it with a link or code from the gateway: fairlead pair LINK")
				return err
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			for _, p := range list {
				state := "paired " + ago(p.PairedAt)
				if p.EndedAt > 0 {
					state = "left " + ago(p.EndedAt) + ", not confirmed by the gateway yet"
				}
				if p.Refusal != nil {
					state = p.Refusal.Reason
					if p.Refusal.By != "" {
						state += " by " + p.Refusal.By
					}
					if p.Refusal.At > 0 {
						state += " " + ago(p.Refusal.At)
					}
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", p.Name, p.Role, state, strings.Join(p.Addresses, " "))
			}
			return w.Flush()
		},
	}
}

func leaveCommand(o *options) *cobra.Command {
	var as string
	cmd := &cobra.Command{
		Use: "leave GATEWAY", Short: "End this machine's pairing with a gateway", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if as != "" && as != protocol.RoleNode && as != protocol.RoleClient {
				return &exitError{code: exitUsage, err: fmt.Errorf("--as must be node or client, not %q", as)}
			}
			id, peers, err := o.identity()
			if err != nil {
				return err
			}
			list, err := pairingsToLeave(peers, args[0], as)
			if err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), dialLimit)
			defer cancel()
			unreachable := ""
			for _, p := range list {
				if p.Refusal != nil {
					err = peers.Forget(p.ID())
				} else if err = client.EndPairing(ctx, peers, p.ID(), id, nil); errors.Is(err, protocol.ErrUnavailable) {
					unreachable, err = p.Name, nil
				}
				if err != nil {
					return err
				}
			}
			if unreachable != "" {
				fmt.Fprintf(cmd.ErrOrStderr(), "%s could not be reached. It is notified when a node starts on this machine or when you run this command again. You can also revoke this machine there.\n", unreachable)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&as, "as", "", "end only the pairing as `ROLE`: node or client (default: both)")
	return cmd
}

func networkCommand(o *options) *cobra.Command {
	cmd := &cobra.Command{
		Use: "network", Short: "Show or change whether other machines can reach this gateway", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.withGateway(cmd.Context(), func(ctx context.Context, c *connection) error { return o.printNetwork(ctx, c, cmd.OutOrStdout()) })
		},
	}
	off := &cobra.Command{
		Use: "off", Short: "Close the gateway to other machines", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.withGateway(cmd.Context(), func(ctx context.Context, c *connection) error {
				return changeSetting(ctx, c, "network.enabled", false)
			})
		},
	}
	discovery := &cobra.Command{
		Use: "discovery on|off", Short: "Make this gateway visible on the local network, or hide it", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] != "on" && args[0] != "off" {
				return &exitError{code: exitUsage, err: fmt.Errorf("the argument must be on or off, not %q", args[0])}
			}
			return o.withGateway(cmd.Context(), func(ctx context.Context, c *connection) error {
				return changeSetting(ctx, c, "network.discovery", args[0] == "on")
			})
		},
	}
	cmd.AddCommand(networkOnCommand(o), off, discovery)
	return cmd
}

func networkOnCommand(o *options) *cobra.Command {
	var listen string
	cmd := &cobra.Command{
		Use: "on", Short: "Let paired devices on other machines reach the gateway", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.withGateway(cmd.Context(), func(ctx context.Context, c *connection) error {
				if listen != "" {
					if err := changeSetting(ctx, c, "network.listen", listen); err != nil {
						return err
					}
				}
				if err := changeSetting(ctx, c, "network.enabled", true); err != nil {
					return err
				}
				if err := waitForNetwork(ctx, c); err != nil {
					return err
				}
				return o.printNetwork(ctx, c, cmd.OutOrStdout())
			})
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "", "address to listen on, `HOST:PORT` (default :8788, all interfaces)")
	return cmd
}

// waitForNetwork waits until the gateway listens, for at most dialLimit.
func waitForNetwork(ctx context.Context, c *connection) error {
	for end := time.Now().Add(dialLimit); time.Now().Before(end); time.Sleep(pollInterval / 10) {
		r, err := call(ctx, c, protocol.DeviceList, protocol.Empty{})
		if err != nil {
			return err
		}
		if r.Network.Problem != "" {
			return protocol.ErrUnavailable.With(r.Network.Problem)
		}
		if r.Network.Listening {
			return nil
		}
	}
	return nil
}

func (o *options) printNetwork(ctx context.Context, c *connection, out io.Writer) error {
	r, err := call(ctx, c, protocol.DeviceList, protocol.Empty{})
	if err != nil {
		return err
	}
	n := r.Network
	switch {
	case o.json:
		return printJSON(out, n)
	case !n.Enabled:
		_, err = fmt.Fprintln(out, "off: only programs on this machine can reach the gateway")
	case n.Problem != "":
		_, err = fmt.Fprintf(out, "on, but not listening: %s\n", n.Problem)
	default:
		_, err = fmt.Fprintf(out, "on: paired devices can reach the gateway at %s\nkey: %s (%s)\nvisible on the local network: %s\n",
			strings.Join(n.Addresses, ", "), strings.Join(n.Words, " "), n.Pin, map[bool]string{true: "yes", false: "no"}[n.Discovery])
	}
	return err
}

func changeSetting(ctx context.Context, c *connection, path string, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode the setting: %w", err)
	}
	_, err = call(ctx, c, protocol.ConfigSet, protocol.ConfigSetParams{Path: path, Value: raw})
	return err
}

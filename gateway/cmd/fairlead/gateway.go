package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fairlead/gateway"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/format"
	"fairlead/gateway/protocol"
	"fairlead/node"
)

// quitLimit is how long an orderly stop may take.
const quitLimit = 5 * time.Second

func gatewayCommand(o *options) *cobra.Command {
	var listen string
	var withNode, verbose bool
	var flags nodeFlags
	cmd := &cobra.Command{
		Use:   "gateway",
		Short: "Run the gateway, and with --node also a node on this machine",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if name := givenNodeFlag(cmd); name != "" && !withNode {
				return usageError("--%s configures the node on this machine; add --node", name)
			}
			if err := checkListen(listen); err != nil {
				return err
			}
			opts, err := flags.parse()
			if err != nil {
				return err
			}
			level := slog.LevelInfo
			if verbose {
				level = slog.LevelDebug
			}
			log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level}))
			home, err := o.homeDir()
			if err != nil {
				return err
			}
			local := localOptions{home: home, listen: listen, log: log}
			if withNode {
				local.node = &opts
			}
			return local.run(cmd.Context(), func(g *gateway.Gateway) {
				log.Info("Gateway ready", "url", g.URL(), "home", home, "secrets", g.SecretsAt())
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&listen, "listen", gateway.DefaultListen, "address to listen on")
	f.BoolVar(&withNode, "node", false, "also run a node on this machine")
	f.BoolVar(&verbose, "verbose", false, "log debug messages")
	flags.Add(f, "node-id", false)
	return cmd
}

// checkListen returns an error for an invalid listen address.
func checkListen(address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil && address != "" && address != "none" {
		return usageError("--listen must be an address with a port, such as %s, or none, not %q", gateway.DefaultListen, address)
	}
	return nil
}

// givenNodeFlag returns the name of a given flag that only a node has, if there is one.
func givenNodeFlag(cmd *cobra.Command) (name string) {
	own := nodeFlagSet("node-id", false)
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if own.Lookup(f.Name) != nil {
			name = f.Name
		}
	})
	return name
}

// localOptions say which parts run in this process.
type localOptions struct {
	home, listen string
	log          *slog.Logger
	node         *node.Options // nil for none
}

// run runs a gateway, and a node on it, until ctx ends; it calls ready once the node has connected.
// They stop in order: node, gateway, store.
func (l localOptions) run(ctx context.Context, ready func(*gateway.Gateway)) error {
	slog.SetDefault(l.log)
	connected := make(chan struct{})
	o := gateway.Options{Home: l.home, Listen: l.listen, Logger: l.log, Ready: func() { close(connected) }}
	if l.node != nil {
		o.Node = l.node.ID
	}
	g, err := gateway.Open(ctx, o)
	if err != nil {
		return err
	}
	gatewayCtx, stopGateway := context.WithCancel(context.WithoutCancel(ctx))
	defer stopGateway()
	gatewayDone := crash.Result(func() error { return g.Run(gatewayCtx) })

	nodeCtx, stopNode := context.WithCancel(ctx)
	defer stopNode()
	var nodeDone chan error // nil without a node
	if l.node != nil {
		opts := *l.node
		opts.Home, opts.Dial, opts.LogDir, opts.Logger = g.Home(), g.Dial, g.LogDir(), l.log
		n, err := node.New(opts)
		if err != nil {
			stopGateway()
			return errors.Join(err, <-gatewayDone)
		}
		nodeDone = crash.Result(func() error { return n.Run(nodeCtx) })
	}
	var runErr error
	for running := true; running; {
		running = false
		select {
		case <-connected:
			ready(g)
			connected, running = nil, true // reported once
		case <-ctx.Done():
		case runErr = <-gatewayDone:
			gatewayDone <- nil
		case runErr = <-nodeDone:
			nodeDone = nil
		}
	}
	quit, cancel := context.WithTimeout(context.WithoutCancel(ctx), quitLimit)
	defer cancel()
	g.StopRuns(quit)
	stopNode()
	if nodeDone != nil {
		<-nodeDone
	}
	stopGateway()
	<-gatewayDone
	if err := g.Close(); err != nil {
		runErr = errors.Join(runErr, err)
	}
	if errors.Is(runErr, context.Canceled) {
		return nil
	}
	return runErr
}

func networkCommand(o *options) *cobra.Command {
	var listen string
	on := command("on", "Let paired devices on other machines reach the gateway", cobra.NoArgs,
		o.onGateway(func(ctx context.Context, c *connection, _ []string) error {
			if listen != "" {
				if err := changeNetwork(ctx, c, "network.listen", listen); err != nil {
					return err
				}
			}
			if err := changeNetwork(ctx, c, "network.enabled", true); err != nil {
				return err
			}
			if err := waitForNetwork(ctx, c); err != nil {
				return err
			}
			return printNetwork(ctx, c, nil)
		}))
	on.Flags().StringVar(&listen, "listen", "", "address to listen on, `HOST:PORT` (default :8788, all interfaces)")
	off := o.onGateway(func(ctx context.Context, c *connection, _ []string) error {
		return changeNetwork(ctx, c, "network.enabled", false)
	})
	discovery := func(cmd *cobra.Command, args []string) error {
		if args[0] != "on" && args[0] != "off" {
			return usageError("the argument must be on or off, not %q", args[0])
		}
		return o.withGateway(cmd, func(ctx context.Context, c *connection) error {
			return changeNetwork(ctx, c, "network.discovery", args[0] == "on")
		})
	}
	cmd := command("network", "Show or change whether other machines can reach this gateway", cobra.NoArgs, o.onGateway(printNetwork))
	cmd.AddCommand(on, command("off", "Close the gateway to other machines", cobra.NoArgs, off),
		command("discovery on|off", "Make this gateway visible on the local network, or hide it", cobra.ExactArgs(1), discovery))
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

func printNetwork(ctx context.Context, c *connection, _ []string) error {
	r, err := call(ctx, c, protocol.DeviceList, protocol.Empty{})
	return show(c, r.Network, err, func(out io.Writer, n protocol.NetworkStatus) (err error) {
		switch {
		case !n.Enabled:
			_, err = fmt.Fprintln(out, "off: other machines cannot connect to this gateway")
		case n.Problem != "":
			_, err = fmt.Fprintf(out, "on, but not listening: %s\n", n.Problem)
		default:
			_, err = fmt.Fprintf(out, "on: other machines can connect at %s\nfingerprint: %s (%s)\nvisible on the local network: %s\n",
				strings.Join(n.Addresses, ", "), format.Words(n.Words), n.Pin, map[bool]string{true: "yes", false: "no"}[n.Discovery])
		}
		return err
	})
}

// changeNetwork changes a setting of the network, unless the gateway does not have them.
func changeNetwork(ctx context.Context, c *connection, path string, value any) error {
	if err := c.requireMethod(protocol.DeviceList.Name); err != nil {
		return err
	}
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode the setting: %w", err)
	}
	_, err = call(ctx, c, protocol.ConfigSet, protocol.ConfigSetParams{Path: path, Value: raw})
	return err
}

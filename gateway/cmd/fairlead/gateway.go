package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"fairlead/gateway"
	"fairlead/gateway/protocol"
	"fairlead/node"
	"fairlead/node/sandbox"
	"fairlead/node/transfer"
	"fairlead/node/workspace"
)

// quitLimit is how long an orderly stop may take.
const quitLimit = 5 * time.Second

func gatewayCommand(o *options) *cobra.Command {
	var listen, nodeID, workspace string
	var withNode, verbose bool
	var confine confineFlags
	var receive receiveFlags
	cmd := &cobra.Command{
		Use:   "gateway",
		Short: "Run the gateway, and with --node also a node on this machine",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if name := nodeFlagSet(cmd); name != "" && !withNode {
				return &exitError{code: exitUsage, err: fmt.Errorf("--%s configures the node on this machine; add --node", name)}
			}
			if err := checkListen(listen); err != nil {
				return err
			}
			if nodeID != "" {
				if _, err := protocol.ParseNodeID(nodeID); err != nil {
					return &exitError{code: exitUsage, err: err}
				}
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
			local := localOptions{home: home, listen: listen, log: log, node: withNode, nodeID: nodeID, workspace: workspace}
			if local.confine, err = confine.parse(); err != nil {
				return err
			}
			if local.receive, err = receive.parse(); err != nil {
				return err
			}
			return local.run(cmd.Context(), func(g *gateway.Gateway) {
				log.Info("Gateway ready", "url", g.URL(), "home", home, "secrets", g.SecretsAt())
			})
		},
	}
	f := cmd.Flags()
	f.StringVar(&listen, "listen", gateway.DefaultListen, "address to listen on")
	f.BoolVar(&withNode, "node", false, "also run a node on this machine")
	f.StringVar(&nodeID, "node-id", "", "name of the node (default: the host's name)")
	f.StringVar(&workspace, "workspace", "", "the node's workspace (default: the current folder)")
	f.BoolVar(&verbose, "verbose", false, "log debug messages")
	confine.add(cmd)
	receive.add(cmd)
	return cmd
}

// checkListen returns an error for an invalid listen address.
func checkListen(address string) error {
	_, port, err := net.SplitHostPort(address)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil && address != "" && address != "none" {
		return &exitError{code: exitUsage, err: fmt.Errorf("--listen must be an address with a port, such as %s, or none, not %q", gateway.DefaultListen, address)}
	}
	return nil
}

// nodeFlagSet returns the name of a given flag that only a node has, if there is one.
func nodeFlagSet(cmd *cobra.Command) (name string) {
	own := &cobra.Command{}
	new(nodeFlags).add(own)
	cmd.Flags().Visit(func(f *pflag.Flag) {
		if f.Name == "node-id" || own.Flags().Lookup(f.Name) != nil {
			name = f.Name
		}
	})
	return name
}

// localOptions say which parts run in this process.
type localOptions struct {
	home, listen      string
	log               *slog.Logger
	node              bool
	nodeID, workspace string
	confine           node.Confinement
	receive           transfer.Policy
}

// run runs a gateway, and a node on it, until ctx ends; it calls ready once both are running. They
// stop in order: node, gateway, store.
func (l localOptions) run(ctx context.Context, ready func(*gateway.Gateway)) error {
	slog.SetDefault(l.log)
	g, err := gateway.Open(ctx, gateway.Options{Home: l.home, Listen: l.listen, Logger: l.log})
	if err != nil {
		return err
	}
	gatewayCtx, stopGateway := context.WithCancel(context.WithoutCancel(ctx))
	defer stopGateway()
	gatewayDone := make(chan error, 1)
	go func() { gatewayDone <- g.Run(gatewayCtx) }()

	nodeCtx, stopNode := context.WithCancel(ctx)
	defer stopNode()
	nodeDone := make(chan error, 1)
	if l.node {
		n, err := node.New(nodeOptions(l, g))
		if err != nil {
			stopGateway()
			return errors.Join(err, <-gatewayDone)
		}
		go func() { nodeDone <- n.Run(nodeCtx) }()
	} else {
		nodeDone <- nil
	}
	ready(g)

	var runErr error
	nodeLeft := false
	select {
	case <-ctx.Done():
	case runErr = <-gatewayDone:
		gatewayDone <- nil
	case runErr = <-nodeDone:
		nodeLeft = true
		if runErr == nil { // no node was requested: wait for the end of ctx or of the gateway
			select {
			case <-ctx.Done():
			case runErr = <-gatewayDone:
				gatewayDone <- nil
			}
		}
	}
	quit, cancel := context.WithTimeout(context.WithoutCancel(ctx), quitLimit)
	defer cancel()
	g.StopRuns(quit)
	stopNode()
	if !nodeLeft {
		<-nodeDone
	}
	stopGateway()
	<-gatewayDone
	if err := g.Close(quit); err != nil {
		runErr = errors.Join(runErr, err)
	}
	if errors.Is(runErr, context.Canceled) {
		return nil
	}
	return runErr
}

func nodeOptions(l localOptions, g *gateway.Gateway) node.Options {
	id, dir := l.nodeID, l.workspace
	if id == "" {
		host, _ := os.Hostname()
		id = string(protocol.CleanNodeID(host))
	}
	if dir == "" {
		dir, _ = os.Getwd()
	}
	return node.Options{
		ID: protocol.NodeID(id), Workspace: dir, Confine: l.confine, Receive: l.receive, Home: g.Home(), Dial: g.DialNode(), LogDir: g.LogDir(), Logger: l.log,
		Version: gateway.Version,
	}
}

// confineFlags are the flags that restrict the node's tools.
type confineFlags struct {
	mode, network string
	grants        []string
	disk          bool
}

func (c *confineFlags) add(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&c.mode, "sandbox", string(sandbox.WorkspaceWrite), "what commands may change: read-only (applies to file tools and transfers too), workspace-write or full")
	f.StringVar(&c.network, "network", string(sandbox.NetBlocked), "network access of commands: blocked, ask (for each command that needs it) or allowed")
	f.StringArrayVar(&c.grants, "grant", nil, "`folder` outside the workspace that may be used too, DIR or DIR:ro; can be repeated")
	f.BoolVar(&c.disk, "whole-disk", false, "let file tools use the whole disk instead of only the workspace")
}

func (c *confineFlags) parse() (node.Confinement, error) {
	parsed, err := node.ParseConfinement(c.mode, c.network, c.grants)
	if err != nil {
		return parsed, &exitError{code: exitUsage, err: err}
	}
	if c.disk {
		parsed.Access = workspace.WholeDisk
	}
	return parsed, nil
}

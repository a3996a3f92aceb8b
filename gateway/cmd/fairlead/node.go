package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"fairlead/gateway"
	"fairlead/gateway/peer/discovery"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/node"
	"fairlead/node/direct"
	"fairlead/node/sandbox"
	"fairlead/node/transfer"
	"fairlead/node/workspace"
)

// nodeFlags are the flags for a node's identity and restrictions.
type nodeFlags struct {
	id, workspace, mode, network, direct string
	receive, receiveFrom, receiveFolder  string
	grants                               []string
	disk                                 bool
}

// add adds the flags; id is the name of the flag for the node's ID. Only a node in a process of its
// own can have direct transfers.
func (n *nodeFlags) add(cmd *cobra.Command, id string, own bool) {
	f := cmd.Flags()
	f.StringVar(&n.id, id, "", "name of the node (default: the host's name)")
	f.StringVar(&n.workspace, "workspace", "", "the node's workspace (default: the current folder)")
	f.StringVar(&n.mode, "sandbox", string(sandbox.WorkspaceWrite), "what commands may change: read-only (applies to file tools and transfers too), workspace-write or full")
	f.StringVar(&n.network, "network", string(sandbox.NetBlocked), "network access of commands: blocked, ask (for each command that needs it) or allowed")
	f.StringArrayVar(&n.grants, "grant", nil, "`folder` outside the workspace that may be used too, DIR or DIR:ro; can be repeated")
	f.BoolVar(&n.disk, "whole-disk", false, "let file tools use the whole disk instead of only the workspace")
	f.StringVar(&n.receive, "receive", transfer.Trusted, "files accepted by this machine: trusted, ask (at this machine's terminal) or off")
	f.StringVar(&n.receiveFrom, "receive-from", "", "accept files only from these `machines`, separated by commas; gsv is the agent's workspace, @here a window or command line")
	f.StringVar(&n.receiveFolder, "receive-folder", "", "accept files only into this `folder`, which must be in the workspace or granted")
	if own {
		f.StringVar(&n.direct, "direct", direct.Off, direct.Usage)
	}
}

// line returns the command that starts the node with the flags given to cmd. Its folders are
// absolute, so that it works in every folder.
func (n *nodeFlags) line(cmd *cobra.Command) string {
	words := []string{"fairlead", "node"}
	if dir, err := filepath.Abs(n.workspace); err == nil {
		words = append(words, "--workspace", quoteWord(dir))
	}
	return strings.Join(append(words, nodeArguments(cmd, true, "workspace")...), " ")
}

// nodeArguments returns the node's flags that were given to cmd, except the flag but, quoted for a
// shell. With here, its folders belong to this machine and are made absolute.
func nodeArguments(cmd *cobra.Command, here bool, but string) (words []string) {
	own := &cobra.Command{}
	new(nodeFlags).add(own, "id", true)
	add := func(name, value string) { words = append(words, "--"+name, quoteWord(value)) }
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch {
		case own.Flags().Lookup(f.Name) == nil || f.Name == but:
		case f.Value.Type() == "bool":
			words = append(words, "--"+f.Name+"="+f.Value.String())
		default:
			values := []string{f.Value.String()}
			if many, ok := f.Value.(pflag.SliceValue); ok {
				values = many.GetSlice()
			}
			for _, v := range values {
				if f.Name == "grant" && here {
					dir, readOnly := strings.CutSuffix(v, ":ro")
					if whole, err := filepath.Abs(dir); err == nil {
						v = whole + map[bool]string{true: ":ro"}[readOnly]
					}
				}
				add(f.Name, v)
			}
		}
	})
	return words
}

// plainWord matches words that need no quotes in any shell.
var plainWord = regexp.MustCompile(`^[\w./:@%+=,~-]+$`)

// quoteWord returns a word quoted for a shell.
func quoteWord(word string) string {
	if plainWord.MatchString(word) || runtime.GOOS == "windows" && !strings.ContainsAny(word, " \t\"&|<>^()") && word != "" {
		return word
	}
	if runtime.GOOS == "windows" {
		return `"` + word + `"`
	}
	return singleQuoted(word)
}

// singleQuoted returns a word in single quotes that every shell understands: in some, a backslash
// before one has a meaning.
func singleQuoted(word string) string { return "'" + strings.ReplaceAll(word, "'", `'"'"'`) + "'" }

// defaultNode returns the options of a node with its default name and workspace where none is given.
func defaultNode(id, workspace string) *node.Options {
	if id == "" {
		host, _ := os.Hostname()
		id = string(protocol.CleanNodeID(host))
	}
	if workspace == "" {
		workspace, _ = os.Getwd()
	}
	return &node.Options{ID: protocol.NodeID(id), Workspace: workspace, Version: gateway.Version}
}

// parse returns the options of the node without its gateway and data folder. With transfer.Ask, it
// asks at this process's terminal, if there is one. Every error is about usage.
func (n *nodeFlags) parse() (opts *node.Options, err error) {
	opts = defaultNode(n.id, n.workspace)
	if _, err := protocol.ParseNodeID(string(opts.ID)); err != nil {
		return nil, usageError("%w", err)
	}
	if opts.Confine, err = node.ParseConfinement(n.mode, n.network, n.grants); err != nil {
		return nil, usageError("%w", err)
	}
	if n.disk {
		opts.Confine.Access = workspace.WholeDisk
	}
	if opts.Receive, err = transfer.ParsePolicy(n.receive, n.receiveFrom, n.receiveFolder); err != nil {
		return nil, usageError("%w", err)
	}
	if opts.Receive.Mode == transfer.Ask && term.IsTerminal(int(os.Stdin.Fd())) {
		opts.Receive.Ask = transfer.AskAt(os.Stdin, os.Stderr)
	}
	if opts.Direct, err = direct.Parse(n.direct); err != nil {
		return nil, usageError("--direct: %w", err)
	}
	return opts, nil
}

// options returns the options of a node in this process, without the route to its gateway.
func (n *nodeFlags) options(o *options) (node.Options, error) {
	opts, err := n.parse()
	if err != nil {
		return node.Options{}, err
	}
	if opts.Home, err = o.homeDir(); err != nil {
		return node.Options{}, err
	}
	// Where a pairing's keys are stored is logged like everything else.
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, nil)))
	opts.LogDir, opts.Logger = gateway.LogDir(opts.Home), slog.Default()
	return *opts, nil
}

func nodeCommand(o *options) *cobra.Command {
	var to string
	var flags nodeFlags
	cmd := &cobra.Command{
		Use:   "node [--gateway URL | --gateway NAME]",
		Short: "Run a node on this machine and connect it to a gateway",
		Long: `Runs a node on this machine. It connects to the gateway that this machine is paired with (fairlead pair), or to --gateway: a pairing's name, or
an address with a token in FAIRLEAD_TOKEN.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			opts, err := flags.options(o)
			if err != nil {
				return err
			}
			release, err := o.setGateway(cmd.Context(), &opts, to, cmd.Flags().Changed("id"))
			if err != nil {
				return err
			}
			defer release()
			n, err := node.New(opts)
			if err != nil {
				return err
			}
			if err := n.Run(cmd.Context()); err != nil && !errors.Is(err, context.Canceled) {
				return fmt.Errorf("node %s: %w", opts.ID, err)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&to, "gateway", os.Getenv("FAIRLEAD_URL"), "gateway: an address, or the name of a pairing")
	flags.add(cmd, "id", true)
	return cmd
}

// setGateway sets how a node connects to its gateway. Until release is called, no other program on
// this computer can be a node of the same paired gateway. release is never nil.
func (o *options) setGateway(ctx context.Context, opts *node.Options, to string, ownID bool) (release func(), err error) {
	release = func() {}
	if strings.Contains(to, "://") {
		if err := checkAddress(to); err != nil {
			return release, err
		}
		opts.URL = to
		opts.Token, err = o.findToken()
		return release, err
	}
	id, peers, err := o.identity()
	if err != nil {
		return release, err
	}
	if err := client.NotifyEndedPairings(ctx, peers, id, nil); err != nil {
		slog.Debug("A left gateway could not be notified", "err", err)
	}
	peer, err := peers.Find(to, protocol.RoleNode)
	if errors.Is(err, protocol.ErrNotFound) && to == "" {
		opts.URL = gateway.DefaultURL
		opts.Token, err = o.findToken()
		return release, err
	}
	if err != nil {
		return release, err
	}
	hold, err := node.Hold(opts.Home, peer, "fairlead node")
	if err != nil {
		return release, err
	}
	if !ownID {
		opts.ID = peer.NodeID
	}
	opts.Through = func(c client.Options) client.Options { return client.Through(c, peers, peer.ID(), id, discovery.Find) }
	return hold, nil
}

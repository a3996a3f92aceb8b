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

	"fairlead/gateway"
	"fairlead/gateway/peer/discovery"
	"fairlead/gateway/peer/resident"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/node"
	"fairlead/node/direct"
)

// nodeFlags say what a node is and how far it reaches.
type nodeFlags struct {
	id, workspace string
	confine       confineFlags
	receive       receiveFlags
	direct        string
}

func (n *nodeFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&n.id, "id", "", "name of the node (default: the host's name)")
	cmd.Flags().StringVar(&n.workspace, "workspace", "", "folder the node works in (default: the current folder)")
	n.confine.add(cmd)
	n.receive.add(cmd)
	cmd.Flags().StringVar(&n.direct, "direct", direct.Off, direct.Usage)
}

// line is the command that starts the node whose flags cmd was given, with its folders written out: it works wherever it is typed.
func (n *nodeFlags) line(cmd *cobra.Command) string {
	words := []string{"fairlead", "node"}
	if dir, err := filepath.Abs(n.workspace); err == nil {
		words = append(words, "--workspace", quoted(dir))
	}
	return strings.Join(append(words, nodeArguments(cmd, true, "workspace")...), " ")
}

// nodeArguments are the node's flags that cmd was given, but one of them, for a shell. With here set its folders are this machine's, and written out.
func nodeArguments(cmd *cobra.Command, here bool, but string) (words []string) {
	own := &cobra.Command{}
	new(nodeFlags).add(own)
	add := func(name, value string) { words = append(words, "--"+name, quoted(value)) }
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

// plainWord needs no quotes in any shell.
var plainWord = regexp.MustCompile(`^[\w./:@%+=,~-]+$`)

// quoted is a word as a shell takes it.
func quoted(word string) string {
	if plainWord.MatchString(word) || runtime.GOOS == "windows" && !strings.ContainsAny(word, " \t\"&|<>^()") && word != "" {
		return word
	}
	if runtime.GOOS == "windows" {
		return `"` + word + `"`
	}
	return single(word)
}

// single is a word in single quotes, as every shell takes it: in some, a backslash before one means something.
func single(word string) string { return "'" + strings.ReplaceAll(word, "'", `'"'"'`) + "'" }

// options are the node's, without the way to its gateway.
func (n *nodeFlags) options(o *options) (node.Options, error) {
	if n.id == "" {
		host, _ := os.Hostname()
		n.id = string(protocol.CleanNodeID(host))
	}
	id, err := protocol.ParseNodeID(n.id)
	if err != nil {
		return node.Options{}, &exitError{code: exitUsage, err: err}
	}
	confinement, err := n.confine.parse()
	if err != nil {
		return node.Options{}, err
	}
	receive, err := n.receive.parse()
	if err != nil {
		return node.Options{}, err
	}
	connector, err := direct.Parse(n.direct)
	if err != nil {
		return node.Options{}, &exitError{code: exitUsage, err: fmt.Errorf("--direct: %w", err)}
	}
	home, err := o.homeDir()
	if err != nil {
		return node.Options{}, err
	}
	if n.workspace == "" {
		n.workspace, _ = os.Getwd()
	}
	// What a pairing's keys are kept in is told like the rest.
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, nil)))
	return node.Options{
		ID: id, Workspace: n.workspace, Confine: confinement, Receive: receive, Direct: connector, Home: home, LogDir: gateway.LogDir(home),
		Logger: slog.Default(), Version: gateway.Version,
	}, nil
}

func nodeCommand(o *options) *cobra.Command {
	var to string
	var flags nodeFlags
	cmd := &cobra.Command{
		Use:   "node [--gateway URL | --gateway NAME]",
		Short: "Run the node on this machine and connect it to a gateway elsewhere",
		Long: `Run the node on this machine. Its gateway is the one this machine is paired with (fairlead pair), or the one at --gateway, by its address and
token (FAIRLEAD_TOKEN) or by the name of a pairing.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			opts, err := flags.options(o)
			if err != nil {
				return err
			}
			release, err := o.reach(cmd.Context(), &opts, to, cmd.Flags().Changed("id"))
			if err != nil {
				return err
			}
			defer release()
			n, err := node.New(opts)
			if err != nil {
				return err
			}
			if err := resident.Run(cmd.Context(), n.Run); err != nil && !errors.Is(err, context.Canceled) {
				return fmt.Errorf("node %s: %w", opts.ID, err)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&to, "gateway", os.Getenv("FAIRLEAD_URL"), "gateway to connect to: an address, or the name of a pairing")
	flags.add(cmd)
	return cmd
}

// reach says how a node gets to its gateway. No other program here is a node of one that is paired with until release, which is never nil, is called.
func (o *options) reach(ctx context.Context, opts *node.Options, to string, ownID bool) (release func(), err error) {
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
	if err := client.TellLeft(ctx, peers, id, nil); err != nil {
		slog.Debug("A gateway that was left does not know it", "err", err)
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
	opts.Through = func(c client.Options) client.Options { return client.Through(c, peers, peer.Tie(), id, discovery.Find) }
	return hold, nil
}

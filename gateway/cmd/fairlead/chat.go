package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"fairlead/gateway"
	"fairlead/gateway/peer/crash"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/node/setup"
)

func chatCommand(o *options) *cobra.Command {
	var session, approve, nodeID, workspace string
	var local bool
	cmd := &cobra.Command{
		Use:   "chat [MESSAGE]",
		Short: "Chat with the agent in this terminal, or send one MESSAGE",
		Long: `Chats with the agent. Approvals are shown in the terminal and in every window; the first answer counts. Ctrl+C stops the run; pressed
again, it leaves the chat. A line that starts with ! is your own command and runs at once.`,
		Example: "  fairlead chat \"run make test\"\n  fairlead chat --approve deny \"what can you do\"\n  echo \"list the Go files\" | fairlead chat",
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch approve {
			case "", protocol.ScopeOnce, protocol.DecisionDeny:
			default:
				return usageError("--approve must be once or deny, not %q", approve)
			}
			if workspace != "" && !local {
				return usageError("--workspace needs --local; another gateway's node has its own workspace")
			}
			t := &terminal{out: cmd.OutOrStdout(), err: cmd.ErrOrStderr(), in: newLines(cmd.InOrStdin()), json: o.json, approve: approve}
			chat := &chat{
				term: t, session: protocol.SessionKey(session), node: protocol.NodeID(nodeID),
				events: make(chan protocol.ChatEvent, maxChatEvents),
			}
			// Ctrl+C stops the run first, so the chat must outlive the command's context. Before
			// the chat starts, Ctrl+C ends the program.
			ctx, cancel := context.WithCancel(context.WithoutCancel(cmd.Context()))
			defer cancel()
			chat.takeSignals = crash.WhenDone(cmd.Context(), cancel)
			message := strings.Join(args, " ")
			if local {
				return o.localChat(ctx, chat, message, setup.Default(nodeID, workspace, gateway.Version))
			}
			c, err := o.connectAs(ctx, client.Options{OnEvent: chat.addEvent})
			if err != nil {
				return err
			}
			defer c.close()
			return chat.run(ctx, c, message)
		},
	}
	f := cmd.Flags()
	f.StringVar(&session, "session", "", "chat to use (default: the main chat)")
	f.StringVar(&approve, "approve", "", "answer every approval of this run: once or deny")
	f.StringVar(&nodeID, "node", "", "machine that runs !commands")
	f.BoolVar(&local, "local", false, "run the gateway and a node in this process if no gateway is running")
	f.StringVar(&workspace, "workspace", "", "with --local: the node's workspace (default: the current folder)")
	return cmd
}

// chat is one conversation in the terminal.
type chat struct {
	term    *terminal
	session protocol.SessionKey
	node    protocol.NodeID

	c *connection
	// takeSignals makes the chat handle signals; false if one has ended the command. May be nil.
	takeSignals func() bool
	stopping    bool                    // the run was asked to stop
	status      protocol.Status         // latest status of the gateway
	events      chan protocol.ChatEvent // of a gateway without a feed
	changes     chan protocol.Change
	resync      chan protocol.FeedSnapshot
	sigs        chan os.Signal
	postponed   []protocol.Change // changes that arrived while an approval was on the screen
	// askedServer are the questions of MCP servers that the person was asked.
	askedServer map[protocol.QuestionID]bool
	// sameAnswer are the approvals that get the same answer as the one on the screen, if several.
	sameAnswer []protocol.Question
}

// run runs the conversation: one message when message is not empty or standard input is not a
// terminal, otherwise until the person ends it.
func (ch *chat) run(ctx context.Context, c *connection, message string) error {
	ch.c = c
	ch.changes = make(chan protocol.Change, 256)
	ch.resync = make(chan protocol.FeedSnapshot, 1)
	ch.sigs = make(chan os.Signal, 2)
	signal.Notify(ch.sigs, os.Interrupt)
	defer signal.Stop(ch.sigs)
	ctx, cancel := signal.NotifyContext(ctx, syscall.SIGTERM)
	defer cancel()
	if ch.takeSignals != nil && !ch.takeSignals() {
		return context.Canceled
	}
	if c.offers(protocol.FeedSubscribe.Name) {
		end, err := ch.subscribe(ctx, cancel)
		if err != nil {
			return err
		}
		defer end()
	} else {
		ch.session = cmp.Or(ch.session, protocol.MainSession)
	}
	return ch.converse(ctx, message)
}

// subscribe subscribes to the gateway's feed; end calls cancel and waits until that has ended.
func (ch *chat) subscribe(ctx context.Context, cancel func()) (end func(), err error) {
	feedDone := crash.Result(func() error {
		return ch.c.Feed(ctx, func(s protocol.FeedSnapshot) {
			select {
			case ch.resync <- s:
			case <-ctx.Done():
			}
		}, func(change protocol.Change) {
			select {
			case ch.changes <- change:
			case <-ctx.Done():
			}
		})
	})
	end = func() { cancel(); <-feedDone }
	select {
	case s := <-ch.resync:
		ch.session = cmp.Or(ch.session, mainSession(s.Status))
		ch.term.names = namesOf(s.Nodes)
		ch.status = s.Status
	case err := <-feedDone:
		cancel()
		return nil, err
	case <-ch.sigs:
		end()
		return nil, context.Canceled
	}
	return end, nil
}

// converse sends the message, or the person's messages until they end the chat.
func (ch *chat) converse(ctx context.Context, message string) error {
	if message != "" {
		return ch.ask(ctx, message)
	}
	if !ch.term.interactive() {
		all, err := ch.term.in.readAll(ctx, ch.sigs)
		if err != nil {
			return err
		}
		if message = strings.TrimSpace(all); message == "" {
			return usageError("no message: give one as an argument or on standard input")
		}
		return ch.ask(ctx, message)
	}
	ch.term.note("Type a request, for example: run ls -la · list the Go files · what can you do. Press Ctrl+D to leave.")
	for {
		line, err := ch.term.readMessage(ctx, "› ")
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if strings.TrimSpace(line) == "" {
			continue
		}
		err = ch.ask(ctx, line)
		lost := errors.Is(err, protocol.ErrUnavailable) && !ch.c.Connected()
		if err != nil && (lost || !ch.term.printError(err)) {
			return err
		}
	}
}

// readAll reads all of the input, unless ctx ends or a signal comes.
func (l *lines) readAll(ctx context.Context, signals <-chan os.Signal) (string, error) {
	text, err := setup.Await(ctx, signals, func() (string, error) {
		all, err := io.ReadAll(l)
		if err != nil {
			err = fmt.Errorf("read standard input: %w", err)
		}
		return string(all), err
	})
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		err = &exitError{code: exitInterrupted, err: err, printed: true}
	}
	return text, err
}

// mainSession returns the default chat.
func mainSession(s protocol.Status) protocol.SessionKey {
	return cmp.Or(s.MainSession, protocol.MainSession)
}

// ask sends a message and follows its run to the end.
func (ch *chat) ask(ctx context.Context, message string) error {
	if !ch.hasFeed() {
		if err := refuseOwnCommand(message); err != nil {
			return err
		}
	}
	for len(ch.events) > 0 {
		<-ch.events // of earlier runs, or of other clients
	}
	run := protocol.RunID(protocol.NewID())
	res, err := call(ctx, ch.c, protocol.ChatSend, protocol.ChatSendParams{
		SessionKey: ch.session, Message: message, RunID: run, Node: ch.node,
	})
	if err != nil {
		return err
	}
	switch res.Status {
	case protocol.ChatStarted:
		if res.Queued {
			ch.term.notice(cmp.Or(pausedWords(ch.status), "Waiting for the previous run to finish."))
		}
		err := ch.follow(ctx, res.RunID)
		if ctx.Err() != nil {
			err = errors.Join(ctx.Err(), ch.stop(res.RunID))
		}
		return err
	case protocol.ChatCommand:
		if res.Error != "" {
			return errors.New(res.Error)
		}
	}
	ch.term.print(res.Response + "\n")
	return nil
}

// Interactive input.

// lines reads lines from a terminal or a pipe.
type lines struct {
	io.Reader
	fd int // of a terminal; otherwise -1
}

func newLines(r io.Reader) *lines { return &lines{Reader: r, fd: terminalOf(r)} }

// terminalOf returns the file descriptor of a terminal; otherwise -1.
func terminalOf(r any) int {
	if f, ok := r.(*os.File); ok && term.IsTerminal(int(f.Fd())) {
		return int(f.Fd())
	}
	return -1
}

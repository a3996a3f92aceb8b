package node

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"fairlead/gateway/peer/crash"
	"fairlead/gateway/peer/logfile"
	"fairlead/gateway/peer/pake"
	"fairlead/gateway/peer/stream"
	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/peer/wake"
	"fairlead/gateway/protocol"
	"fairlead/gateway/protocol/client"
	"fairlead/node/access"
	"fairlead/node/baseline"
	"fairlead/node/browse"
	"fairlead/node/direct"
	"fairlead/node/floor"
	"fairlead/node/sandbox"
	"fairlead/node/shell"
	"fairlead/node/terminal"
	"fairlead/node/tools"
	"fairlead/node/transfer"
	"fairlead/node/tunnel"
	"fairlead/node/workspace"
)

// keepAlive is the interval at which an idle node calls the gateway, so that routers in between do
// not drop the connection.
const keepAlive = 240 * time.Second

const logName = "node.log"

// memoryURL is the address of a node that has only Dial.
const memoryURL = "ws://memory/ws"

// Options say who a node is, where it works and how it connects to its gateway.
type Options struct {
	ID        protocol.NodeID
	Workspace string // the tools' working folder; must exist
	Confine   Confinement
	// Home is the absolute folder of the program's own data, which no command can read; may be
	// empty.
	Home string
	// Keep is the folder of data that outlives the node: its commands and unfinished transfers. No
	// two nodes may share it. Empty means a folder in Home.
	Keep string

	URL   string // ws:// or wss://, including the path; may be empty with Dial
	Token string
	Dial  func(context.Context) (net.Conn, error) // nil means TCP
	// Through, when set, completes the options for connecting to a paired gateway; URL, Token and
	// Dial may then be empty.
	Through func(client.Options) client.Options

	// Receive is the policy for incoming transfers.
	Receive transfer.Policy
	// AskTarget asks the person whether the gateway may reach a target from this machine; nil: nobody
	// can be asked (see [tunnel.Targets]).
	AskTarget func(ctx context.Context, target string) (bool, error)
	// Direct allows transfers from machine to machine. If it is nil, all go through the gateway.
	Direct *direct.Connector

	LogDir  string // folder of node.log, which logs.get reads; empty: there is no log
	Version string
	Logger  *slog.Logger // receives the same records as node.log; may be nil
}

// Node is one machine of a gateway.
type Node struct {
	opts     Options
	ws       *workspace.Root
	browse   *browse.Browser
	floor    *floor.List // shared by box and baseline
	box      *sandbox.Box
	jobs     *shell.Jobs
	baseline *baseline.Store // nil without a folder for it
	tools    map[string]toolkit.Tool[access.Call]
	hello    protocol.ConnectParams
	client   *client.Client // made by Run
	ends     *stream.Ends   // of transfers; made by Run
	tunnel   *tunnel.Node   // made by Run
	screens  *terminal.Terminals
	out      *outbox
	file     *logfile.File // nil without LogDir
	log      *slog.Logger
	running  *access.Slots // for running calls; see maxCalls
	work     crash.Group   // running and waiting calls

	mu    sync.Mutex // guards calls
	calls map[protocol.CallID]context.CancelFunc
}

// openLog opens the log: that of the program, and a file of its own if there is a folder for it.
func openLog(opts Options, workspace string) (*slog.Logger, *logfile.File, error) {
	log := opts.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	log = log.With("node", opts.ID)
	if opts.LogDir == "" {
		return log, nil, nil
	}
	file, err := logfile.Open(opts.LogDir, logName)
	if err != nil {
		return nil, nil, err
	}
	return slog.New(slog.NewMultiHandler(newLineHandler(file, opts.ID, workspace), log.Handler())), file, nil
}

// New opens the workspace and the log and prepares a node; Run connects it.
func New(opts Options) (*Node, error) {
	if _, err := protocol.ParsePeerNodeID(string(opts.ID)); err != nil {
		return nil, err
	}
	if opts.URL == "" {
		if opts.Dial == nil && opts.Through == nil {
			return nil, errors.New("a node needs the address of its gateway")
		}
		opts.URL = memoryURL
	}
	ws, err := opts.workspace().Open()
	if err != nil {
		return nil, err
	}
	if err := opts.Receive.Check(ws); err != nil {
		ws.Close()
		return nil, err
	}
	n := &Node{opts: opts, ws: ws, floor: floor.New(), out: newOutbox(), running: access.NewSlots(maxCalls), calls: make(map[protocol.CallID]context.CancelFunc)}
	if n.log, n.file, err = openLog(opts, ws.Dir()); err != nil {
		ws.Close()
		n.floor.Close()
		return nil, err
	}
	if n.box, err = sandbox.New(context.Background(), sandbox.Options{Home: opts.Home, Floor: n.floor}); err != nil {
		ws.Close()
		n.floor.Close()
		if n.file != nil {
			n.file.Close()
		}
		return nil, err
	}
	n.openPrivateTemp()
	jobs := shell.JobOptions{Box: n.box, Profile: opts.Confine.profile(ws.Dir()), AskNetwork: opts.Confine.Network == AskNetwork, Env: opts.Confine.Env, Events: n.reportExec, Home: opts.Home, Log: n.log}
	n.opts.Keep = cmp.Or(opts.Keep, opts.Home)
	if n.opts.Keep != "" {
		jobs.RecordDir = filepath.Join(n.opts.Keep, "commands")
		n.openBaseline()
		jobs.Baseline = n.baseline
	}
	replaced := "" // the folder for the files that the agent replaced
	if opts.Home != "" {
		replaced = filepath.Join(opts.Home, "before")
	}
	n.browse, n.jobs = browse.New(n.ws, replaced, n.filesChanged), shell.NewJobs(jobs)
	n.screens = terminal.New(terminal.Options{Commands: n.jobs, Log: n.log})
	list := tools.All(access.Scope{Root: n.ws, Home: opts.Home}, n.jobs)
	if n.baseline != nil {
		list = append(list, n.baseline.Questions.Keep())
	}
	n.setTools(list)
	return n, nil
}

func (n *Node) setTools(list []toolkit.Tool[access.Call]) {
	n.tools = make(map[string]toolkit.Tool[access.Call], len(list))
	runtime := &protocol.NodeRuntime{ToolCapabilities: make(map[string][]string, len(list))}
	n.hello = protocol.ConnectParams{
		MinProtocol: protocol.Version, MaxProtocol: protocol.Version,
		Client:      protocol.ClientInfo{ID: string(n.opts.ID), Version: n.opts.Version, Platform: platform(), Mode: protocol.ModeNode},
		NodeRuntime: runtime, Host: n.hostInfo(), Programs: programs(), Environment: n.jobs.Variables(),
		Extensions: []string{protocol.ExtPreview, protocol.ExtProgress, protocol.ExtCancel, protocol.ExtTransfer, protocol.ExtUndo, protocol.ExtFiles, protocol.ExtKeep, protocol.ExtTunnel, protocol.ExtTerminal},
	}
	if n.opts.Direct != nil {
		n.hello.Extensions = append(n.hello.Extensions, protocol.ExtDirect)
	}
	for _, t := range list {
		n.tools[t.Spec.Name] = t
		n.hello.Tools = append(n.hello.Tools, t.Spec)
		runtime.ToolCapabilities[t.Spec.Name] = t.Caps
		runtime.HostCapabilities = append(runtime.HostCapabilities, t.Caps...)
	}
	slices.Sort(runtime.HostCapabilities)
	runtime.HostCapabilities = slices.Compact(runtime.HostCapabilities)
}

// Hello returns the parameters with which the node connects.
func (n *Node) Hello() protocol.ConnectParams { return n.hello }

// connectParams returns Hello with the calls that continue or have ended since an earlier
// connection.
func (n *Node) connectParams() protocol.ConnectParams {
	hello := n.hello
	n.mu.Lock()
	for id := range n.calls {
		hello.Calls = append(hello.Calls, id)
	}
	n.mu.Unlock()
	// Read the outbox last, so that no call is missed when it moves there.
	hello.Calls = append(hello.Calls, n.out.calls()...)
	slices.Sort(hello.Calls)
	hello.Calls = slices.Compact(hello.Calls)
	return hello
}

// Run serves the gateway, reconnecting as often as needed, until ctx ends or the gateway refuses
// the node for good (a *client.FinalError). Then it stops all calls and commands, waits for them,
// and closes the node. Run may be called once.
func (n *Node) Run(ctx context.Context) error {
	defer n.Close()
	calls, stopCalls := context.WithCancel(ctx)
	link := client.Options{
		URL: n.opts.URL, Token: n.opts.Token, Dial: n.opts.Dial, Logger: n.log,
		Connect: n.connectParams,
		OnUp:    n.onConnect,
		OnDown:  n.onDisconnect,
		OnEvent: func(e protocol.EventFrame) { n.event(calls, e) },
		OnFrame: func(f *stream.Frame) { n.ends.Binary(f) },
	}
	if n.opts.Through != nil {
		link = n.opts.Through(link)
	}
	n.client = client.New(link)
	n.tunnel = &tunnel.Node{
		Connect: func(ctx context.Context, ticket string) (net.Conn, error) {
			conn, _, err := client.OpenTunnel(ctx, link, protocol.TunnelConnect, func(c protocol.ClientInfo, a *protocol.Auth) protocol.TunnelConnectParams {
				return protocol.TunnelConnectParams{Client: c, Auth: a, Ticket: ticket}
			})
			return conn, err
		},
		Targets: &tunnel.Targets{File: tunnel.FileIn(n.opts.Home), Ask: n.opts.AskTarget}, Terminal: n.screens.Dial, Log: n.log,
	}
	files, parts := transfer.NewFiles(n.ws, n.opts.Receive), n.transferRecords()
	ends := stream.Options{Files: files, Peer: n.client.Peer(), Consent: files.Consent, Log: n.log, Unfinished: parts}
	if n.opts.Direct != nil {
		ends.Direct = n.opts.Direct
	}
	n.ends = stream.NewEnds(ends)
	defer n.ends.Close()
	var wg crash.Group
	defer wg.Wait()
	defer n.work.Wait()
	defer stopCalls()
	wg.Go(func() {
		n.out.deliver(calls, func(call protocol.CallID, err error) {
			n.log.Warn("Result not wanted", "call", call, "err", err)
		})
	})
	wg.Go(func() {
		for _, left := range n.jobs.Recover(calls) {
			n.log.Warn("Found a command of a node that died", "session", left.SessionID, "alive", left.WasRunning)
		}
	})
	wg.Go(func() {
		n.screens.Report(calls, func(ctx context.Context, r protocol.TerminalReport) error {
			_, err := client.Call(ctx, n.client, protocol.ReportTerminals, r)
			return err
		})
	})
	wg.Go(func() { n.removeOldFiles(calls, parts, files) })
	if n.baseline != nil {
		wg.Go(n.baseline.Prepare)
	}
	n.log.Info("Node started", "version", n.opts.Version)
	err := n.client.Run(ctx)
	n.log.Info("Node stopped")
	return err
}

// onDisconnect ends the transfers of a lost connection; the gateway starts them again.
func (n *Node) onDisconnect(err error) {
	n.log.Warn("Gateway lost", "err", err)
	n.ends.Drop()
	n.browse.UnwatchAll() // windows ask for their folders again
}

// Close releases a node whose Run was never called.
func (n *Node) Close() {
	n.screens.Close()
	n.jobs.Close()
	n.box.Close()
	n.browse.Close()
	n.floor.Close()
	n.ws.Close()
	if n.file != nil {
		n.file.Close()
	}
}

// onConnect is called while there is a connection.
func (n *Node) onConnect(ctx context.Context, hello protocol.ConnectResult) {
	n.log.Info("Connected", "tools", len(n.tools), "gateway", hello.Server.Version)
	n.out.retryNow()
	n.jobs.ReportPrograms("")
	n.screens.Changed()
	if n.baseline != nil {
		for _, b := range n.baseline.Questions.Pending() {
			n.reportPutBack(b)
		}
	}
	wake.Every(ctx, keepAlive, func() {
		if _, err := client.Call(ctx, n.client, protocol.ToolsList, protocol.Empty{}); err != nil && ctx.Err() == nil {
			n.log.Warn("Gateway does not answer", "err", err)
		}
	})
}

// Applicant describes the node for pairing: the person approves what the node would offer.
func (n *Node) Applicant() pake.Applicant {
	h := n.hello
	a := pake.Applicant{Role: protocol.RoleNode, NodeID: n.opts.ID, Name: string(n.opts.ID), Platform: h.Client.Platform, Version: h.Client.Version, Reach: protocol.ReachOf(h)}
	if h.Host != nil {
		a.OS, a.Hostname = h.Host.OS, h.Host.Hostname
	}
	if protocol.CleanNodeID(a.Hostname) == a.NodeID { // nobody chose another name
		a.Name = a.Hostname
	}
	return a
}

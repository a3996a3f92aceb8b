package shell

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/peer/words"
	"fairlead/gateway/protocol"
	"fairlead/node/access"
	"fairlead/node/sandbox"
	"fairlead/node/workspace"
)

const (
	// maxServed is the number of servers that a machine runs at a time.
	maxServed = 64
	// serveChunk is the number of bytes of output that are sent at once.
	serveChunk = 64 << 10
	// serveAlive is how often a quiet server checks that the gateway still reads it. A gateway that
	// was killed cannot end it.
	serveAlive = 15 * time.Second
	// serveGrace is how long a server may take to end after its input is closed.
	serveGrace = 2 * time.Second
)

type serveIn struct {
	// Command is a command line in the form of [words.Join]: what rules and people read is exactly
	// what runs, without a shell.
	Command string `json:"command,omitempty" jsonschema:"the program and its arguments"`
	// Fetch runs before Command, with the network if the machine lends it, and without an input. It only
	// fetches what Command then starts, perhaps without the network.
	Fetch   string            `json:"fetch,omitempty" jsonschema:"a command that runs first, with the network, to fetch the program"`
	Server  string            `json:"server,omitempty" jsonschema:"name of the server, for its folder of caches"`
	Workdir string            `json:"workdir,omitempty" jsonschema:"folder to run it in; default the workspace"`
	Env     map[string]string `json:"env,omitempty" jsonschema:"additional variables"`
	// Session is the ID of the call that started a server, to which Input is written.
	Session string `json:"session,omitempty" jsonschema:"ID of the call that started the server, to send input to it"`
	Input   string `json:"input,omitempty" jsonschema:"bytes for its standard input, in Base64"`
}

type serveOut struct {
	ExitCode *int   `json:"exitCode,omitempty"`
	Signal   string `json:"signal,omitempty"`
}

// servePart is a part of the output of a server. The first one says that it runs.
type servePart struct {
	Started bool   `json:"started,omitempty"`
	Out     []byte `json:"out,omitempty"` // Base64 in JSON
	Err     []byte `json:"err,omitempty"`
}

// servers are the programs that the tool serve has started.
type servers struct {
	jobs *Jobs
	ws   *workspace.Root

	mu   sync.Mutex // guards open
	open map[string]*os.File
}

// Serve makes the tool serve, with which the gateway runs an MCP server: a call starts a program,
// sends what it writes in parts, and lasts until it ends; further calls write to its input. The
// bytes are exact. The program ends with its call, and when the gateway stops reading.
func Serve(ws *workspace.Root, jobs *Jobs) toolkit.Tool[access.Call] {
	s := &servers{jobs: jobs, ws: ws, open: make(map[string]*os.File)}
	t := toolkit.Define("serve", "Runs an MCP server. For the gateway.", toolkit.Traits{Effect: protocol.EffectExec, AcceptsKey: true, Caps: []string{protocol.CapExec}}, s.call)
	return toolkit.WithPreview(t, func(ctx context.Context, _ access.Call, in serveIn) (protocol.CallPreview, error) {
		return previewBash(ctx, s.ws, s.jobs, bashIn{Command: in.Command, Workdir: in.Workdir}, Path()), nil
	})
}

func (s *servers) call(ctx context.Context, call access.Call, in serveIn) (serveOut, error) {
	if !call.Direct { // no rule about commands sees the variables and the input
		return serveOut{}, protocol.NewFault(protocol.FaultPermissionDenied, "only the person's own settings start MCP servers")
	}
	if in.Session != "" {
		return serveOut{}, s.write(in)
	}
	spec, err := s.spec(call, in, call.Network)
	if err != nil {
		return serveOut{}, err
	}
	if call.Chunk == nil {
		return serveOut{}, protocol.NewFault(protocol.FaultFailedPrecondition, "nobody reads what the server writes")
	}
	if in.Fetch != "" {
		if err := s.fetch(ctx, call, in); err != nil {
			return serveOut{}, err
		}
	}
	return s.run(ctx, call, spec, false)
}

// fetch runs the command that fetches the program of a server. If that fails, the server starts with
// what is there.
func (s *servers) fetch(ctx context.Context, call access.Call, in serveIn) error {
	in.Command = in.Fetch
	env := maps.Clone(fetching)
	maps.Copy(env, in.Env)
	in.Env = env
	spec, err := s.spec(call, in, true)
	if err != nil {
		return err
	}
	out, err := s.run(ctx, call, spec, true)
	if err != nil || out.Signal == "" && *out.ExitCode == 0 {
		return err
	}
	raw, err := protocol.Marshal(servePart{Err: []byte("The package could not be fetched. The server starts with the copy from an earlier time, if there is one.\n")})
	if err != nil {
		return err
	}
	return call.Chunk(ctx, raw)
}

// write writes to the input of a running server.
func (s *servers) write(in serveIn) error {
	s.mu.Lock()
	stdin := s.open[in.Session]
	s.mu.Unlock()
	if stdin == nil {
		return protocol.NewFault(protocol.FaultNotFound, "the server has ended")
	}
	raw, err := base64.StdEncoding.DecodeString(in.Input)
	if err != nil {
		return protocol.NewFault(protocol.FaultInvalidArgs, "input is not Base64")
	}
	stdin.SetWriteDeadline(time.Now().Add(writeLimit))
	if _, err := stdin.Write(raw); err != nil {
		return protocol.NewFault(protocol.FaultFailedPrecondition, "the server does not read its input")
	}
	return nil
}

var serverName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// spec returns the program to start, without its files.
func (s *servers) spec(call access.Call, in serveIn, network bool) (spec sandbox.Spec, err error) {
	argv, err := words.Split(in.Command)
	if err != nil || len(argv) == 0 || words.Join(argv) != in.Command || in.Server != "" && !serverName.MatchString(in.Server) {
		return spec, protocol.NewFault(protocol.FaultInvalidArgs, "command must be a program with its arguments, quoted where needed")
	}
	plan, err := planBash(s.ws, bashIn{Command: in.Command, Workdir: in.Workdir})
	if err != nil {
		return spec, protocol.NewFault(protocol.FaultInvalidArgs, err.Error())
	}
	path := argv[0]
	if !strings.ContainsAny(path, `/\`) {
		path, err = exec.LookPath(path)
	} else if !filepath.IsAbs(path) {
		path = filepath.Join(plan.dir, path)
	}
	if err != nil {
		return spec, protocol.NewFault(protocol.FaultNotFound, fmt.Sprintf("the program %s is not installed on this machine", argv[0]))
	}
	argv[0] = path
	o := startRequest{direct: call.Direct, rules: call.Rules, network: s.jobs.confinement.askNetwork && network, idempotencyKey: call.IdempotencyKey}
	profile := s.jobs.confinement.profileOf(o)
	profile.Unprotected = false // the agent uses the server
	if !network {
		profile.Network = sandbox.NetBlocked
	}
	env := o.environ(s.jobs.confinement.environ(plan.dir))
	if dir := cacheFolder(in.Server); dir != "" && profile.Mode != sandbox.ReadOnly {
		profile.Write = append(slices.Clone(profile.Write), dir)
		for name, sub := range caches {
			env = setVariable(env, name, filepath.Join(dir, sub))
		}
	}
	if !network {
		for name, value := range offline {
			env = setVariable(env, name, value)
		}
	}
	for name, value := range in.Env {
		env = setVariable(env, name, value)
	}
	return sandbox.Spec{Profile: profile, Argv: argv, Dir: plan.dir, Env: env}, nil
}

// caches are the variables with the folders in which programs that fetch servers store them.
var caches = map[string]string{
	"npm_config_cache": "npm", "XDG_CACHE_HOME": "cache", "UV_CACHE_DIR": "uv", "UV_TOOL_DIR": "uv-tools", "UV_PYTHON_INSTALL_DIR": "uv-python", "PIP_CACHE_DIR": "pip",
	"PIPX_HOME": "pipx", "PIPX_BIN_DIR": "pipx-bin", "PIPX_MAN_DIR": "pipx-man", "YARN_GLOBAL_FOLDER": "yarn", "BUN_INSTALL_CACHE_DIR": "bun", "DENO_DIR": "deno",
}

// fetching are the variables for the command that fetches a server. pip takes wheels, which run
// nothing. pipx with uv as its backend would fetch to one place and start from another.
var fetching = map[string]string{"PIP_ONLY_BINARY": ":all:", "PIPX_DEFAULT_BACKEND": "pip"}

// offline are the variables with which programs that fetch servers use their caches alone, and fail at
// once. Without the network, npm tries again for minutes.
var offline = map[string]string{
	"npm_config_offline": "true", "pnpm_config_offline": "true", "YARN_ENABLE_NETWORK": "0", "UV_OFFLINE": "1", "PIP_RETRIES": "0", "PIPX_DEFAULT_BACKEND": "pip", "GOPROXY": "off", "CARGO_NET_OFFLINE": "true",
}

// cacheFolder returns a folder of the server alone, which survives it; empty if none exists. What
// one server stores there, no other one starts.
func cacheFolder(server string) string {
	base, err := os.UserCacheDir()
	if server == "" || err != nil {
		return ""
	}
	dir := filepath.Join(base, "fairlead", "servers", server)
	if os.MkdirAll(dir, 0o700) != nil {
		return ""
	}
	return dir
}

func setVariable(env []string, name, value string) []string {
	env = slices.DeleteFunc(env, func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
	return append(env, name+"="+value)
}

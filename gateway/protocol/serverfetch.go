package protocol

import (
	"path"
	"slices"
	"strings"
)

// The values of [ServerSpec.Network].
const (
	ServerNetworkNo    = "no"    // the command has no network
	ServerNetworkFetch = "fetch" // its package is fetched first; then it runs without a network
	ServerNetworkYes   = "yes"   // also if Network is empty, as in settings of earlier versions
)

// MayUseNetwork reports whether the command of a server may use the network while it runs.
func (s ServerSpec) MayUseNetwork() bool { return s.Network == "" || s.Network == ServerNetworkYes }

// fetcher describes a program that fetches the package of a server and starts it.
type fetcher struct {
	words    []string // the program, and its words before flags
	flags    []string // flags without a value
	values   []string // flags with a value
	packages []string // those of values that name a package
	// subcommand is the last of words for the command that fetches, if it is another one.
	subcommand string
	// fetch makes the command that fetches the packages without running anything of them.
	fetch func(flags, packages []string, name string) []string
	// run are the flags with which the server starts from what was fetched.
	run []string
}

var (
	npm  = fetcher{flags: []string{"-y", "--yes", "-q", "--quiet", "--silent", "-s"}, values: []string{"-p", "--package", "--registry", "--loglevel"}, packages: []string{"-p", "--package"}, fetch: fetchNPM, run: offlineFlag}
	pnpm = fetcher{flags: []string{"-s", "--silent"}, values: []string{"--package", "--registry", "--reporter", "--loglevel"}, packages: []string{"--package"}, fetch: fetchPNPM, run: offlineFlag}
	uv   = fetcher{flags: uvFlags, values: uvValues, packages: []string{"--from"}, fetch: fetchUV, run: offlineFlag}
	// Bun stores what it installed without scripts apart, and has no flag against the network.
	bun  = fetcher{flags: []string{"--bun", "--silent", "--verbose"}, values: []string{"-p", "--package", "--registry"}, packages: []string{"-p", "--package"}, fetch: fetchBun, run: []string{"--ignore-scripts"}}
	pipx = fetcher{flags: []string{"-q", "--quiet", "-v", "--verbose"}, values: []string{"--spec", "--python", "--index-url", "-i"}, packages: []string{"--spec"}, fetch: fetchPipx}
	deno = fetcher{flags: denoFlags, values: []string{"--config", "-c", "--import-map", "--cert"}, subcommand: "cache", fetch: fetchDeno, run: []string{"--cached-only"}}
)

var fetchers = []fetcher{
	npm.startedBy("npx"), npm.startedBy("npm", "exec"), npm.startedBy("npm", "x"), pnpm.startedBy("pnpm", "dlx"), pnpm.startedBy("pnpx"), uv.startedBy("uvx"), uv.startedBy("uv", "tool", "run"),
	bun.startedBy("bunx"), bun.startedBy("bun", "x"), pipx.startedBy("pipx", "run"), deno.startedBy("deno", "run"),
}

func (f fetcher) startedBy(words ...string) fetcher {
	f.words = words
	return f
}

// offlineFlag forbids the network.
var offlineFlag = []string{"--offline"}

var (
	denoFlags = []string{
		"-A", "--allow-all", "-R", "--allow-read", "-W", "--allow-write", "-N", "--allow-net", "-E", "--allow-env", "-S", "--allow-sys", "--allow-run", "--allow-ffi", "-q", "--quiet", "--no-prompt",
	}
	uvFlags  = []string{"-q", "--quiet", "-v", "--verbose", "--isolated", "--native-tls", "--no-config", "--no-progress", "-U", "--upgrade"}
	uvValues = []string{
		"--from", "--with", "-w", "-p", "--python", "--index", "--index-url", "-i", "--default-index", "--extra-index-url", "--prerelease", "--constraints", "-c", "--exclude-newer",
	}
)

// fetchNPM has npm install the packages without their scripts, and run nothing.
func fetchNPM(flags, packages []string, name string) []string {
	return slices.Concat([]string{"-y", "--ignore-scripts"}, flags, packageFlags(packages, name), []string{"--", "node", "-e", "0"})
}

// fetchPNPM has pnpm install the packages without their scripts, and run nothing.
func fetchPNPM(flags, packages []string, name string) []string {
	return slices.Concat([]string{"--ignore-scripts"}, flags, packageFlags(packages, name), []string{"node", "-e", "0"})
}

func packageFlags(packages []string, name string) (flags []string) {
	if len(packages) == 0 {
		packages = []string{name}
	}
	for _, p := range packages {
		flags = append(flags, "--package="+p)
	}
	return flags
}

// fetchUV has uv install the package from wheels, which run nothing, and run an empty program.
func fetchUV(flags, packages []string, name string) []string {
	if len(packages) == 0 {
		packages = []string{strings.TrimSuffix(name, "@latest")}
	}
	if before, version, ok := strings.Cut(packages[0], "@"); ok && !strings.ContainsAny(packages[0], ":/") {
		packages = []string{before + "==" + version}
	}
	return append(append(append([]string{"--no-build"}, flags...), "--from", packages[0]), "python", "-c", "")
}

// fetchBun has Bun install the packages without their scripts, and run nothing. With "-p" instead of
// "--package=", versions of Bun before 1.3 would run the package.
func fetchBun(flags, packages []string, name string) []string {
	return slices.Concat([]string{"--ignore-scripts"}, flags, packageFlags(packages, name), []string{"node", "-e", "0"})
}

// fetchPipx has pipx install the package, and run an empty program. The machine has pip install
// wheels only.
func fetchPipx(flags, packages []string, name string) []string {
	if len(packages) == 0 {
		packages = []string{name}
	}
	return append(flags, "--spec", packages[0], "python", "-c", "")
}

// fetchDeno has Deno download the modules, which asks for no permissions.
func fetchDeno(flags, _ []string, name string) []string {
	flags = slices.DeleteFunc(flags, func(f string) bool {
		f, _, _ = strings.Cut(f, "=")
		return slices.Contains(denoFlags, f)
	})
	return append(flags, name)
}

// FetchCommands returns the command that only fetches the package of a server, and the one that then
// runs the server without a network. ok is false for programs that cannot do that.
func (s ServerSpec) FetchCommands() (fetch, run []string, ok bool) {
	words := append([]string{s.Command}, s.Args...)
	var wrapper []string // on Windows, npx is a batch file
	if len(words) > 3 && strings.EqualFold(programName(words[0]), "cmd") && strings.EqualFold(words[1], "/c") {
		wrapper, words = words[:2], words[2:]
	}
	for _, f := range fetchers {
		n := len(f.words)
		if len(words) <= n || programName(words[0]) != f.words[0] || !slices.Equal(words[1:n], f.words[1:]) {
			continue
		}
		flags, packages, name, ok := f.split(words[n:])
		if !ok {
			return nil, nil, false
		}
		begin := slices.Concat(wrapper, words[:n])
		run = slices.Concat(begin, f.run, words[n:])
		if f.subcommand != "" {
			begin[len(begin)-1] = f.subcommand
		}
		return slices.Concat(begin, f.fetch(flags, packages, name)), run, true
	}
	return nil, nil, false
}

// split separates the flags of the program itself, the packages that they name, and the first other
// word. ok is false if it has a flag whose meaning is unknown, or neither a package nor a name.
func (f fetcher) split(words []string) (flags, packages []string, name string, ok bool) {
	for i := 0; i < len(words); i++ {
		flag, value, hasValue := strings.Cut(words[i], "=")
		switch {
		case words[i] == "--":
			if i+1 < len(words) {
				name = words[i+1]
			}
			return flags, packages, name, name != "" || len(packages) > 0
		case !strings.HasPrefix(words[i], "-"):
			return flags, packages, words[i], true
		case slices.Contains(f.flags, flag):
			flags = append(flags, words[i])
			continue
		case !slices.Contains(f.values, flag):
			return nil, nil, "", false
		case !hasValue:
			if i++; i == len(words) {
				return nil, nil, "", false
			}
			value = words[i]
		}
		if slices.Contains(f.packages, flag) {
			packages = append(packages, value)
		} else {
			flags = append(flags, flag, value)
		}
	}
	return flags, packages, "", len(packages) > 0
}

// programName returns the name of a program without its folder and the ending of Windows.
func programName(word string) string {
	name := strings.ToLower(path.Base(strings.ReplaceAll(word, `\`, "/")))
	for _, ending := range []string{".exe", ".cmd", ".bat"} {
		name = strings.TrimSuffix(name, ending)
	}
	return name
}

// loaders are programs that often fetch what they start, and that [ServerSpec.FetchCommands] does not
// know.
var loaders = []string{"npx", "npm", "uvx", "uv", "pipx", "bunx", "bun", "pnpm", "pnpx", "yarn", "deno", "docker", "podman", "go", "cmd"}

// SuggestedNetwork returns the value of Network with the least access with which a new server can be
// expected to start.
func (s ServerSpec) SuggestedNetwork() string {
	switch _, _, ok := s.FetchCommands(); {
	case s.Command == "":
		return ""
	case ok:
		return ServerNetworkFetch
	case s.isLoader():
		return ServerNetworkYes
	}
	return ServerNetworkNo
}

func (s ServerSpec) isLoader() bool { return slices.Contains(loaders, programName(s.Command)) }

// NeedsNetwork reports whether the command is one of a program that fetches what it starts, and that
// cannot do so beforehand.
func (s ServerSpec) NeedsNetwork() bool {
	_, _, ok := s.FetchCommands()
	return !ok && s.isLoader()
}

// CannotFetch says why ServerNetworkFetch is not possible for the command; empty if it is.
func (s ServerSpec) CannotFetch() string {
	if _, _, ok := s.FetchCommands(); ok {
		return ""
	}
	if programName(s.Command) == "yarn" {
		return "yarn cannot fetch a package without starting it; npx -y with the same package can: use it, choose no network, or allow it"
	}
	return programName(s.Command) + " cannot fetch a package without starting it in this form; npx, npm exec, pnpm dlx, bunx, uvx, pipx run and deno run can: choose no network, or allow it"
}

// NetworkText says whether the command of an MCP server may use the network; empty for a server at an
// address.
func (s ServerSpec) NetworkText() string {
	switch {
	case s.Command == "":
		return ""
	case s.Network == ServerNetworkNo:
		return "no network"
	case s.Network == ServerNetworkFetch:
		return "network only to fetch its package"
	}
	return "may use the network"
}

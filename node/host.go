package node

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"fairlead/gateway/protocol"
	"fairlead/node/shell"
	"fairlead/node/system"
	"fairlead/node/workspace"
)

// platform returns the platform in GSV's form, such as "linux-x64".
func platform() string {
	arch := runtime.GOARCH
	if arch == "amd64" {
		arch = "x64"
	}
	return runtime.GOOS + "-" + arch
}

func (n *Node) hostInfo() *protocol.HostInfo {
	h := &protocol.HostInfo{OS: osName(), Arch: runtime.GOARCH, Workspace: workspace.Spell(n.ws.Dir()), Shell: shell.Path()}
	h.Sandbox, h.Enforcement = n.opts.Confine.enforcement(n.box.Report(), h.Workspace)
	if n.baseline != nil {
		h.Enforcement.SetsAside = n.baseline.Denials.Folders()
	}
	if h.Enforcement != nil {
		h.Enforcement.HidesOutside = true
	}
	h.Folders = []protocol.Folder{{Path: h.Workspace, ReadOnly: n.ws.Config().ReadOnly}}
	for _, g := range n.opts.Confine.Grants {
		h.Folders = append(h.Folders, protocol.Folder{Path: g.Dir, ReadOnly: g.ReadOnly || n.ws.Config().ReadOnly})
	}
	h.WholeDisk = n.opts.Confine.WholeDisk
	about := system.Describe()
	h.System = &about
	h.Hostname, _ = os.Hostname()
	h.Home, _ = os.UserHomeDir()
	if u, err := user.Current(); err == nil {
		h.User = u.Username
	}
	if n.opts.Home != "" {
		if dir, err := filepath.Abs(n.opts.Home); err == nil {
			h.Private = workspace.Spell(dir)
		}
	}
	h.Aliases = workspace.Aliases(slices.Concat(topFolders(), n.opts.namedFolders(), []string{h.Home, os.TempDir(), h.Private})...)
	return h
}

// namedFolders returns the workspace and the granted folders as the person named them, absolute.
func (o Options) namedFolders() (list []string) {
	names := []string{o.Workspace}
	for _, g := range o.Confine.Grants {
		names = append(names, g.Dir)
	}
	for _, name := range names {
		if dir, err := filepath.Abs(name); err == nil {
			list = append(list, dir)
		}
	}
	return list
}

// topFolders returns the entries at the top of the file system, where a system has most of its own
// links, such as /bin, or /tmp on macOS.
func topFolders() (list []string) {
	if runtime.GOOS == "windows" {
		return nil
	}
	top, err := os.ReadDir("/")
	if err != nil {
		return nil
	}
	for _, e := range top {
		if e.Type()&os.ModeSymlink != 0 {
			list = append(list, "/"+e.Name())
		}
	}
	return list
}

// osName returns the name of the system for people. gopsutil would add 0.6 MB to the program and
// returns "debian 12.5" instead of the name that a distribution gives itself.
func osName() string {
	switch runtime.GOOS {
	case "linux":
		for _, path := range []string{"/etc/os-release", "/usr/lib/os-release"} {
			if name := prettyName(path); name != "" {
				return name
			}
		}
		return "Linux"
	case "darwin":
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		if out, err := exec.CommandContext(ctx, "sw_vers", "-productVersion").Output(); err == nil {
			return strings.TrimSpace("macOS " + string(out))
		}
		return "macOS"
	case "windows":
		return "Windows"
	}
	return runtime.GOOS
}

// prettyName reads PRETTY_NAME of os-release(5).
func prettyName(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if value, ok := strings.CutPrefix(lines.Text(), "PRETTY_NAME="); ok {
			return strings.Trim(value, `"'`)
		}
	}
	return ""
}

const maxPrograms = 8000

// programs lists the names of the programs in PATH, sorted; on Windows in lower case and without
// their extension. Skills that need a program are offered only where it exists.
func programs() []string {
	var list []string
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			name := e.Name()
			if runtime.GOOS == "windows" {
				ext := filepath.Ext(name)
				if !slices.Contains([]string{".exe", ".cmd", ".bat", ".com"}, strings.ToLower(ext)) {
					continue
				}
				name = strings.ToLower(strings.TrimSuffix(name, ext))
			} else if info, err := os.Stat(filepath.Join(dir, name)); err != nil || !info.Mode().IsRegular() || info.Mode()&0o111 == 0 {
				continue
			}
			if len(name) <= 128 && !strings.ContainsAny(name, "\n\r") {
				list = append(list, name)
			}
		}
	}
	slices.Sort(list)
	list = slices.Compact(list)
	return list[:min(len(list), maxPrograms)]
}

package gateway_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
)

// level is a set of packages that may import each other and those of earlier levels.
type level struct {
	name     string
	packages []string // import paths without "fairlead/"; one that ends in /... means all below it too
}

// levels are every package of the module, from the bottom up. The longest matching path counts.
var levels = []level{
	{"contract", []string{"gateway/protocol", "assets"}},
	{"peer", []string{"gateway/peer/..."}},
	{"client", []string{"gateway/protocol/client", "gateway/protocol/display", "gateway/protocol/forward", "gateway/protocol/repeat", "gateway/export", "gateway/clients", "gateway/doctor"}},
	{"foundation", []string{
		"gateway/config", "gateway/cron/when", "gateway/event", "gateway/llm/...", "gateway/policy/...", "gateway/speech", "gateway/store/...",
	}},
	{"stages", []string{
		"gateway/approval", "gateway/auth", "gateway/question/...", "gateway/tool/...", "gateway/journal", "gateway/native", "gateway/nodes", "gateway/service/...", "gateway/signin", "gateway/skills", "gateway/terminal", "gateway/workspace",
	}},
	{"behaviour", []string{
		"gateway/agent", "gateway/apps", "gateway/catalog", "gateway/channel/...", "gateway/cron/...", "gateway/exposure", "gateway/forward", "gateway/network", "gateway/pairing/...", "gateway/provision/...", "gateway/servers/...", "gateway/session/...",
		"gateway/transfer", "gateway/tunnel", "gateway/usage", "node/...",
	}},
	{"surfaces", []string{"gateway/surface/...", "app/...", "tray"}},
	{"wiring", []string{"gateway", "gateway/gatewaytest", "app", "app/backend", "gateway/cmd/fairlead", "node/cmd/fairlead-node", "packaging/notices", "packaging/providers/docker", "packaging/providers/ssh", "packaging/protocol", "packaging/unicode", ""}},
}

// systems are the values of GOOS that Fairlead is built for.
var systems = []string{"linux", "windows", "darwin", "freebsd"}

// rule forbids packages under from, except those under except, to import packages under not, except
// those under may. Levels already forbid imports that point up; rules are for packages that could
// import each other by level.
type rule struct {
	from, not   string
	may, except []string
	why         string
}

var rules = []rule{
	{
		from: "gateway/protocol", not: "", except: []string{"gateway/protocol/client", "gateway/protocol/display", "gateway/protocol/forward", "gateway/protocol/repeat"},
		why: "wire types need nothing else",
	},
	{
		from: "gateway", not: "gateway/protocol/display", except: []string{"gateway/protocol", "gateway/cmd", "gateway/doctor", "gateway/export", "gateway/session"},
		why: "texts for people belong to windows and the command line; a chat words its question for messengers",
	},
	{from: "node", not: "gateway/protocol/display", why: "texts for people belong to windows and the command line"},
	{from: "gateway/peer/shell", not: "", why: "parsing a command needs nothing else"},
	{from: "gateway/policy", not: "", may: []string{"gateway/protocol", "gateway/peer/shell", "gateway/peer/sensitive", "gateway/peer/glob"}, why: "the command line judges like the gateway"},
	{from: "gateway/agent", not: "gateway/store", why: "the loop does no I/O"},
	{from: "gateway/tool", not: "gateway/nodes", except: []string{"gateway/tool/tooltest"}, why: "the stages import the spine, not the other way round"},
	{from: "gateway/tool", not: "gateway/store", why: "the stages import the spine, not the other way round"},
	{from: "gateway/channel", not: "gateway/session", why: "a channel reaches chats through an interface"},
	{from: "gateway/transfer", not: "gateway/session", why: "transfers do not need chats"},
	{
		from: "gateway", not: "node", except: []string{"gateway/cmd"},
		why: "the gateway reaches machines over the wire only",
	},
	{
		from: "node", not: "gateway", may: []string{"gateway/protocol", "gateway/peer"},
		why: "a node knows the contract and the code that both ends run",
	},
	{from: "node/direct", not: "node", why: "it connects two ends and knows neither files nor tools"},
	{
		from: "app/", not: "gateway", may: []string{"gateway/protocol", "gateway/peer", "gateway/clients", "gateway/doctor", "gateway/export"}, except: []string{"app/backend"},
		why: "windows are clients of the protocol, and share three tasks of the person with the command line; one package starts the gateway",
	},
	{from: "app/", not: "node", except: []string{"app/computer", "app/backend"}, why: "windows are clients of the protocol; one package runs this computer's nodes, and one says how"},
	{from: "tray", not: "gateway", may: []string{"gateway/protocol", "gateway/peer/format", "gateway/peer/crash"}, why: "the tray is a client of the protocol"},
	{from: "gateway/surface", not: "app", why: "surfaces do not know each other"},
	{from: "gateway", not: "tray", why: "the gateway runs without a screen"},
}

// only lists packages of other modules that belong in one place each.
var only = map[string][]string{
	"fyne.io/":                             {"app", "tray"},
	"fyne.io/fyne/v2/app":                  {"app"},
	"fyne.io/systray":                      {"tray"},
	"gorm.io/":                             {"gateway/store"},
	"github.com/glebarez/":                 {"gateway/store"},
	"github.com/gorilla/websocket":         {"gateway/surface/rpc", "gateway/protocol/client", "gateway/peer/wire", "app/feed/feedtest"},
	"github.com/zalando/go-keyring":        {"gateway/peer/keychain"},
	"github.com/fsnotify/fsnotify":         {"node/workspace/watch", "gateway/workspace"},
	"go.yaml.in/yaml/":                     {"gateway/skills"},
	"github.com/cloudflare/circl/":         {"gateway/peer/pake"},
	"github.com/bwesterb/":                 {"gateway/peer/pake"},
	"github.com/libp2p/go-yamux/":          {"gateway/peer/tunnel"},
	"github.com/mdp/qrterminal/":           {"gateway/cmd/fairlead"},
	"rsc.io/qr":                            {"app/widgets"},
	"github.com/go-text/":                  {"app/fonts", "app/typeset"},
	"github.com/yuin/goldmark":             {"app/markdown", "gateway/export"},
	"github.com/hashicorp/mdns":            {"gateway/peer/discovery"},
	"github.com/charmbracelet/x/":          {"node/pty", "gateway/peer/screen", "app/code", "gateway/export"},
	"github.com/bep/imagemeta":             {"gateway/peer/picture"},
	"github.com/aymanbagabas/":             {"gateway/peer/diff"},
	"github.com/rogpeppe/go-internal/diff": {"gateway/peer/diff"},
	"github.com/coreos/go-oidc/":           {"gateway/signin"},
	"github.com/go-webauthn/":              {"gateway/signin"},
	"github.com/wneessen/go-mail":          {"gateway/signin"},
}

// noToolkit are packages under app that work without Fyne.
var noToolkit = []string{"app/chats", "app/feed", "app/forwards", "app/lists", "app/machine", "app/unsaved", "app/question", "app/transfer", "app/wording", "app/launch", "app/notify", "app/system", "app/instance", "app/picture"}

type pkg struct {
	ImportPath string
	Imports    []string
}

// packages lists the module's packages as they are built for one system.
func packages(t *testing.T, system string) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Imports", "fairlead/...")
	cmd.Env = append(os.Environ(), "HOME="+personHome, "GOOS="+system, "CGO_ENABLED=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.Bytes())
	}
	var list []pkg
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		list = append(list, p)
	}
	if len(list) < 50 {
		t.Fatalf("got %d packages, want all of the module", len(list))
	}
	return list
}

// local returns an import path without the module's name; ok is false for other modules.
func local(path string) (_ string, ok bool) {
	if path == "fairlead" {
		return "", true
	}
	return strings.CutPrefix(path, "fairlead/")
}

// isBelow reports whether path is prefix or lies below it; a prefix that ends in / means only what
// lies below.
func isBelow(path, prefix string) bool {
	if prefix == "" || strings.HasSuffix(prefix, "/") {
		return strings.HasPrefix(path, prefix)
	}
	return path == prefix || strings.HasPrefix(path, prefix+"/")
}

func underAny(path string, prefixes []string) bool {
	for _, p := range prefixes {
		if isBelow(path, p) {
			return true
		}
	}
	return false
}

// levelOf returns the index of a package's level and the entry that names it, or -1.
func levelOf(path string) (at int, entry string) {
	at, longest := -1, -1
	for i, l := range levels {
		for _, e := range l.packages {
			tree, all := strings.CutSuffix(e, "/...")
			if (path == tree || all && strings.HasPrefix(path, tree+"/")) && (len(tree) > longest || path == e) {
				at, entry, longest = i, e, len(tree)
			}
		}
	}
	return at, entry
}

func TestEveryPackageHasALevelAndImportsPointDown(t *testing.T) {
	t.Parallel()
	used := map[string]bool{}
	for _, system := range systems {
		for _, p := range packages(t, system) {
			path, _ := local(p.ImportPath)
			from, entry := levelOf(path)
			used[entry] = true
			if from < 0 {
				t.Errorf("%s has no level: add it to levels", p.ImportPath)
				continue
			}
			for _, imp := range p.Imports {
				to, ok := local(imp)
				if !ok {
					continue
				}
				if at, _ := levelOf(to); at > from {
					t.Errorf("%s: %s (%s) imports %s (%s), which points up", system, path, levels[from].name, to, levels[at].name)
				}
			}
		}
	}
	for _, l := range levels {
		for _, e := range l.packages {
			if !used[e] {
				t.Errorf("level %s names %q, which does not exist", l.name, e)
			}
		}
	}
}

func TestPackagesStayWithinTheirRules(t *testing.T) {
	t.Parallel()
	for _, system := range systems {
		for _, p := range packages(t, system) {
			path, _ := local(p.ImportPath)
			for _, imp := range p.Imports {
				to, ours := local(imp)
				if !ours {
					checkModule(t, path, imp)
					continue
				}
				for _, r := range rules {
					if isBelow(path, r.from) && !underAny(path, r.except) && isBelow(to, r.not) && to != path && !underAny(to, r.may) {
						t.Errorf("%s: %s imports %s: %s", system, path, to, r.why)
					}
				}
			}
		}
	}
}

// checkModule checks an import of another module's package.
func checkModule(t *testing.T, path, imp string) {
	t.Helper()
	for module, homes := range only {
		if strings.HasPrefix(imp, module) && !underAny(path, homes) {
			t.Errorf("%s imports %s, which belongs in %v alone", path, imp, homes)
		}
	}
	if strings.HasPrefix(imp, "fyne.io/") && underAny(path, noToolkit) {
		t.Errorf("%s imports %s: it works without a toolkit", path, imp)
	}
}

// codeSpan is inline code in Markdown.
var codeSpan = regexp.MustCompile("`([^`]+)`")

// TestTheArchitecturePageIsTrue checks that docs/architecture.md names every package under its
// level, and only files that exist.
func TestTheArchitecturePageIsTrue(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	named := map[string]string{} // level by package
	heading := ""
	for line := range strings.Lines(string(page)) {
		if h, ok := strings.CutPrefix(line, "#"); ok {
			heading = strings.ToLower(strings.Trim(h, "# \n"))
		}
		first, _, _ := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		for _, m := range codeSpan.FindAllStringSubmatch(line, -1) {
			if strings.HasSuffix(m[1], ".go") || strings.HasSuffix(m[1], ".txt") {
				if _, err := os.Stat("../" + m[1]); err != nil {
					t.Errorf("the page names %s: %v", m[1], err)
				}
			}
			if strings.HasPrefix(line, "| `") && strings.Contains(first, m[0]) && named[m[1]] == "" {
				named[m[1]] = heading
			}
		}
	}
	for _, p := range packages(t, "linux") {
		path, _ := local(p.ImportPath)
		at, _ := levelOf(path)
		if path == "" {
			path = "."
		}
		if got := named[path]; at >= 0 && got != levels[at].name {
			t.Errorf("%s stands under %q, want %q", path, got, levels[at].name)
		}
	}
}

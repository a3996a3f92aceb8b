package gateway_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// rule forbids packages under from, but not those under except, to import packages under not, but for those under may.
type rule struct {
	from, not   string
	may, except []string
	why         string
}

var rules = []rule{
	{from: "fairlead/gateway/protocol", not: "fairlead/", may: []string{"fairlead/gateway/protocol"}, why: "the contract stands alone"},
	{from: "fairlead/gateway/event", not: "fairlead/", may: []string{"fairlead/gateway/protocol"}, why: "L1 knows only the contract"},
	{from: "fairlead/gateway/store", not: "fairlead/", may: []string{"fairlead/gateway/protocol", "fairlead/gateway/store"}, why: "L1 knows only the contract"},
	{from: "fairlead/gateway/llm", not: "fairlead/", may: []string{"fairlead/gateway/protocol", "fairlead/gateway/llm"}, why: "L1 knows only the contract"},
	{from: "fairlead/gateway/approval/shell", not: "fairlead/", why: "taking a command apart needs nothing else"},
	{
		from: "fairlead/gateway/approval/policy", not: "fairlead/", may: []string{"fairlead/gateway/protocol", "fairlead/gateway/approval/shell", "fairlead/gateway/peer/sensitive"},
		why: "the command line and the gateway judge alike",
	},
	{
		from: "fairlead/gateway/skills", not: "fairlead/", may: []string{"fairlead/gateway/protocol", "fairlead/gateway/config", "fairlead/gateway/workspace"},
		why: "what was taught is files, machines and settings",
	},
	{
		from: "fairlead/gateway/protocol/stream", not: "fairlead/", may: []string{"fairlead/gateway/protocol", "fairlead/gateway/protocol/stream"},
		why: "both ends of a transfer, wherever they are, share it",
	},
	{from: "fairlead/gateway/peer/sensitive", not: "fairlead/", why: "gateways and nodes share one list of files"},
	{from: "fairlead/gateway/protocol/tcp", not: "fairlead/", why: "it is a connection, whoever speaks over it"},
	{from: "fairlead/gateway/protocol/picture", not: "fairlead/", why: "it reads pictures, whoever shows or sends them"},
	{from: "fairlead/gateway/protocol/lock", not: "fairlead/", why: "whoever is one at a time uses it"},
	{
		from: "fairlead/gateway/protocol/trust", not: "fairlead/", may: []string{"fairlead/gateway/protocol", "fairlead/gateway/protocol/secret", "fairlead/gateway/protocol/tcp"},
		why: "both ends of a pairing use it",
	},
	{from: "fairlead/gateway/install", not: "fairlead/", may: []string{"fairlead/gateway/protocol"}, why: "it hands out files"},
	{from: "fairlead/gateway/pairing", not: "fairlead/gateway/rpc", why: "the surface calls it, not the other way round"},
	{from: "fairlead/gateway/channel", not: "fairlead/", may: []string{
		"fairlead/gateway/protocol", "fairlead/gateway/auth", "fairlead/gateway/config", "fairlead/gateway/event",
		"fairlead/gateway/store", "fairlead/gateway/channel", "fairlead/gateway/speech",
	}, why: "a channel gives text, pictures and recordings to the chats through an interface"},
	{from: "fairlead/gateway/speech", not: "fairlead/", may: []string{"fairlead/gateway/protocol"}, why: "a server that transcribes is asked by whoever has its key"},
	{
		from: "fairlead/gateway/background", not: "fairlead/", may: []string{"fairlead/gateway/protocol", "fairlead/gateway/store"},
		why: "what machines report reaches chats through an interface",
	},
	{from: "fairlead/gateway/span", not: "fairlead/", why: "settings and schedules read the same words"},
	{from: "fairlead/gateway/agent", not: "fairlead/gateway/store", why: "the loop does no I/O"},
	{from: "fairlead/gateway/", not: "fairlead/node", except: []string{"fairlead/gateway/cmd"}, why: "the gateway reaches machines over the wire only"},
	{from: "fairlead/gateway/", not: "fairlead/app", why: "the gateway runs without a screen"},
	{from: "fairlead/gateway/", not: "fairlead/tray", why: "the gateway runs without a screen"},
	{from: "fairlead/gateway", not: "fyne.io/", why: "the gateway runs without a screen"},
	{
		from: "fairlead/node", not: "fairlead/gateway", may: []string{"fairlead/gateway/protocol", "fairlead/gateway/peer"},
		why: "a node knows only the contract, and the code that both ends run",
	},
	{from: "fairlead/node/files", not: "fairlead/", may: []string{"fairlead/gateway/protocol", "fairlead/node/workspace"}, why: "the browser works on files, through the one door"},
	{from: "fairlead/node/direct", not: "fairlead/", may: []string{"fairlead/gateway/protocol"}, why: "it connects two ends, and knows neither files nor tools"},
	{from: "fairlead/node", not: "fyne.io/", why: "a node runs without a screen"},
	{from: "fairlead/app/", not: "fairlead/gateway", may: []string{"fairlead/gateway/protocol"}, why: "windows are clients of the protocol"},
	{from: "fairlead/app/", not: "fairlead/node", why: "windows are clients of the protocol"},
	{from: "fairlead/app/state", not: "fyne.io/", why: "view-models are tested without a toolkit"},
	{from: "fairlead/tray", not: "fairlead/gateway", may: []string{"fairlead/gateway/protocol"}, why: "the tray is a client of the protocol"},
	{from: "fairlead/gateway/", not: "fairlead/gateway", may: []string{"fairlead/gateway/"}, except: []string{"fairlead/gateway/cmd"}, why: "only mains and the app start the composition root"},
}

// only lists outside packages that belong in one place each.
var only = map[string][]string{
	"gorm.io/":                             {"fairlead/gateway/store"},
	"github.com/glebarez/":                 {"fairlead/gateway/store"},
	"github.com/gorilla/websocket":         {"fairlead/gateway/rpc", "fairlead/gateway/protocol/client", "fairlead/gateway/protocol/wire"},
	"github.com/zalando/go-keyring":        {"fairlead/gateway/protocol/secret"},
	"github.com/fsnotify/fsnotify":         {"fairlead/node/workspace", "fairlead/gateway/workspace"},
	"go.yaml.in/yaml/":                     {"fairlead/gateway/skills"},
	"fyne.io/fyne/v2/app":                  {"fairlead/app"},
	"github.com/anthropics/":               {"fairlead/gateway/llm/anthropic"},
	"github.com/cloudflare/circl/":         {"fairlead/gateway/protocol/trust"},
	"github.com/bwesterb/":                 {"fairlead/gateway/protocol/trust"},
	"github.com/mdp/qrterminal/":           {"fairlead/gateway/cmd/fairlead"},
	"rsc.io/qr":                            {"fairlead/app/widgets"},
	"github.com/go-text/":                  {"fairlead/app/glyph"},
	"github.com/yuin/goldmark":             {"fairlead/app/widgets"},
	"github.com/hashicorp/mdns":            {"fairlead/gateway/protocol/discover"},
	"github.com/charmbracelet/x/":          {"fairlead/node/tools"},
	"github.com/bep/imagemeta":             {"fairlead/gateway/protocol/picture"},
	"github.com/aymanbagabas/":             {"fairlead/gateway/protocol/unified"},
	"github.com/rogpeppe/go-internal/diff": {"fairlead/gateway/protocol/unified"},
}

type pkg struct {
	ImportPath string
	Imports    []string
}

func packages(t *testing.T) []pkg {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Imports", "fairlead/...")
	cmd.Env = append(os.Environ(), "HOME="+personHome)
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
	return list
}

// under reports whether path is prefix or lies below it; a prefix that ends in / means only what lies below.
func under(path, prefix string) bool {
	if strings.HasSuffix(prefix, "/") {
		return strings.HasPrefix(path, prefix)
	}
	return path == prefix || strings.HasPrefix(path, prefix+"/")
}

func underAny(path string, prefixes []string) bool {
	for _, p := range prefixes {
		if under(path, p) {
			return true
		}
	}
	return false
}

func TestImportsPointDownTheLayers(t *testing.T) {
	list := packages(t)
	if len(list) < 5 {
		t.Fatalf("only %d packages found", len(list))
	}
	for _, p := range list {
		for _, imp := range p.Imports {
			for _, r := range rules {
				if under(p.ImportPath, r.from) && !underAny(p.ImportPath, r.except) && under(imp, r.not) && !underAny(imp, r.may) {
					t.Errorf("%s imports %s: %s", p.ImportPath, imp, r.why)
				}
			}
			for module, homes := range only {
				if strings.HasPrefix(imp, module) && !underAny(p.ImportPath, homes) {
					t.Errorf("%s imports %s, which belongs in %v alone", p.ImportPath, imp, homes)
				}
			}
		}
	}
}

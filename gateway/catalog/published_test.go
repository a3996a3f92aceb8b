package catalog

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"fairlead/gateway/config"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
	"fairlead/gateway/tool/job"
)

// targetFields are the fields with which nearly every tool names its machine.
const targetFields = " target.node_id target.network_name target.node_name"

// published is what the specification prints of each tool: the scopes, and the fields of arguments
// and result. A field is a text unless a type follows it; a bar separates fixed values. A star marks
// a required field.
var published = map[string]struct {
	scopes, in, out string
}{
	"network_directory": {
		"network.read", "network_name online:boolean node_name_glob hostname_glob platform_glob brief:boolean",
		"networks:array networks.id networks.name networks.files_url networks.nodes:array networks.nodes.id networks.nodes.name networks.nodes.online:boolean networks.nodes.info.hostname " +
			"networks.nodes.info.agent_version networks.nodes.info.version_status networks.nodes.info.channel_version networks.nodes.info.platform networks.nodes.info.platform_version " +
			"networks.nodes.info.kernel_arch networks.nodes.task_id networks.nodes.info.virtualization networks.nodes.services:array networks.nodes.services.id networks.nodes.services.title networks.nodes.services.url " +
			"networks.nodes.services.public_url networks.nodes.services.command",
	},
	"network_create":   {"network.write", "name*", "network_id name index:number created_at"},
	"network_delete":   {"network.write", "network_name force:boolean", "network_id name nodes_removed:number message"},
	"whoami":           {"", "", "user_id email"},
	"provision_node":   {"provisioning.write", "node_name* network_name provider cpu:number memory:number", "task_id* provider* resource_summary* notes*:array"},
	"deprovision_node": {"provisioning.write", "task_id*", "task_id* reference* provider* notes*:array"},
	"register_node":    {"node.register", "network_name node_name", "shell_install_command* power_shell_install_command* cmd_install_command*"},
	"service_publish": {
		"service.write", "node_id network_name node_name title proxy_target_url proxy_target_encoding terminal_command username workdir enabled:boolean auth_required:boolean authorized_emails:array",
		"service_id public_url mode",
	},
	"service_update": {
		"service.write", "service_id* auth_required:boolean enabled:boolean title proxy_target_url proxy_target_encoding terminal_command username workdir",
		"service_id public_url mode title enabled:boolean auth_required:boolean",
	},
	"service_delete": {"service.write", "service_id*", "service_id mode public_url"},
	"service_share":  {"service.write", "service_id* action* emails:array", "service_id authorized_emails:array"},
	"command": {
		"shell.exec", "command_id session.node_id session.network_name session.node_name session.command* session.shell|auto|powershell session.username session.workdir session.env:object input raw:boolean " +
			"signal|SIGINT|SIGTERM|SIGHUP|SIGQUIT|SIGKILL idle_timeout:number",
		"command_id* output exit_code:number state* duration_ms*:number dropped_bytes:number",
	},
	"file": {
		"fs.read fs.write", "file_id" + targetFields + " op|read|write|edit|multi_edit|list|stat|delete|mkdir|batch|fetch_url path encoding|base64|utf8 offset:number max_bytes:number chunk_b64 chunk done:boolean mode " +
			"recursive:boolean force:boolean old_string new_string replace_all:boolean edits:array edits.old_string edits.new_string edits.replace_all:boolean edits.expected_sha256 expected_sha256 ops:array url " +
			"headers:object fetch_max_bytes:number",
		"batch_results:array",
	},
	"fs_read": {
		"fs.read", "file_id" + targetFields + " path offset:number encoding|base64|utf8 max_bytes:number",
		"file_id path chunk_b64 chunk offset:number size:number total:number sha256 done:boolean duration_ms:number",
	},
	"fs_write": {
		"fs.write", "file_id" + targetFields + " path mode encoding|base64|utf8 chunk_b64 chunk done:boolean expected_sha256",
		"file_id path offset:number total:number sha256 done:boolean duration_ms:number",
	},
	"fs_edit": {
		"fs.write", targetFields + " path old_string new_string replace_all:boolean edits:array edits.old_string* edits.new_string* edits.replace_all:boolean edits.expected_sha256 expected_sha256",
		"path edits_applied:number total:number sha256 old_size:number old_sha256 duration_ms:number",
	},
	"fs_list": {
		"fs.read", targetFields + " path* recursive:boolean limit:number",
		"path entries:array entries.name entries.path entries.size:number entries.mode entries.mtime:number entries.is_dir:boolean entries.error count:number truncated:boolean duration_ms:number",
	},
	"fs_stat":        {"fs.read", targetFields + " path*", "path entry.name entry.size:number entry.mode entry.mtime:number entry.is_dir:boolean duration_ms:number"},
	"fs_delete":      {"fs.write", targetFields + " path* recursive:boolean force:boolean", "path duration_ms:number"},
	"fs_mkdir":       {"fs.write", targetFields + " path* mode recursive:boolean", "path duration_ms:number"},
	"fs_glob":        {"fs.read", targetFields + " path* pattern*", "path matches:array count:number truncated:boolean duration_ms:number"},
	"fs_grep":        {"fs.read", targetFields + " path* pattern*", "path matches:array matches.path matches.line:number matches.text count:number truncated:boolean duration_ms:number"},
	"net_peers":      {"net.read", targetFields, "peers:array peers.name peers.internal_ip peers.dst_ip peers.remote_id peers.local:boolean count:number duration_ms:number"},
	"net_interfaces": {"net.read", targetFields, "interfaces:array interfaces.name interfaces.index:number interfaces.mtu:number interfaces.hardware_addr interfaces.flags:array interfaces.addrs:array count:number duration_ms:number"},
	"net_metrics": {
		"net.read", targetFields, "uptime_secs:number goroutines:number heap_alloc_bytes:number heap_sys_bytes:number num_gc:number gc_pause_total_ms:number num_cpu:number gomaxprocs:number version os arch duration_ms:number",
	},
	"net_routes": {"net.read", targetFields, "routes:array routes.family routes.destination routes.gateway routes.source routes.interface routes.metric:number routes.scope routes.protocol count:number duration_ms:number"},
	"net_dns":    {"net.read", targetFields, "nameservers:array search:array options:array source stub:boolean note duration_ms:number"},
}

// fields lists the fields of a schema in the notation of published, each with and without its star.
func fields(prefix string, s *jsonschema.Schema, all map[string]bool) map[string]bool {
	if s.Items != nil {
		return fields(prefix, s.Items, all)
	}
	for name, p := range s.Properties {
		kind := ":" + p.Type
		switch {
		case len(p.Enum) > 0:
			kind = ""
			for _, v := range p.Enum {
				kind += fmt.Sprint("|", v)
			}
		case p.Type == "string":
			kind = ""
		case p.Type == "integer":
			kind = ":number"
		}
		all[prefix+name+kind] = true
		if slices.Contains(s.Required, name) {
			all[prefix+name+"*"+kind] = true
		}
		fields(prefix+name+".", p, all)
	}
	return all
}

func TestEveryToolHasThePublishedFields(t *testing.T) {
	tools := newBench(t).Catalog.Tools(app("a", protocol.ScopeNetworkRead, protocol.ScopeNetworkWrite, protocol.ScopeShell, protocol.ScopeFilesRead, protocol.ScopeFilesWrite, protocol.ScopeNetRead, protocol.ScopeService, protocol.ScopeNodeRegister, protocol.ScopeProvision))
	if len(tools) != len(published) {
		t.Errorf("got %d tools, want %d", len(tools), len(published))
	}
	for _, x := range tools {
		t.Run(x.Name, func(t *testing.T) {
			want := published[x.Name]
			if got := strings.Trim(fmt.Sprint(x.Scopes), "[]"); got != want.scopes {
				t.Errorf("scopes %s, want %s", got, want.scopes)
			}
			if (x.Mode == ServerStream) != (x.Name == "fs_grep" || x.Name == "fs_glob") {
				t.Errorf("got mode %s, want a stream for fs_grep and fs_glob only", x.Mode)
			}
			for kind, s := range map[string]*jsonschema.Schema{want.in: x.In, want.out: x.Out} {
				have := fields("", s, make(map[string]bool))
				for _, field := range strings.Fields(kind) {
					if !have[field] {
						t.Errorf("got fields %[2]v, want %[1]s among them", field, have)
					}
				}
			}
			if x.Name == "command" && !strings.Contains(x.Description, "To move files, use file") {
				t.Errorf("got the description %s, want it to say what moves files", x.Description)
			}
		})
	}
}

// TestResultsOfMachinesArrive has, for each tool, arguments and a machine's result with every field.
func TestResultsOfMachinesArrive(t *testing.T) {
	const file = `{"file_id":"f","path":"/x","chunk_b64":"eA==","offset":1,"size":2,"total":3,"sha256":"s","done":true,"duration_ms":4}`
	const written = `{"file_id":"f","path":"/x","offset":1,"total":3,"sha256":"s","done":true,"duration_ms":4}`
	const list = `{"path":"/x","entries":[{"name":"a","path":"/x/a","size":1,"mode":"0644","mtime":2,"is_dir":true,"error":"e"}],"count":1,"truncated":true,"duration_ms":4}`
	const stat = `{"path":"/x","entry":{"name":"x","size":1,"mode":"0644","mtime":2,"is_dir":false},"duration_ms":4}`
	for _, c := range []struct{ tool, args, result string }{
		{"fs_read", ``, file},
		{"file", `"op":"read"`, file},
		{"fs_read", `"encoding":"utf8"`, strings.Replace(file, `"chunk_b64":"eA=="`, `"chunk":""`, 1)},
		{"fs_write", `"done":true`, written},
		{"file", `"op":"write","done":true`, written},
		{"fs_list", ``, list},
		{"file", `"op":"list"`, list},
		{"fs_stat", ``, stat},
		{"file", `"op":"stat"`, stat},
		{"fs_delete", ``, `{"path":"/x","duration_ms":4}`},
		{"file", `"op":"delete"`, `{"path":"/x","duration_ms":4}`},
		{"fs_mkdir", ``, `{"path":"/x","duration_ms":4}`},
		{"file", `"op":"mkdir"`, `{"path":"/x","duration_ms":4}`},
		{"file", `"op":"fetch_url","url":"http://x"`, `{"path":"/x","total":3,"sha256":"s","duration_ms":4}`},
		{"fs_glob", `"pattern":"y"`, `{"path":"/x","matches":["/x/y"],"count":1,"truncated":true,"left_out":["/x/k"],"duration_ms":4}`},
		{"fs_grep", `"pattern":"y"`, `{"path":"/x","matches":[{"path":"/x/a","line":1,"text":"y","before":["b"],"after":["c"]}],"count":1,"files":1,"truncated":true,"left_out":["/x/k"],"duration_ms":4}`},
		{"net_interfaces", ``, `{"interfaces":[{"name":"eth0","index":1,"mtu":1500,"hardware_addr":"00:00","flags":["up"],"addrs":["10.0.0.2/24"]}],"count":1,"duration_ms":4}`},
		{"net_metrics", ``, `{"uptime_secs":1,"goroutines":2,"heap_alloc_bytes":3,"heap_sys_bytes":4,"num_gc":5,"gc_pause_total_ms":6.5,"num_cpu":7,"gomaxprocs":8,"version":"go1","os":"linux","arch":"amd64","duration_ms":4}`},
		{"net_routes", ``, `{"routes":[{"family":"ip4","destination":"default","gateway":"10.0.0.1","source":"10.0.0.2","interface":"eth0","metric":1,"scope":"global","protocol":"dhcp"}],"count":1,"duration_ms":4}`},
		{"net_dns", ``, `{"nameservers":["10.0.0.1"],"search":["a"],"options":["rotate"],"source":"/etc/resolv.conf","stub":true,"note":"n","duration_ms":4}`},
	} {
		t.Run(c.tool+" "+c.args, func(t *testing.T) {
			b := newBench(t)
			b.answer = func(context.Context, tool.Call) (tool.Result, error) { return succeed(c.result), nil }
			fields := []string{`"target":{"node_id":"nas"}`}
			if !strings.HasPrefix(c.tool, "net_") {
				fields = append(fields, `"path":"/x"`)
			}
			if c.args != "" {
				fields = append(fields, c.args)
			}
			r, err := b.call(me, c.tool, "{"+strings.Join(fields, ",")+"}")
			if err != nil || string(r.Data) != c.result {
				t.Errorf("got %s, %v, want %s", r.Data, err, c.result)
			}
			if r.Message == "" {
				t.Error("no line for people")
			}
		})
	}
}

func TestOperationsOfFileNeedTheirScope(t *testing.T) {
	b := newBench(t)
	for op, scope := range map[string]protocol.Scope{
		`"op":"read"`: protocol.ScopeFilesRead, `"op":"list"`: protocol.ScopeFilesRead, `"op":"stat"`: protocol.ScopeFilesRead, `"op":"write"`: protocol.ScopeFilesWrite, `"op":"edit"`: protocol.ScopeFilesWrite,
		`"op":"multi_edit"`: protocol.ScopeFilesWrite, `"op":"delete"`: protocol.ScopeFilesWrite, `"op":"mkdir"`: protocol.ScopeFilesWrite, `"op":"fetch_url"`: protocol.ScopeFilesWrite,
		`"file_id":"f"`: protocol.ScopeFilesRead, `"file_id":"f","chunk":""`: protocol.ScopeFilesWrite, `"file_id":"f","chunk_b64":""`: protocol.ScopeFilesWrite, `"file_id":"f","done":true`: protocol.ScopeFilesWrite,
		`"op":"batch","ops":[{"op":"stat"}]`: protocol.ScopeFilesRead, `"op":"batch","ops":[{"op":"fetch_url"}]`: protocol.ScopeFilesWrite,
	} {
		for _, has := range []protocol.Scope{protocol.ScopeFilesRead, protocol.ScopeFilesWrite} {
			err := b.Check(app("a", has), Request{Tool: "file", Args: json.RawMessage(`{` + op + `}`)})
			if (err == nil) != (has == scope) {
				t.Errorf("%s with %s: %v, want success %v", op, has, err, has == scope)
			}
		}
	}
}

func TestFailuresHaveTheirStatusAndAreRetryable(t *testing.T) {
	for _, c := range []struct {
		code      protocol.FaultCode
		status    int
		retryable bool
	}{
		{protocol.FaultUnauthorized, 401, false},
		{protocol.FaultForbidden, 403, false},
		{protocol.FaultPermissionDenied, 403, false},
		{protocol.FaultNotFound, 404, false},
		{protocol.FaultInvalidArgs, 400, false},
		{protocol.FaultTargetNotFound, 404, false},
		{protocol.FaultTargetUnreachable, 503, true},
		{protocol.FaultAlreadyExists, 409, false},
		{protocol.FaultTooLarge, 413, false},
		{protocol.FaultTimeout, 504, true},
		{protocol.FaultCanceled, 499, false},
		{protocol.FaultRateLimited, 429, true},
		{protocol.FaultResourceExhausted, 429, true},
		{protocol.FaultUnsupported, 501, false},
		{protocol.FaultMethodNotAllowed, 405, false},
		{protocol.FaultFailedPrecondition, 412, false},
		{protocol.FaultInternal, 500, true},
		{protocol.FaultApprovalRequired, 409, true},
	} {
		raw, err := json.Marshal(protocol.NewFault(c.code, "x"))
		if want := fmt.Sprintf(`{"code":%q,"message":"x","retryable":%v}`, c.code, c.retryable); err != nil || string(raw) != want || HTTPStatus(c.code) != c.status {
			t.Errorf("got %s with status %d, want %s with %d", raw, HTTPStatus(c.code), want, c.status)
		}
	}
}

func TestLimitsAreThoseOfTheDocumentation(t *testing.T) {
	data, err := os.ReadFile("../../docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(string(data)), " ")
	c := config.Default().API
	for _, want := range []string{
		fmt.Sprintf("(`api.waitMs`, %d seconds)", c.WaitMs/1000),
		fmt.Sprintf("kept for %.0f minutes after your answer", job.OutcomeTime.Minutes()),
		fmt.Sprintf("At most %d streams of an app run at the same time", c.Streams),
		fmt.Sprintf("`batch` runs up to %d one after the other", maxBatch),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("docs/api.md does not say: %s", want)
		}
	}
	if none := (config.RateLimit{}); c.Limits.App != none || c.Limits.Machine != none || c.Limits.Tool != none {
		t.Errorf("got limits %+v, want none by default", c.Limits)
	}
}

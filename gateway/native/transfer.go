package native

import (
	"context"
	"encoding/json"
	"path"
	"strings"

	"fairlead/gateway/peer/toolkit"
	"fairlead/gateway/protocol"
	"fairlead/gateway/tool"
)

// TransferIn are the arguments of gsv__Transfer. The fields after Destination are extensions.
type TransferIn struct {
	Source      string   `json:"source" jsonschema:"source file: machine:/path/to/file, or gsv:path for a file of your own workspace; a folder is copied with everything in it"`
	Destination string   `json:"destination" jsonschema:"destination, written the same way"`
	Sources     []string `json:"sources,omitempty" jsonschema:"several sources, all on one machine, instead of source; destination is then the folder to copy them into"`
	Into        bool     `json:"into,omitempty" jsonschema:"destination is a folder, and the source keeps its name in it"`
	Conflict    string   `json:"conflict,omitempty" jsonschema:"what to do with a file that already exists: overwrite (the person can restore the old file for 30 days), rename (the new file gets a number) or skip; default overwrite"`
	Links       string   `json:"links,omitempty" jsonschema:"what to do with symbolic links in a folder: keep, follow or skip; default keep"`
	Later       bool     `json:"later,omitempty" jsonschema:"when a machine is not connected, wait for it instead of failing"`
	ExpiresIn   int64    `json:"expiresInMs,omitempty" jsonschema:"how many milliseconds to wait for a machine; default seven days"`
	Wait        *bool    `json:"wait,omitempty" jsonschema:"false returns as soon as the transfer is in the queue; default true, which waits until the files have arrived"`
}

// TransferOut is the result of gsv__Transfer: the transfer's end, or its start if Wait is false.
// The fields after Mime are extensions.
type TransferOut struct {
	Source           string              `json:"source"`
	Destination      string              `json:"destination"` // with the written name, if the file was renamed
	BytesTransferred int64               `json:"bytesTransferred"`
	Mime             string              `json:"mime,omitempty"`
	Path             string              `json:"path,omitempty"`    // the present path of the first file or folder
	Skipped          int                 `json:"skipped,omitempty"` // files that were left as they were, or existed already
	TransferID       protocol.TransferID `json:"transferId,omitempty"`
	State            string              `json:"state,omitempty"`
}

// Files returns the files and folders that a transfer reads and writes; nothing for invalid
// arguments, which the tool refuses. Otherwise a transfer would be a way around the rules about
// files.
func (in TransferIn) Files() (list []tool.FileAccess) {
	into := in.Into || len(in.Sources) > 1 || strings.HasSuffix(in.Destination, "/")
	sources := in.Sources
	if len(sources) == 0 {
		sources = []string{in.Source}
	}
	to, err := protocol.ParseEndpoint(in.Destination, true)
	if err != nil {
		return nil
	}
	for _, source := range sources {
		from, err := protocol.ParseEndpoint(source, true)
		if err != nil {
			return nil
		}
		at := to
		if into {
			at.Path = path.Join(to.Path, path.Base(strings.ReplaceAll(from.Path, `\`, "/")))
		}
		list = append(list, access(from, "Read", protocol.EffectRead), access(at, "Write", protocol.EffectWrite))
	}
	return list
}

func access(at protocol.Endpoint, name string, effect protocol.Effect) tool.FileAccess {
	if at.Node == protocol.NativePrefix {
		name += "File"
	}
	return tool.FileAccess{Endpoint: at, Tool: name, Effect: effect, IsWhole: true}
}

func (t tools) transferTool() tool.Own {
	own := tool.Own{Tool: toolkit.Define("Transfer", "Transfer a file: copy it between machines, or between a machine and your own workspace. Returns when the file has arrived.",
		toolkit.Traits{Effect: protocol.EffectWrite}, t.transfer)}
	// A large file takes long, and a transfer without progress is stopped by its queue.
	own.Spec.OwnTime = true
	own.Files = func(args json.RawMessage) []tool.FileAccess {
		var in TransferIn
		if json.Unmarshal(args, &in) != nil {
			return nil
		}
		return in.Files()
	}
	return own
}

func (t tools) transfer(ctx context.Context, call tool.Call, in TransferIn) (TransferOut, error) {
	if t.Services.Transfer == nil {
		return TransferOut{}, protocol.ErrUnavailable.With("Transfers are not available. Read the file on one machine and write it on the other.")
	}
	return t.Services.Transfer(ctx, call, in)
}
